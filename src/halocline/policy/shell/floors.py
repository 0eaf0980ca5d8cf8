"""Find deletions that no mode allows, in forms other than plain `rm`: by `find`, by `rsync`, by words not yet known."""

import os
import re
from collections.abc import Iterator
from itertools import pairwise

from halocline.policy.commands import NEVER, UNTOUCHED
from halocline.policy.shell.findings import Finding, Rule, make_part
from halocline.policy.shell.listed_names import list_operands, names_found, starts_of_find
from halocline.policy.shell.programs.copying import changed_operands
from halocline.policy.shell.programs.mutating import ACTORS
from halocline.policy.shell.programs.tables import READERS
from halocline.policy.shell.syntax.tree import Piece, Simple, Word
from halocline.policy.shell.syntax.words import BRACES_ANYWHERE
from halocline.policy.shell.values import kept_places
from halocline.policy.shell.values.ground import HISTORY, Ground
from halocline.policy.shell.values.variables import UNKNOWN
from halocline.policy.word_tables import read_words
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect, Place

_NARROWS, _EXECUTES, _DELETES, _PACKS, KEEPS_CONTENT, _others = map(frozenset, read_words(__file__).values())
_CHANGES_TOO = _PACKS | _others
_GOES_DOWN = KEEPS_CONTENT | {"gzip", "gunzip", "zstd"}
_IN_PLACE = compile_later(r"-[a-zA-Z]*i|--in-place")
_MOVES_IN = compile_later(r"-[a-zA-Z]*m|--move")
LEAVE_OUT = "exclude .git from the search, or spell out the path"


def passes_floor(simple: Simple, ground: Ground, finding: Finding) -> Finding | None:
    """Return the finding for a deletion that no mode allows, or a command that may turn out to be one; else None."""
    if finding.rule in NEVER:
        return None
    name = _program_name(simple)
    emptied = _list_emptied(name, simple, ground)
    found = [one for word in emptied for one in ground.targets(word) if ground.is_precious(one.path)]
    replaced = [word for word in _replaced_files(simple, ground) if not word.dynamic]
    places = [(one, one.place is Place.OUTSIDE) for word in replaced for one in ground.targets(word)]
    found += [one for one, far in places if kept_places.is_history(one.path) or (far and ground.is_precious(one.path))]
    if found:
        shown = tuple(one.shown for one in found[:3])
        return Finding(make_part(simple.source, Effect.DESTRUCTIVE, f"it deletes {found[0].path}", shown), Rule.FLOOR)
    why = _may_delete(name, simple, emptied, ground) or _may_harm(name, simple, ground)
    return _unsure_finding(simple, finding, why) if why else None


def _may_delete(name: str, simple: Simple, emptied: list[Word], ground: Ground) -> str:
    """Say how a command may turn out to delete protected files; empty if it may not."""
    deleted = list_operands(simple) if name in _DELETES and _deletes_folders(simple, ground) else emptied
    pairs = pairwise(_possible_texts(simple, ground))
    runs_there = any(one in ("-execdir", "-okdir") and two not in READERS for one, two in pairs)
    harms = name == "find" and (runs_there or _find_deletes(simple, ground))
    if harms and any(kept_places.leads_to_kept(text, ground) for text in names_found(simple, ground)):
        return f"it may find protected files; {LEAVE_OUT}"
    cleans = name == "git" and any(word.text == "clean" for word in simple.words)
    if cleans and (not ground.folders or any(word.dynamic for word in simple.words)):
        return "the folder that git cleans is known only when it runs"
    if any(ground.may_be_precious(word) for word in deleted):
        return "what it deletes is known only when it runs"
    if simple.words[0].value is None and any(_is_kept(word, ground) for word in simple.words[1:]):
        return "the program is known only when it runs, and its arguments include protected files"
    packed = (word.text for word in _replaced_files(simple, ground)) if not ground.folders else ()
    if any(map(kept_places.may_end_in_history, packed)):
        return "the folder whose files it packs is known only when it runs"
    if name in _DELETES and not ground.folders and any(not word.text.startswith("/") for word in list_operands(simple)):
        return "the folder that it deletes in is known only when it runs"
    return ""


def _program_name(simple: Simple) -> str:
    return (simple.words[0].value or "").rpartition("/")[2]


