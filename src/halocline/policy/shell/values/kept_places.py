"""Protected places, Halocline's own files and Git histories, and the texts that may lead there.

Names that appear while a command runs are texts like the values of variables: a NUL stands for an unknown part.
"""

import glob
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from halocline.files.real_paths import find_real_path
from halocline.policy.commands import UNTOUCHED
from halocline.policy.paths import LONGEST_PATH, is_within
from halocline.policy.shell.values.ground import HISTORY, MOST_ABSENT, Found, Ground
from halocline.policy.shell.values.variables import UNKNOWN
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Place

BENEATH = f"**{UNKNOWN}"
"""After a folder: any name below it."""
INSIDE = f"found{UNKNOWN}"
"""Names that lead to no protected place."""
_TESTS_NAME = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"})
_OF_A_HISTORY = (*HISTORY, ".git", "main", "pack-0.pack", "0123456789abcdef", "./.git/HEAD", "./.git/objects/01/ab")
_BETWEEN_NAMES = compile_later(r"[\s'\"`;&|<>(){},=:+]+")
_HOME = compile_later(r"\$(HOME\b|\{HOME\})")
_OWN_HOME = compile_later(r"\$\{?HALOCLINE_HOME")
_FILTERS_BY = compile_later(
    r"-i?(name|path)|-wholename|-i?regex|--exclude(-dir)?|--glob|--ignore|--invert-match|-\w*[vgEIx]"
)
"""Flags before what a search excludes or looks for."""


def has_unknown(text: str) -> bool:
    """Return True if a text, or a part of it, may be anything, not just a name inside the project."""
    return UNKNOWN in text and BENEATH not in text and not text.startswith(INSIDE)


def leads_to_kept(text: str, ground: Ground) -> bool:
    """Return True if a text may name a protected place, as far as it is known.

    Where the folder is unknown, any `.git` counts.
    """
    if not ground.folders and is_history(text):
        return True
    folder, beneath, _ = text.partition(BENEATH)
    if beneath:
        found = places_of(folder or ".", ground)
        return any(holds_kept(one.path, ground) for one in found) or not (found or os.path.isabs(folder))
    paths = (one.path for one in places_of(_without_beginning(text), ground))  # a Git history is lost with its place
    return leads_to_untouched(text, ground) or any(map(is_history, (*paths, *_matching_files(text, ground))))


def _without_beginning(text: str) -> str:
    """Return a path with an unknown beginning as if that were empty."""
    rest = text.lstrip(UNKNOWN)
    return rest if rest.startswith("/") else text


def leads_to_untouched(text: str, ground: Ground, *, below: bool = False) -> bool:
    """Return True if a text names what no command may touch; with `below`, also if a name below it may."""
    folder, beneath, _ = text.partition(BENEATH)
    if below and beneath:
        found = places_of(folder or ".", ground)
        return any(ground.holds_own_state(one.path) or one.place is Place.OWN_STATE for one in found)
    found = places_of(_without_beginning(text), ground)
    return any(one.place in UNTOUCHED for one in found) or _may_be_untouched(text, ground)


def _may_be_untouched(text: str, ground: Ground) -> bool:
    """Return True if a partly known path may lead to what no command may touch."""
    folder = text.partition(UNKNOWN)[0].rpartition("/")[0] if has_unknown(text) else ""
    if any(one.place in UNTOUCHED for one in places_of(folder, ground)):
        return True
    found = (one for path in _matching_files(text, ground) for one in places_of(path, ground))
    return any(one.place is Place.OWN_STATE for one in found)


def _matching_files(text: str, ground: Ground) -> list[str]:
    """Return the existing files that a partly known path may name; none if nothing usable of it is known."""
    if not has_unknown(text) or not text.replace(UNKNOWN, "").strip("/~") or "\n" in text:
        return []
    pattern = os.path.expanduser("*".join(map(glob.escape, text.split(UNKNOWN))))
    return [path for folder in ground.folders for path in ground.facts.matches(pattern, folder) or ()]


def leads_to_precious(text: str, ground: Ground) -> bool:
    """Return True if a text names a folder that must not be deleted. From an unknown folder, any way upward may."""
    if not ground.folders and set(text.rstrip("/").split("/")) <= {".", ".."}:
        return True
    return any(ground.is_precious(one.path) for one in places_of(text, ground))


