"""Leave hidden names out of what a command reads or lists, in the syntax of its program.

Hidden is what an ignore file hides or a deny or ask rule with paths guards. Programs that read folders get the names
that exist there; git, which shows what existed once too, gets the patterns.
"""

import os
from collections.abc import Iterable, Sequence
from glob import escape
from shlex import quote

from halocline.policy.paths import is_within
from halocline.policy.shell.programs.specs import Given, Unlisted
from halocline.policy.shell.values.ground import Found, Ground

MOST_HIDDEN = 300
_BY_NAME = {"ls": "--ignore=", "tree": "-I ", "du": "--exclude=", "fd": "--exclude=", "fdfind": "--exclude="}
_BY_NAME |= {"grep": "--exclude=", "egrep": "--exclude=", "fgrep": "--exclude=", "diff": "--exclude="}
"""Flags that leave out every file of a name, wherever it is."""
_FOLDERS_TOO = frozenset({"grep", "egrep", "fgrep"})
LEAVES_OUT = frozenset({*_BY_NAME, "rg", "find"})
"""Programs that can leave out names."""
_IN_FRONT = frozenset({"-H", "-P", "-E"})
UNSURE = "a file that an ignore file hides or a rule guards cannot be told from others there; name the files"


def build_exclusion_flags(name: str, given: Given, found: Sequence[Found], ground: Ground) -> tuple[str, ...]:
    """Return the flags that leave out hidden names below these folders; Raises Unlisted if none do exactly that."""
    deep = name != "ls" or bool({"-R", "--recursive"} & set(given.names))
    hidden, shown = _find_hidden([one.path for one in found], ground, deep=deep)
    if not hidden:
        return ()
    if name not in LEAVES_OUT or len(hidden) > MOST_HIDDEN:
        raise Unlisted(UNSURE)
    if name == "rg":  # its globs start from the folder where it runs
        if len(ground.folders) != 1 or not all(is_within(path, ground.folders[0]) for path in hidden):
            raise Unlisted(UNSURE)
        return tuple(quote(f"--iglob=!/{escape(os.path.relpath(path, ground.folders[0]))}") for path in hidden)
    names = dict.fromkeys(os.path.basename(path) for path in hidden)
    if not shown.isdisjoint(names):
        raise Unlisted(UNSURE)
    if name == "tree":
        return ("-I", quote("|".join(map(escape, names))))
    folders = tuple(f"--exclude-dir={escape(one)}" for one in names) if name in _FOLDERS_TOO else ()
    return tuple(quote(one) for one in (*(f"{_BY_NAME[name]}{escape(one)}" for one in names), *folders))


def render_find(given: Given, operands: Sequence[str], ground: Ground) -> str:
    """Return a `find` command that lists nothing hidden. Raises Unlisted."""
    at = next((i for i, part in enumerate(given.order) if isinstance(part, str) and part not in _IN_FRONT), None)
    front, rest = (given.order, []) if at is None else (given.order[:at], given.order[at:])
    starts = [given.operands[part].text for part in front if isinstance(part, int)] or ["."]
    words = [part if isinstance(part, str) else operands[part] for part in front]
    tests: list[str] = []
    places = [(start, place) for start in starts for place in ground.find(start, quoted=True)]
    for start, place in places:
        hidden, _ = _find_hidden([place.path], ground, deep=True)
        if len(hidden) > MOST_HIDDEN:
            raise Unlisted(UNSURE)
        names = [f"{escape(start.rstrip('/'))}/{escape(os.path.relpath(path, place.path))}" for path in hidden]
        tests += [f"! -path {quote(name)} ! -path {quote(f'{name}/*')}" for name in names]
    condition = ["'('", *(part if isinstance(part, str) else operands[part] for part in rest), "')'"] if rest else []
    return " ".join(("find", *words, *tests, *condition) if tests else ("find", *words, *condition[1:-1]))


def build_pathspecs(ground: Ground) -> tuple[str, ...]:
    """Return the pathspecs with which git leaves out what is hidden in any version. Raises Unlisted."""
    found: list[str] = []
    for root, line in ground.hidden_lines:
        pattern = line.strip().removeprefix("\\")
        if not pattern or line.startswith(("#", "!")):
            continue
        body = pattern.strip("/")
        anchored = "/" in pattern.rstrip("/")
        place = escape(_place_in_repository(root, ground)) if anchored else "**/"
        found += [f":(top,exclude,icase,glob){place}{body}{end}" for end in ("", "/**")]
    top = _find_top(ground.folders[0], ground) if ground.folders else ""
    inside = [root for root in ground.real_roots if top and is_within(root, top)] if ground.hides else []
    hidden, _ = _find_hidden(inside, ground, deep=True)  # by another name, too: a hard link
    found += [f":(top,exclude,literal){os.path.relpath(path, top)}" for path in hidden]
    if len(found) > MOST_HIDDEN:
        raise Unlisted(UNSURE)
    return tuple(map(quote, dict.fromkeys(found)))


def _place_in_repository(root: str, ground: Ground) -> str:
    """Return where a folder is in the repository of git, with a slash. Raises Unlisted if it is not in it."""
    tops = {_find_top(folder, ground) for folder in ground.folders}
    top = next(iter(tops)) if len(tops) == 1 else ""
    if not top or not is_within(root, top):
        raise Unlisted(UNSURE)
    inside = os.path.relpath(root, top)
    return "" if inside == "." else f"{inside}/"


def _find_top(folder: str, ground: Ground) -> str:
    while not ground.facts.matches(".git", folder):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return ""
    return folder


def _find_hidden(folders: Iterable[str], ground: Ground, *, deep: bool) -> tuple[list[str], frozenset[str]]:
    """Return the hidden paths below folders, and the names of the others. Raises Unlisted if there are too many."""
    hidden: dict[str, None] = {}
    shown: frozenset[str] = frozenset()
    for folder in dict.fromkeys(folders):
        below = ground.hidden_below(folder, deep=deep)
        if below is None:
            raise Unlisted("there are too many files to tell which of them an ignore file hides or a rule guards")
        hidden |= dict.fromkeys(below[0])
        shown |= below[1]
    return list(hidden), shown