def fed_floor(simple: Simple, fed: Word, ground: Ground, finding: Finding) -> Finding | None:
    """Return the finding for a program that gets names (`fed`) while it runs; None if any names are harmless."""
    if finding.rule in NEVER:
        return None
    name, words = _program_name(simple), changed_words(simple, ground)
    given = [one.text for one in fed.could]
    reaches = fed in words and any(_does_harm(name, text, True, ground) for text in given)
    deletes = name in _DELETES and _deletes_folders(simple, ground)
    if reaches or (deletes and any(kept_places.leads_to_precious(text, ground) for text in given)):
        why = f"{fed.source} may lead to files that must not be {_harm_verb(name)}; {LEAVE_OUT}"
        return _unsure_finding(simple, finding, why)
    if fed in words and ground.mentioned and _is_unknown(fed) and name not in KEEPS_CONTENT:
        return _unsure_finding(simple, finding, _may_be_mentioned(fed, simple, ground))
    return passes_floor(simple, ground, finding)


def changed_words(simple: Simple, ground: Ground) -> list[Word]:
    """Return the words that name what a program changes or deletes."""
    name = _program_name(simple)
    in_place = name in ("sed", "perl") and any(map(_IN_PLACE.match, _possible_flags(simple, ground)))
    if name == "" or in_place or name in _CHANGES_TOO:
        return list_operands(simple)
    return changed_operands(simple, ACTORS[name]) if name in ACTORS else []


def _may_harm(name: str, simple: Simple, ground: Ground) -> str:
    """Say how partly known words may lead to protected files; empty if they may not."""
    changed = changed_words(simple, ground)
    for word in simple.words[1:]:
        names = _possible_names(word, ground) if word.dynamic else ()
        if any(_does_harm(name, one, word in changed, ground) for one in names):
            return f"{word.source} may lead to files that must not be {_harm_verb(name)}"
    if anywhere := next((word for word in changed if word.dynamic == BRACES_ANYWHERE), None):
        return f"{anywhere.source}: {BRACES_ANYWHERE}"
    unknown = next((word for word in changed if _is_unknown(word)), None)
    if unknown and ground.mentioned and name not in KEEPS_CONTENT:
        return _may_be_mentioned(unknown, simple, ground)
    return _reached_below(simple, ground) if _goes_down(name, simple, ground) else ""


def _may_be_mentioned(word: Word, simple: Simple, ground: Ground) -> str:
    return f"{word.source} may be {ground.mentioned[0]}, which must not be {_harm_verb(_program_name(simple))}"


def _possible_names(word: Word, ground: Ground) -> Iterator[str]:
    """Yield what a word may expand to, patterns as the names that they match."""
    for one in word.possible:
        names = ground.names(one) if one.is_pattern and UNKNOWN not in one.text else None
        yield from names or [one.text]


def _is_unknown(word: Word) -> bool:
    """Return True if a word, or a part of it, may be anything."""
    return word.dynamic != "" and (not word.could or any(kept_places.has_unknown(one.text) for one in word.could))


def _reached_below(simple: Simple, ground: Ground) -> str:
    """Say how a program that changes whole folders may reach protected files; empty if it does not."""
    if any(map(ground.may_be_precious, list_operands(simple))):
        return f"the folder that {_program_name(simple)} goes through is known only when it runs"
    places = [one for word in list_operands(simple) for one in ground.targets(word) if one.place is not Place.OWN_STATE]
    if _program_name(simple) in KEEPS_CONTENT:
        upward = not ground.folders and any(_may_lead_up(word) for word in list_operands(simple))
        reached = upward or any(ground.holds_own_state(one.path) for one in places)
    else:
        lost = not ground.folders and any(not os.path.isabs(word.text) for word in list_operands(simple))
        reached = lost or any(kept_places.holds_kept(one.path, ground) for one in places)
    return f"{_program_name(simple)} would reach protected files; {LEAVE_OUT}" if reached else ""


def _may_lead_up(word: Word) -> bool:
    """Return True if a path may be that of the current folder or a parent."""
    texts = [one.text for one in word.possible]
    return word.is_pattern or not texts or any(not {".", ".."}.isdisjoint(text.split("/")) for text in texts)


