"""Judge copying, moving, linking and packing files, with the secrets of whole folders.

Also finds which words name what a program changes.
"""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import pairwise, product

from msgspec.structs import replace

from halocline.policy.commands import Use
from halocline.policy.paths import is_within
from halocline.policy.sensitive_names import is_secret, runs_later_below
from halocline.policy.shell.findings import Finding, Rule, make_part
from halocline.policy.shell.places import judge_deleting, judge_overwriting, judge_reading, judge_writing
from halocline.policy.shell.programs.mutating import ACTORS, TAKES_FOLDERS, Actor
from halocline.policy.shell.syntax.tree import Piece, Simple, Word
from halocline.policy.shell.values.ground import Found, Ground
from halocline.protocol.permission_rules import Effect, Place

_HERE = Word("./", (Piece("./"),))
_TARGETS = {"all": slice(None), "first": slice(1), "last": slice(-1, None), "rest": slice(1, None), "none": slice(0)}


def changed_operands(simple: Simple, actor: Actor) -> list[Word]:
    """Return the words that name what the program changes."""
    words, ended, skip = [], False, False
    for word in simple.words[1:]:
        if skip:
            skip = False
        elif not ended and word.source == "--":
            ended = True
        elif not ended and word.source.startswith("-") and len(word.source) > 1:
            skip = word.text in actor.valued.split()
        else:
            words.append(word)
    if simple.program == "split":
        # The first file that it creates: each word may be the prefix.
        words += [replace(one, source=f"{one.source}aa", pieces=(*one.pieces, Piece("aa"))) for one in words[1:]]
    if actor.into:
        words = _with_target_folder(simple, words)
    if actor.targets.endswith("="):
        return [_behind_folder(word) for word in words if word.text.startswith(actor.targets)]
    return words[_TARGETS[actor.targets]]


def judge_replacing(base: str, simple: Simple, found: list[Found], ground: Ground) -> Finding | None:
    """Judge replacing existing files. Some programs only append, or change metadata."""
    appends = {"-n", "--no-clobber", "-a", "--append"} & set({word.text for word in simple.words[1:]})
    keeps = appends or base in ("touch", "mkdir", "chmod", "zip", "sed")
    return None if keeps else judge_overwriting(simple.source, found, ground.facts)


def all_targets(words: list[Word], ground: Ground) -> list[Found]:
    return [one for word in words for one in ground.targets(word)]


def _with_target_folder(simple: Simple, words: list[Word]) -> list[Word]:
    """Return the operands with the folder of `-t` moved to the end."""
    for number, word in enumerate(simple.words[1:], 1):
        name, equals, _ = word.text.partition("=")
        if re.fullmatch(r"-[a-zA-Z]*t|--target-dir\w*", word.text) and simple.words[number + 1 :]:
            folder = simple.words[number + 1]
            return [*(one for one in words if one is not folder), folder]
        if equals and name.startswith("--target"):
            return [*words, _behind_folder(word)]
        if glued := re.fullmatch(r"-[a-zA-SU-Z]*t(\S+)", word.text):
            return [*words, Word(glued[1], (Piece(glued[1]),), word.dynamic)]
    return words


def _behind_folder(word: Word) -> Word:
    return Word(word.source.partition("=")[2], (Piece(word.text.partition("=")[2]),), word.dynamic)


def judge_moving(simple: Simple, words: list[Word], does: str, ground: Ground) -> Finding | None:
    """Judge moving files as deleting them from where they were; the last word may be a pattern for several of them."""
    moved = words if words[-1:] and words[-1].is_pattern else words[:-1] or words
    finding = judge_deleting(simple, moved, does, ground) if moved else None
    if finding and finding.rule in (Rule.FLOOR, Rule.OWN_STATE, Rule.IGNORED, Rule.OUTSIDE):
        return finding
    for one in all_targets(moved, ground):
        below = ground.hidden_below(one.path)
        if below is None or below[0]:  # under another name it might not be hidden
            what = os.path.relpath(below[0][0], ground.workspace) if below else "files"
            reason = f"it would move {what}, which an ignore file hides or a rule guards"
            return Finding(make_part(simple.source, Effect.WRITES_INSIDE, reason, (one.shown,)), Rule.SECRET)
    return None


def judge_taking(simple: Simple, taken: list[Found], ground: Ground) -> Finding | None:
    """Judge what a program takes into a file of the workspace: it could be read there afterwards."""
    read = judge_reading(simple.source, taken, None, ground)
    if read.rule not in (Rule.SECRET, Rule.OUTSIDE):
        return None
    return Finding(make_part(simple.source, Effect.WRITES_INSIDE, read.part.reason, read.part.targets), read.rule)