def is_history(path: str) -> bool:
    """Return True if losing a path, which may end in a pattern, destroys a repository."""
    folder, name = os.path.split(path)
    in_git = _may_be_git(os.path.basename(folder))
    return _may_be_git(name) or (in_git and any(fnmatchcase(part, name) for part in HISTORY))


def _may_be_git(pattern: str) -> bool:
    """Return True if a pattern may match `.git`. Only a dot matches the leading dot, as in bash."""
    return pattern.startswith(".") and fnmatchcase(".git", pattern)


def kept_names_in(text: str, ground: Ground) -> tuple[str, ...]:
    """Return the names anywhere in a command's text that lead to protected places.

    A program that deletes what is known only when it runs may get one of them. Patterns by which a search excludes
    names do not count.
    """
    words = ("", *_BETWEEN_NAMES.split(_HOME.sub("~", text).replace("\\", "")))
    pairs = dict.fromkeys(pairwise(words))  # each once, as a long text has most of its words many times
    names = dict.fromkeys(name for before, name in pairs if name and not _FILTERS_BY.fullmatch(before))
    there = names if len(names) <= MOST_ABSENT else {one for one in names if ground.may_begin(one) or is_history(one)}
    return tuple(one for one in names if _OWN_HOME.search(one) or (one in there and leads_to_kept(one, ground)))


def may_end_in_history(pattern: str) -> bool:
    """Return True if a path or pattern may name a part of a Git history, relative to an unknown folder."""
    name = pattern.rpartition("/")[2]
    return any(fnmatchcase(part, name) for part in (".git", *HISTORY))


def holds_kept(path: str, ground: Ground) -> bool:
    """Return True if something below a path is protected."""
    if ground.holds_own_state(path) or is_within(path, find_real_path(ground.home)) or is_history(path):
        return True
    head, git, _ = path.partition("/.git/")
    if git and any(is_within(path, f"{head}{git}{name}") for name in HISTORY):
        return True
    below = (*(root for root in ground.real_roots if is_within(root, path)), path)
    return any(ground.facts.matches(pattern, one) for one in below for pattern in (".git", "*/.git"))


def is_narrowed(texts: Sequence[str], starts: Sequence[str] = (".",)) -> bool:
    """Return True if tests of `find` exclude every Git history. Without `starts` it starts inside one."""
    choices = [list[tuple[str, str, str]]()]
    for before, test, value in zip(("", *texts), texts, (*texts[1:], ""), strict=False):
        if test in ("-o", "-or", ","):
            choices.append([])
        else:
            choices[-1].append((before, test, value))
    pruned = [one for one in choices if any(test == "-prune" for _, test, _ in one)]
    if any(_names_history(value, starts) for tests in pruned for _, test, value in tests if test in _TESTS_NAME):
        return True
    return all(_leaves_out(one, starts) for one in choices if one not in pruned)


def _names_history(pattern: str, starts: Sequence[str]) -> bool:
    """Return True if a pattern matches every `.git`, or everything in it."""
    plain = pattern.replace("\\", "")
    return bool(starts) and (plain == ".git" or all(fnmatchcase(f"{one.rstrip('/')}/.git", plain) for one in starts))


def _leaves_out(tests: Sequence[tuple[str, str, str]], starts: Sequence[str]) -> bool:
    """Return True if one of several tests, all of which must hold, excludes a Git history."""
    if {("-maxdepth", "1"), ("-type", "f")} <= {(test, value) for _, test, value in tests} and starts:
        return True
    for before, test, value in tests:
        plain = value.replace("\\", "")
        if test in _TESTS_NAME and before in ("!", "-not"):
            if starts and all(fnmatchcase(f"{start.rstrip('/')}/.git/HEAD", plain) for start in starts):
                return True
        elif test in _TESTS_NAME and not any(fnmatchcase(one.lower(), plain.lower()) for one in _OF_A_HISTORY):
            return True
    return False


def places_of(text: str, ground: Ground) -> list[Found]:
    """Return where a text leads; nothing if it is not fully known."""
    return ground.places(text) if text and len(text) <= LONGEST_PATH else []