def _does_harm(name: str, text: str, changes: bool, ground: Ground) -> bool:
    """Return True if a program given this text harms protected files; changing files in it harms a Git history."""
    if changes and name not in KEEPS_CONTENT:
        return kept_places.leads_to_kept(text, ground)
    return kept_places.leads_to_untouched(text, ground, below=changes)


def _replaced_files(simple: Simple, ground: Ground) -> list[Word]:
    """Return the files that are deleted once they are packed."""
    if _program_name(simple) == "zip":
        return list_operands(simple) if any(map(_MOVES_IN.match, _possible_flags(simple, ground))) else []
    if _program_name(simple) in ("ln", "mv", "rename"):  # they put another file in its place
        return [word for word in list_operands(simple)[-1:] if word.text.endswith(HISTORY[0])]
    flags = [word.text for word in simple.words[1:] if word.text.startswith("-")]
    if "--remove-files" in flags:  # of `tar`
        return list_operands(simple)
    keeps = any(re.match(r"-[a-zA-Z]*[kct]|--keep|--stdout|--test", flag) for flag in flags)
    return [] if keeps or _program_name(simple) not in _PACKS else list_operands(simple)


def _goes_down(name: str, simple: Simple, ground: Ground) -> bool:
    """Return True if a program changes all files in the folders that it is given."""
    if name not in _GOES_DOWN and name != "zip":
        return False
    flags = _possible_flags(simple, ground)
    recurses = any(re.match(r"-[a-zA-Z]*[rR]|--recursive", text) for text in flags)
    return recurses and (name != "zip" or any(map(_MOVES_IN.match, flags)))


def _possible_texts(simple: Simple, ground: Ground) -> list[str]:
    """Return the words that a program gets, or may get."""
    return [text for word in simple.words[1:] for text in _possible_names(word, ground)]


def _possible_flags(simple: Simple, ground: Ground) -> list[str]:
    """Return the flags among the possible texts; a variable or a file name that a pattern matches may be one too."""
    return [text for text in _possible_texts(simple, ground) if text.startswith("-")]


def _harm_verb(name: str) -> str:
    return "deleted" if name in _DELETES else "changed"


def _unsure_finding(simple: Simple, finding: Finding, why: str) -> Finding:
    targets = finding.part.targets or tuple(word.source for word in list_operands(simple))
    why = why if why.endswith(LEAVE_OUT) else f"{why}; spell out the path"
    return Finding(make_part(simple.source, Effect.DESTRUCTIVE, why, targets), Rule.LEADS_ANYWHERE)


def _deletes_folders(simple: Simple, ground: Ground) -> bool:
    """Return True if it may delete folders with their contents."""
    texts = _possible_flags(simple, ground)
    recursive = any((not text.startswith("--") and set(text) & set("rR")) or text == "--recursive" for text in texts)
    unsplit = all(word.parts and not word.text.startswith("-") for word in simple.words[1:] if word.dynamic)
    return recursive or simple.words[0].text == "mv" or not unsplit


def _is_kept(word: Word, ground: Ground) -> bool:
    """Return True if a word leads to files that must not be deleted, or that no command may touch."""
    texts = (word.text, *_possible_names(word, ground)) if not ground.folders else ()
    if any(kept_places.leads_to_kept(text, ground) for text in texts):
        return True
    found = ground.targets(word)
    kept = any(ground.is_precious(one.path) or ground.holds_own_state(one.path) for one in found)
    return kept or any(one.place in UNTOUCHED for one in found)


def _find_deletes(find: Simple, ground: Ground) -> bool:
    """Return True if `find` deletes what it finds, or passes it to a program that does."""
    return "-delete" in _possible_flags(find, ground) or any(
        one in _EXECUTES and two.rpartition("/")[2] in _DELETES for one, two in pairwise(_possible_texts(find, ground))
    )


def _list_emptied(name: str, simple: Simple, ground: Ground) -> list[Word]:
    """Return the folders that `find` empties, as no test narrows what it finds, or in which `rsync` deletes."""
    if name == "rsync" and any(flag.startswith("--del") for flag in _possible_flags(simple, ground)):
        return [word for word in simple.words[1:] if not word.text.startswith("-")][-1:]
    if name != "find" or not _find_deletes(simple, ground) or _NARROWS & {word.text for word in simple.words}:
        return []
    return starts_of_find(simple) or [Word(".", (Piece("."),))]