def judge_copying(base: str, simple: Simple, words: list[Word], ground: Ground) -> Finding | None:
    """Judge the sources of `cp`, `mv`, `ln` and `install`, and the files they become in the target folder."""
    operands = changed_operands(simple, replace(ACTORS[base], targets="all"))
    if "-d" in {word.text for word in simple.words[1:]} and base == "install":
        return None
    sources, last = (operands[:-1], operands[-1]) if len(operands) > 1 else (operands, None)
    taken = all_targets(sources, ground)
    made = [made for word in sources for made in _made_in(word, last, ground)]
    whole = any(re.match(r"-\w*[aRrdP]|--(arch|rec)", word.text) for word in simple.words[1:])
    if base in ("mv", "ln") or whole:
        places = made or (ground.targets(last) if last else [])
        made += [one for place in places if (below := runs_later_below(place.path)) for one in ground.find(below)]
    if base == "ln":
        for word in sources:
            link = last or _HERE  # where it leads is relative to the folder that it is in
            beside = os.path.join(link.text if _is_folder(link, ground) else os.path.dirname(link.text), word.text)
            taken += (leads := ground.find(beside) if word.value and "\0" not in beside else [])
            places = _made_in(word, last, ground) or (ground.targets(last) if last else [])
            ground.links.add((one.path, lead.path) for one, lead in product(places, leads))
    if exposed := judge_taking(simple, taken, ground):
        return exposed
    if base == "ln" and (later := [one for one in taken if one.place is Place.RUNS_LATER]):
        reason = f"other programs run {later[0].shown} or read it as configuration"
        return Finding(make_part(simple.source, Effect.WRITES_INSIDE, reason), Rule.LATER)
    if any(word.text.endswith(("/.", "/..")) for word in sources):
        reason = "it copies everything in a folder, hidden files too"
        return Finding(make_part(simple.source, Effect.WRITES_INSIDE, reason), Rule.DYNAMIC)
    judged = judge_writing(simple.source, made, ACTORS[base].does, ground) if made else None
    if judged and judged.rule is not Rule.WRITES:
        return judged
    found = judge_replacing(base, simple, made, ground)
    return found or (_judge_moved_links(simple, taken, ground) if base == "mv" or whole else None)


def _judge_moved_links(simple: Simple, taken: list[Found], ground: Ground) -> Finding | None:
    """Judge links that are moved or copied: a relative one leads elsewhere from its new place."""
    made = any(is_within(link, one.path) for link, _ in ground.links.pairs for one in taken)
    if made or any(os.path.isabs(name) for one in taken for name in ground.facts.files_below(one.path) or ()):
        part = make_part(simple.source, Effect.WRITES_INSIDE, "links in it may lead elsewhere from their new place")
        return Finding(part, Rule.LEADS_ANYWHERE if made else Rule.DYNAMIC)
    return None


def _made_in(word: Word, folder: Word | None, ground: Ground) -> list[Found]:
    """Return the path of a source in its target folder; nothing if the target is not a folder."""
    if word.dynamic or (folder is not None and not _is_folder(folder, ground)):
        return []
    names = ground.names(word) or [word.text]
    base = folder.text if folder else "."
    return [one for name in names for one in ground.find(os.path.join(base, os.path.basename(name.rstrip("/"))))]


def _is_folder(word: Word, ground: Ground) -> bool:
    if word.text.endswith("/") or word.text in (".", "..", "~"):
        return True
    return any(ground.facts.matches("*", one.path) for one in ground.targets(word))


def takes_secrets(name: str, simple: Simple, ground: Ground) -> Finding | None:
    """Return the finding for a program that includes a folder with a secret in it; None for any other."""
    texts = [word.text for word in simple.words[1:]]
    if not any(re.fullmatch(TAKES_FOLDERS.get(name, "(?!)"), text) for text in texts):
        return None
    flags = [(text.partition("="), behind) for text, behind in pairwise((*texts, ""))]
    excluded = [value or behind for (flag, _, value), behind in flags if flag == "--exclude"]
    links = r"-[a-zA-Z]*y[a-zA-Z]*|--symlinks" if name == "zip" else r"-[a-zA-Z]*[LHh][a-zA-Z]*|--dereference"
    named = any(re.fullmatch(links, text) for text in texts)
    follows = named != (name == "zip")  # links, so their targets are included
    for word in _source_words(simple):
        for folder in {one.path for one in ground.targets(word)}:
            if (found := _taken_along(folder, excluded, ground, follows=follows)) is not None:
                reason = f"it would include {found.shown}; exclude it (`tar --exclude`) or name the files"
                rule = Rule.OUTSIDE if found.place is Place.OUTSIDE else Rule.SECRET
                return Finding(make_part(simple.source, Effect.WRITES_INSIDE, reason, (word.source,)), rule)
    return None


def _taken_along(folder: str, excluded: list[str], ground: Ground, *, follows: bool) -> Found | None:
    """Return the first sensitive file below a folder; the folder itself if it has too many files to check."""
    files = ground.facts.files_below(folder)
    if files is None:
        return Found(folder, f"all of {folder}", Place.SECRET)
    for name in files:
        if os.path.isabs(name):
            led = ground.find(name) if follows else []
            if found := next((one for one in led if one.place in (Place.OUTSIDE, Place.SECRET)), None):
                return found
        elif any(fnmatch(one, to) for to in excluded for one in (name, os.path.basename(name), f"./{name}")):
            continue
        elif is_secret(os.path.join(folder, name)):
            return Found(os.path.join(folder, name), f"{name}, which may hold secrets", Place.SECRET)
        elif ground.hides:
            inside = ground.find(os.path.join(folder, name), quoted=True)
            ground.note(inside, Use.READ)
            if any(one.place is Place.IGNORED for one in inside):
                return Found(os.path.join(folder, name), f"{name}, which an ignore file hides", Place.SECRET)
    return None


def _source_words(simple: Simple) -> Iterator[Word]:
    """Yield the words that may name folders. After `tar -C` they are relative to that folder."""
    folder, words = "", iter(simple.words[1:])
    for word in words:
        if word.text in ("-C", "--directory"):
            folder = next(words, word).text
        elif not word.text.startswith("-"):
            within = folder and not word.text.startswith(("/", "~"))
            yield Word(word.source, (Piece(f"{folder}/"), *word.pieces), word.dynamic) if within else word
