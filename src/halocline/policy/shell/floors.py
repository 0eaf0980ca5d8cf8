"""Deletions that no mode may do, in forms that are no plain `rm`: by `find`, by `rsync`, by words not yet known."""

import re
from collections.abc import Sequence
from itertools import pairwise

from halocline.policy.shell.findings import Finding, Rule, part
from halocline.policy.shell.ground import Ground
from halocline.policy.shell.tree import Piece, Simple, Word
from halocline.protocol.rules import Effect, Place

_NARROWS = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-empty", "-newer", "-mtime", "-mmin"}
    | {"-size"}
)
"""Tests of `find` by which it finds some names and not others."""
_FILTERS = frozenset({"sort", "uniq", "head", "tail", "grep", "egrep", "fgrep", "sed", "awk", "tr", "cut", "tac", "nl"})
_LISTS_INSIDE = frozenset({"fd", "fdfind", "git", "rg", "grep", "egrep", "fgrep"})
"""Programs that name what they found below a folder, and never the folder itself."""
_DELETES = frozenset({"rm", "rmdir", "unlink", "shred", "mv", "truncate"})
_EXECUTES = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_UNTOUCHED = frozenset({Place.OWN_STATE, Place.IGNORED})


def passes_floor(simple: Simple, ground: Ground, finding: Finding) -> Finding | None:
    """The finding for a deletion that no mode allows, or that may turn out to be one; None for any other command."""
    if finding.rule in (Rule.FLOOR, Rule.OWN_STATE, Rule.IGNORED):
        return None
    name = (simple.words[0].value or "").rpartition("/")[2]
    emptied = _EMPTIES[name](simple) if name in _EMPTIES else []
    found = [one for word in emptied for one in ground.targets(word) if ground.is_precious(one.path)]
    if found:
        shown = tuple(one.shown for one in found[:3])
        return Finding(part(simple.source, Effect.DESTRUCTIVE, f"it deletes {found[0].path}", shown), Rule.FLOOR)
    deleted = _operands(simple) if name in _DELETES and _deletes_folders(simple) else emptied
    if any(ground.may_be_precious(word) for word in deleted):
        return _unsure(simple, finding, "what it deletes is known only when it runs")
    if simple.words[0].value is None and any(_is_kept(word, ground) for word in simple.words[1:]):
        return _unsure(simple, finding, "the program is known only when it runs, and is given what nobody may delete")
    if name in _DELETES and not ground.folders and any(not word.text.startswith("/") for word in _operands(simple)):
        return _unsure(simple, finding, "the folder that it deletes in is known only when it runs")
    return None


def fed_deletion(feeders: Sequence[Simple | None], fed: Simple, ground: Ground) -> Finding | None:
    """The finding for `… | xargs rm -r`, unless what feeds it lists names below what may be deleted.

    `feeders` are the commands of the pipeline in front of it, None for one that is not simple.
    """
    texts = [word.text for word in fed.words]
    if "xargs" not in texts[:2] or "rm" not in texts:
        return None
    behind = texts[texts.index("rm") + 1 :]
    deletes_folders = any(re.match(r"-\w*[rR]|--recursive$", text) for text in behind)
    first = next((one for one in reversed(feeders) if one is None or one.words[0].text not in _FILTERS), feeders[0])
    shows_own_state = first is not None and any(map(ground.holds_own_state, _places_listed(first, ground)))
    if not shows_own_state and (not deletes_folders or (first is not None and _lists_what_may_go(first, ground))):
        return None
    reason = "what it deletes is known only when it runs; write the path out"
    return Finding(part(fed.source, Effect.DESTRUCTIVE, reason, (fed.source,)), Rule.LEADS_ANYWHERE)


def _lists_what_may_go(simple: Simple, ground: Ground) -> bool:
    name, texts = simple.words[0].text, {word.text for word in simple.words}
    if name in _LISTS_INSIDE or (name == "find" and _NARROWS & texts):
        return True
    known = not any(word.dynamic for word in _operands(simple))
    places = _places_listed(simple, ground)
    return name in ("find", "ls", "echo", "printf") and known and not any(map(ground.is_precious, places))


def _places_listed(simple: Simple, ground: Ground) -> list[str]:
    """The paths below which a command finds what it names."""
    operands = _operands(simple) or ([Word(".", (Piece("."),))] if simple.words[0].text == "find" else [])
    return [one.path for word in operands for one in ground.targets(word)]


def _unsure(simple: Simple, finding: Finding, why: str) -> Finding:
    targets = finding.part.targets or tuple(word.source for word in _operands(simple))
    shown = part(simple.source, Effect.DESTRUCTIVE, f"{why}; write the path out", targets)
    return Finding(shown, Rule.LEADS_ANYWHERE)


def _operands(simple: Simple) -> list[Word]:
    return [word for word in simple.words[1:] if word.dynamic or not word.text.startswith("-")]


def _deletes_folders(simple: Simple) -> bool:
    """Whether it takes folders with all that is in them, or only what is known to be a file."""
    texts = [word.text for word in simple.words[1:] if word.text.startswith("-")]
    recursive = any((not text.startswith("--") and set(text) & set("rR")) or text == "--recursive" for text in texts)
    unsplit = all(word.parts and not word.text.startswith("-") for word in simple.words[1:] if word.dynamic)
    return recursive or simple.words[0].text == "mv" or not unsplit


def _is_kept(word: Word, ground: Ground) -> bool:
    """Whether a word leads to what nobody may delete, or to what no command may touch."""
    return any(
        one.place in _UNTOUCHED or ground.is_precious(one.path) or ground.holds_own_state(one.path)
        for one in ground.targets(word)
    )


def _emptied_by_find(simple: Simple) -> list[Word]:
    """The folders that `find` empties, where no test narrows what it finds."""
    texts = [word.text for word in simple.words]
    executes = any(one in _EXECUTES and two.rpartition("/")[2] in _DELETES for one, two in pairwise(texts))
    if not ("-delete" in texts or executes) or _NARROWS & set(texts):
        return []
    words = list(simple.words[1:])
    tests = (at for at, word in enumerate(words) if not word.dynamic and word.text[:1] in ("-", "(", "!"))
    return words[: next(tests, len(words))] or [Word(".", (Piece("."),))]


def _emptied_by_rsync(simple: Simple) -> list[Word]:
    """The folder in which `rsync` deletes what its source does not have."""
    deletes = any(word.text.startswith("--del") for word in simple.words)
    return [word for word in simple.words[1:] if not word.text.startswith("-")][-1:] if deletes else []


_EMPTIES = {"find": _emptied_by_find, "rsync": _emptied_by_rsync}
