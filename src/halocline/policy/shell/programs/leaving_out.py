"""Leave hidden names out of what a command reads or lists, in the syntax of its program; `git.pathspecs` for git.

Hidden is what an ignore file hides or a deny or ask rule with paths guards. What a rule only asks about is not read
unasked, but may be named: programs that show `names` only leave out the rest.
"""

import os
from collections.abc import Iterable, Sequence
from glob import escape
from shlex import quote

from halocline.policy.paths import is_within
from halocline.policy.shell.programs.specs import Given, Unlisted
from halocline.policy.shell.values.ground import Found, Ground
from halocline.protocol.left_out import name_some

MOST_HIDDEN = 300
_BY_NAME = {"ls": "--ignore=", "tree": "-I ", "du": "--exclude=", "fd": "--exclude=", "fdfind": "--exclude="}
_BY_NAME |= {"grep": "--exclude=", "egrep": "--exclude=", "fgrep": "--exclude=", "diff": "--exclude="}
"""Flags that leave out every file of a name, wherever it is."""
_FOLDERS_TOO = frozenset({"grep", "egrep", "fgrep"})
LEAVES_OUT = frozenset({*_BY_NAME, "rg", "find"})
"""Programs that can leave out names."""
_IN_FRONT = frozenset({"-H", "-P", "-E"})
UNSURE = "a file that an ignore file hides or a rule guards cannot be told from others there; name the files"


def build_exclusion_flags(
    name: str, given: Given, found: Sequence[Found], ground: Ground, *, names: bool
) -> tuple[str, ...]:
    """Return the flags that leave out what is hidden below these folders; Raises Unlisted if none do exactly that."""
    anywhere = any(one.checked for one in given.operands)
    deep = name != "ls" or anywhere or bool({"-R", "--recursive"} & set(given.names))
    folders = ground.real_roots[:1] if anywhere else [one.path for one in found]
    hidden, shown = find_hidden(folders, ground, deep=deep, names=names)
    if not hidden:
        return ()
    if name not in LEAVES_OUT or len(hidden) > MOST_HIDDEN:
        raise Unlisted(UNSURE)
    if name == "rg":  # its globs start from the folder where it runs
        if len(ground.folders) != 1 or not all(is_within(path, ground.folders[0]) for path in hidden):
            raise Unlisted(UNSURE)
        return tuple(quote(f"--iglob=!/{escape(os.path.relpath(path, ground.folders[0]))}") for path in hidden)
    last = dict.fromkeys(os.path.basename(path) for path in hidden)
    if not shown.isdisjoint(last):
        raise Unlisted(UNSURE)
    if name == "tree":
        return ("-I", quote("|".join(map(escape, last))))
    flags = (_BY_NAME[name], *(("--exclude-dir=",) if name in _FOLDERS_TOO else ()))
    return tuple(quote(f"{flag}{escape(one)}") for flag in flags for one in last)


def render_find(given: Given, operands: Sequence[str], ground: Ground) -> str:
    """Return a `find` command that lists nothing hidden. Raises Unlisted."""
    at = next((i for i, part in enumerate(given.order) if isinstance(part, str) and part not in _IN_FRONT), None)
    front, rest = (given.order, []) if at is None else (given.order[:at], given.order[at:])
    anywhere = any(one.checked for one in given.operands)
    named = [given.operands[part].text for part in front if isinstance(part, int)]
    words, tests = [part if isinstance(part, str) else operands[part] for part in front], list[str]()
    starts = ground.real_roots[:1] if anywhere else named or ["."]
    for start, place in ((one, place) for one in starts for place in ground.find(one, quoted=True)):
        hidden, shown = find_hidden([place.path], ground, deep=True, names=True)
        if len(hidden) > MOST_HIDDEN or (anywhere and not shown.isdisjoint(map(os.path.basename, hidden))):
            raise Unlisted(UNSURE)
        begin = "*" if anywhere else escape(start.rstrip("/"))
        below = map(os.path.basename, hidden) if anywhere else (os.path.relpath(path, place.path) for path in hidden)
        names = [f"{begin}/{escape(path)}" for path in below]
        tests += [f"! -path {quote(name)} ! -path {quote(f'{name}/*')}" for name in names]
    condition = ["'('", *(part if isinstance(part, str) else operands[part] for part in rest), "')'"] if rest else []
    return " ".join(("find", *words, *tests, *condition) if tests else ("find", *words, *condition[1:-1]))


def find_hidden(folders: Iterable[str], ground: Ground, *, deep: bool, names: bool) -> tuple[list[str], frozenset[str]]:
    """Return the hidden paths below folders, and the names of the others. Raises Unlisted if there are too many."""
    hidden: dict[str, None] = {}
    shown: frozenset[str] = frozenset()
    for folder in dict.fromkeys(folders):
        below = ground.hidden_below(folder, deep=deep, names=names)
        if below is None:
            raise Unlisted("there are too many files to tell which of them an ignore file hides or a rule guards")
        hidden |= dict.fromkeys(below[0])
        shown |= below[1]
    ground.left_out.update(hidden)
    return list(hidden), shown


def say_left_out(ground: Ground) -> str:
    """Say what the forms of a command leave out: what may be named by its name; empty if nothing is."""
    named = [path for path in ground.left_out if path and ground.hides and not ground.hides.names(path, None)]
    shown = name_some([os.path.relpath(path, ground.workspace) for path in named])
    asked = f"{shown}, as a rule asks first where it is named" if named else ""
    hidden = "what an ignore file or a rule hides" if len(named) < len(ground.left_out) else ""
    return f"left out: {'; and '.join(filter(None, (asked, hidden)))}" if ground.left_out else ""
