"""Git commands that only read, as `readers.txt` tells them.

A repository's configuration may name programs to run. What the environment can switch off is switched off; for the rest
Git is asked (`ShellFacts.git_doubt`), and if there is a doubt, every git command asks.
"""

from collections.abc import Callable
from pathlib import Path

from halocline.policy.shell.programs.specs import Given, Role, Spec
from halocline.policy.shell.programs.tables import read_table
from halocline.protocol.patterns import compile_later

OBJECT = compile_later(r"(.*-g)?[0-9a-fA-F]{4,64}(\^\{(blob|object)?\})?")
"""The name of an object, which may be of any kind."""


def _only_lists(given: Given) -> str:
    """Accept operands of `branch` and `tag` only with a listing flag; otherwise they create new ones."""
    if shown := _shows_raw(given):
        return shown
    listing = {"--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "-n"}
    return "it would create a branch or tag" if given.operands and not listing & set(given.names) else ""


def _shows_raw(given: Given) -> str:
    shows = any("%(raw" in flag for flag in given.flags)
    return "a ref may stand for a file, which %(raw) shows" if shows else ""


def _reads_config(given: Given) -> str:
    if {"--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch"} & set(given.names):
        return ""
    return "" if len(given.operands) == 1 and "." in given.operands[0].text else "it would change a setting"


def _cat_file(given: Given) -> str:
    if {"-t", "-s", "-e"} & set(given.names):
        return ""
    plain = [word.text for word in given.operands if ":" not in word.text]
    if any(OBJECT.fullmatch(text) for text in plain) or (len(given.operands) > 1 and plain[1:]):
        return "that object may be a file with secrets; name it as REVISION:PATH"
    return ""


_CHECKS: dict[str, Callable[[Given], str]] = {
    "cat_file": _cat_file,
    "one_ref": lambda given: "" if len(given.operands) == 1 else "it would change the ref",
    "only_lists": _only_lists,
    "reads_config": _reads_config,
    "shows_raw": _shows_raw,
}
_START = Spec(operands=(Role.NAMED,), ordered=True, numbers=True)
LOOKS = read_table(Path(__file__).with_name("readers.txt"), _CHECKS, _START)
