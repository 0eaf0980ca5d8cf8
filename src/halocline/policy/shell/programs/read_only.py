"""Programs that only read, as `readers.txt` tells them, and those that only print their version."""

from pathlib import Path

from halocline.policy.shell.programs.specs import Given, Spec
from halocline.policy.shell.programs.tables import read_table
from halocline.protocol.patterns import compile_later

_SETS = compile_later(r"%[-+ #0-9.*hlqjzt]*n")


def _check_printf(given: Given) -> str:
    return "it may set a variable" if _SETS.search(given.operands[0].text) else ""


def _check_pgrep(given: Given) -> str:
    return "it may show the arguments of other processes" if {"-l", "-f"} <= set(given.names) else ""


def _check_tar(given: Given) -> str:
    if any(":" in path.text for path in given.paths):
        return "the archive may be on another machine"
    return "" if {"-t", "--list"} & set(given.names) else "it does more than list the archive"


_CHECKS = {"printf": _check_printf, "pgrep": _check_pgrep, "tar": _check_tar}
READERS = read_table(Path(__file__).with_name("readers.txt"), _CHECKS, Spec())
SHOWS_PROCESSES = frozenset({"ps", "pgrep", "pstree", "top", "htop", "btop", "atop", "glances", "w", "lsof", "procs"})
"""Programs that may show the arguments of other processes, which may hold secrets."""
SUBCOMMANDS = frozenset({"pip", "pip3", "npm", "go"})
"""Programs whose second word is part of their name."""
_BY_WORDS = {
    "--version -V": "python python3 deno cargo rustc rustup pip pip3 uv poetry grep ruff mypy rg fd jq curl wget psql",
    "--version -v": "node npm bun ruby php perl make docker nvim",
    "version": "go",
    "--version -version": "java javac sqlite3",
    "--version": "gcc g++ clang cmake ninja sort sed ls bash vim tree gh",
    "--version version": "git",
    "-V": "tmux",
    "-version": "ffmpeg",
}
PRINTS_VERSION = {name: words.split() for words, names in _BY_WORDS.items() for name in names.split()}
"""Programs that do not download themselves first, with the words that alone make them print their version."""
