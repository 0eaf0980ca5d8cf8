"""Find Halocline's own program in a model's command: commands that steer Halocline are denied in every mode.

This only reports it before anything runs; the command line itself refuses whatever a task started, however it is
spelled. A program of the workspace that happens to have our name is left alone unless its words are ours.
"""

import shlex
from itertools import takewhile

from halocline.policy.shell.findings import Finding, Rule, unknown_finding
from halocline.policy.shell.syntax.tree import Simple
from halocline.policy.word_tables import read_words
from halocline.protocol.own_program import NAMES, REFUSED, STEERING, is_steering
from halocline.protocol.patterns import compile_later

_PYTHON = compile_later(r"(?:python|pypy)[\d.]*")
_MODULE_FLAG = compile_later(r"-[A-Za-ln-z]*m.*")
_MODULES = frozenset({"halocline", "halocline.__main__"})
_WORDS = read_words(__file__)
RUNNERS = frozenset(_WORDS["runners"])
"""Programs that find another one by its name, among their words."""
_RUN = frozenset({"run", "exec", "x"})
_NAME_A_PACKAGE = (["--from"], ["--with"], ["--spec"], ["-p"])
LAUNCHERS = frozenset(_WORDS["launchers"])
"""Programs that run their words, or one of them as text, perhaps detached from the task."""


def judge_steering(simple: Simple) -> Finding | None:
    """Return the denial of a command that steers Halocline; None for any other."""
    steers = _is_steering([word.value or "" for word in simple.words])
    return unknown_finding(simple.source, REFUSED, Rule.OWN_STATE) if steers else None


def _is_steering(words: list[str]) -> bool:
    if not words:
        return False
    _, slash, base = words[0].rpartition("/")
    rest = words[1:]
    if base in NAMES:
        is_ours = not slash or (rest[:1] and rest[0] in STEERING)  # a file with our name may be any program
        return bool(is_ours) and is_steering(rest)
    if _PYTHON.fullmatch(base):
        return _python_steers(rest)
    if base in LAUNCHERS:
        return _started_within(rest) or any(_is_steering(_split_text(word)) for word in rest if " " in word)
    return base in RUNNERS and (base == "uvx" or not _RUN.isdisjoint(rest)) and _started_within(rest)


def _started_within(rest: list[str]) -> bool:
    bases = enumerate(word.rpartition("/")[2] for word in rest)
    ours = (at for at, base in bases if base in NAMES or _PYTHON.fullmatch(base))
    return any(rest[at - 1 : at] not in _NAME_A_PACKAGE and _is_steering(rest[at:]) for at in ours)


def _python_steers(rest: list[str]) -> bool:
    """Return True if Python steers Halocline, by `-m` and our package or by a file with our name."""
    flags = [*takewhile(lambda word: word.startswith("-"), rest)]
    by_module = next((at for at, flag in enumerate(flags) if _MODULE_FLAG.fullmatch(flag)), None)
    if by_module is None:
        file, arguments = "".join(rest[len(flags) : len(flags) + 1]), rest[len(flags) + 1 :]
        is_ours = file.rpartition("/")[2] in NAMES or file.endswith("halocline/__main__.py")
        return is_ours and is_steering(arguments)
    glued = flags[by_module].partition("m")[2]
    words = [*([glued] if glued else []), *rest[by_module + 1 :]]
    return bool(words) and words[0] in _MODULES and is_steering(words[1:])


def _split_text(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
