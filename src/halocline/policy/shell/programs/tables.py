"""The tables of programs that only read, `readers.txt` here and in `git`, and what else is known of such programs.

A section begins with the names of programs. Each of its lines sets a field of their `Spec`; an indented one continues
the line before. `is` names fields that are true or, with a minus, false. In place of `extra`, a section names a
check in `check`, has the pattern that all operands fit in `fits`, the flags of which one is needed in `needs`, or the
allowed first operands in `begins` (with `?`, there may be none); `fault` says what is wrong otherwise. The words of a
section `[@name]` are included where others say `@name`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from halocline.policy.shell.programs.embedded_scripts import check_awk, check_jq, check_sed
from halocline.policy.shell.programs.exclusions import FOR_DIFF, FOR_GREP, FOR_RIPGREP
from halocline.policy.shell.programs.specs import Given, Role, Spec, needs_flag, needs_words
from halocline.policy.word_tables import read_lines, read_pairs
from halocline.protocol.patterns import compile_later

_ADDED = {"@diff": FOR_DIFF, "@grep": FOR_GREP, "@ripgrep": FOR_RIPGREP}
Checks = Mapping[str, Callable[[Given], str]]


def read_table(path: Path, checks: Checks, start: Spec) -> dict[str, Spec]:
    """Return the specs of a table by the programs' names. `start` has the fields that no line sets."""
    found: dict[str, Spec] = {}
    shared: dict[str, str] = {}
    for section in path.read_text(encoding="utf-8").split("\n[")[1:]:
        names, _, body = section.partition("]")
        lines = body.replace("\n  ", " ").split("\n")[1:]
        entries = dict(line.split(" ", 1) for line in lines if line and line[0] != "#")
        for key in ("words", "recursive", "brief", "listing"):
            if "@" in entries.get(key, ""):
                entries[key] = " ".join(shared.get(word, word) for word in entries[key].split())
        if names[0] == "@":
            shared[names] = entries["words"]
        else:
            found |= dict.fromkeys(names.split(", "), _build_spec(entries, checks, start))
    return found


_READ: dict[str, Callable[[str], Any]] = {
    "operands": lambda value: tuple(map(Role, value.split())),
    "most": int,
    "least": int,
    "renamed": lambda value: tuple(tuple(pair.split("=")) for pair in value.split()),
    "added": lambda value: _ADDED.get(value) or tuple(value.split()),
    "program": {"awk": check_awk, "jq": check_jq, "sed": check_sed}.__getitem__,
}


def _build_spec(entries: Mapping[str, str], checks: Checks, start: Spec) -> Spec:
    given = {"fault": "", "is": "", **entries}
    fault = given.pop("fault")
    fields: dict[str, Any] = {one.lstrip("-"): one[0] != "-" for one in given.pop("is").split()}
    makes: dict[str, Callable[[str], Any]] = {"check": checks.__getitem__, "begins": _begins_with}
    makes |= {"fits": lambda value: needs_words(value, fault), "needs": lambda value: needs_flag(value, fault)}
    for key, value in given.items():
        fields["extra" if key in makes else key] = (makes.get(key) or _READ.get(key, str))(value)
    return replace(start, **fields)


def _begins_with(words: str) -> Callable[[Given], str]:
    """Return a check that the first operand is one of these words, if there is one or none of them is `?`."""
    allowed = words.split()
    more = "it would do more than read"
    return lambda given: "" if next((word.text for word in given.operands), "?") in allowed else more


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
