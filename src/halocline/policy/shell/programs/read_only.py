"""Programs that only read, as `readers.txt` tells them, and those that only print their version."""

from collections.abc import Callable
from pathlib import Path

from halocline.policy.shell.programs.specs import Given, Spec
from halocline.policy.shell.programs.tables import read_table
from halocline.policy.word_tables import read_lines, read_pairs
from halocline.protocol.patterns import compile_later

_SETS = compile_later(r"%[-+ #0-9.*hlqjzt]*n")


def _check_tar(given: Given) -> str:
    if any(":" in path.text for path in given.paths):
        return "the archive may be on another machine"
    return "" if {"-t", "--list"} & set(given.names) else "it does more than list the archive"


_CHECKS: dict[str, Callable[[Given], str]] = {
    "printf": lambda given: "it may set a variable" if _SETS.search(given.operands[0].text) else "",
    "pgrep": lambda given: "it may show arguments of other processes" if {"-l", "-f"} <= set(given.names) else "",
    "tar": _check_tar,
}
READERS = read_table(Path(__file__).with_name("readers.txt"), _CHECKS, Spec())
SHOWS_PROCESSES = frozenset({"ps", "pgrep", "pstree", "top", "htop", "btop", "atop", "glances", "w", "lsof", "procs"})
"""Programs that may show the arguments of other processes, which may hold secrets."""
SUBCOMMANDS = frozenset({"pip", "pip3", "npm", "go"})
"""Programs whose second word is part of their name."""
PRINTS_VERSION = {name: words.split() for name, words in read_pairs(read_lines(__file__)["versions"]).items()}
"""Programs that do not download themselves first, with the words that alone make them print their version."""
