"""Deletions that no mode may do, in forms that are no plain `rm`: by `find`, by `rsync`, by words not yet known."""

from itertools import pairwise

from halocline.policy.shell.findings import Finding, Rule, part
from halocline.policy.shell.ground import Found, Ground
from halocline.policy.shell.tree import Piece, Simple, Word
from halocline.policy.shell.variables import UNKNOWN
from halocline.protocol.rules import Effect

_NARROWS = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-empty",
        "-newer",
        "-mtime",
        "-mmin",
        "-size",
    ]
)
_DELETES = frozenset({"rm", "rmdir", "unlink", "shred", "mv", "truncate"})
_EXECUTES = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def passes_floor(simple: Simple, ground: Ground, finding: Finding) -> Finding | None:
    """The finding for a deletion that no mode allows, or that may turn out to be one; None for any other command."""
    if finding.rule in (Rule.FLOOR, Rule.OWN_STATE, Rule.IGNORED):
        return None
    name = (simple.words[0].value or "").rpartition("/")[2]
    found = _found_by(simple, ground) if name == "find" else _synchronised(simple, ground) if name == "rsync" else []
    if found:
        shown = tuple(one.shown for one in found[:3])
        return Finding(part(simple.source, Effect.DESTRUCTIVE, f"it deletes {found[0].path}", shown), Rule.FLOOR)
    if (
        name in _DELETES
        and any(ground.may_be_precious(word) for word in _operands(simple))
        and _deletes_folders(simple)
    ):
        return _unsure(simple, finding, "what it deletes is known only when it runs")
    if simple.words[0].value is None and any(_is_kept(word, ground) for word in simple.words[1:]):
        return _unsure(simple, finding, "the program is known only when it runs, and is given what nobody may delete")
    if name in _DELETES and not ground.folders and any(not word.text.startswith("/") for word in _operands(simple)):
        return _unsure(simple, finding, "the folder that it deletes in is known only when it runs")
    return None


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
    return any(ground.is_precious(one.path) or ground.holds_own_state(one.path) for one in ground.targets(word))


def _found_by(simple: Simple, ground: Ground) -> list[Found]:
    """What `find` deletes that nobody may delete: no test narrows what it finds."""
    texts = [word.text for word in simple.words]
    executes = any(one in _EXECUTES and two.rpartition("/")[2] in _DELETES for one, two in pairwise(texts))
    if not ("-delete" in texts or executes) or _NARROWS & set(texts):
        return []
    starts = list(simple.words[1:])
    end = next(
        (at for at, word in enumerate(starts) if word.text[:1] in ("-", "(", "!") and not word.dynamic), len(starts)
    )
    found = [one for word in starts[:end] or [Word(".", (Piece("."),))] for one in ground.targets(word)]
    return [one for one in found if ground.is_precious(one.path)]


def _synchronised(simple: Simple, ground: Ground) -> list[Found]:
    """What `rsync --delete` empties that nobody may delete."""
    if not any(word.text.startswith(("--delete", "--del")) for word in simple.words):
        return []
    target = [word for word in simple.words[1:] if not word.text.startswith("-")][-1:]
    return [
        one
        for word in target
        for one in ground.targets(word)
        if UNKNOWN not in one.path and ground.is_precious(one.path)
    ]
