"""Read the tests of `find`: they may exclude every Git history from what it finds."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from halocline.policy.shell.values.ground import HISTORY

_TESTS_NAME = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"})
_OF_A_HISTORY = (*HISTORY, ".git", "main", "pack-0.pack", "0123456789abcdef", "./.git/HEAD", "./.git/objects/01/ab")


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
    return bool(starts) and (
        plain == ".git" or all(fnmatchcase(f"{start.rstrip('/')}/.git", plain) for start in starts)
    )


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
