"""Judge programs known to do more than read: what they do, and to which places."""

import os
import re

from msgspec.structs import replace

from halocline.policy.commands import Use
from halocline.policy.shell.findings import Finding, Rule, make_part, unknown_finding
from halocline.policy.shell.places import (
    judge_deleting,
    judge_overwriting,
    judge_reading,
    judge_touching,
    judge_writing,
)
from halocline.policy.shell.programs import mutating, wrappers
from halocline.policy.shell.programs.embedded_scripts import check_sed
from halocline.policy.shell.programs.flags import sort_words
from halocline.policy.shell.programs.git.commands import judge_changing_git
from halocline.policy.shell.programs.mutating import ACTORS, RIGHTFUL, Actor
from halocline.policy.shell.programs.packing import takes_secrets
from halocline.policy.shell.programs.read_only import READERS
from halocline.policy.shell.programs.shell_builtins import judge_shell
from halocline.policy.shell.programs.specs import Unlisted
from halocline.policy.shell.syntax.tree import Piece, Simple, Word
from halocline.policy.shell.values.find_tests import is_narrowed
from halocline.policy.shell.values.ground import Found, Ground
from halocline.policy.shell.values.variables import UNKNOWN
from halocline.protocol.permission_rules import Effect, Place


def judge_acting(name: str, simple: Simple, ground: Ground) -> Finding | None:
    """Judge a program that is known to do more than read; None for an unknown one."""
    texts = [word.text for word in simple.words[1:]]
    base = name.rsplit("/", 1)[-1]
    if base in mutating.RIGHTS:
        shown = make_part(simple.source, Effect.WRITES_OUTSIDE, "it runs with different privileges")
        return Finding(shown, Rule.RIGHTS)
    if base in mutating.PERSISTS:
        return unknown_finding(simple.source, "it starts something that runs after the task ends", Rule.LATER)
    if base == "git":
        return judge_changing_git(simple, texts, ground)
    return (
        _judge_network(base, texts, simple)
        or _judge_changing(base, texts, simple, ground)
        or judge_touching(simple, ground)
        or judge_shell(name, simple, ground)
    )


_SED = replace(
    READERS["sed"], valued="e:program i?suffix", words=f"{READERS['sed'].words} in-place?suffix", program=None
)
_READS_THE_REST = frozenset({"tar", "zip", "split", "sort", "tree"})
_EVERY_OPERAND = Actor(Effect.WRITES_INSIDE, "", "all")


def _judge_network(base: str, texts: list[str], simple: Simple) -> Finding | None:
    sub = next((text for text in texts if not text.startswith("-")), "")
    if sub and sub in mutating.NETWORK_COMMANDS.get(base, "").split():
        return Finding(make_part(simple.source, Effect.NETWORK, f"{base} {sub} uses the network"), Rule.NETWORK)
    if base in ("python", "python3") and texts[:2] == ["-m", "pip"] and {"install", "download"} & set(texts):
        return Finding(make_part(simple.source, Effect.NETWORK, "pip uses the network"), Rule.NETWORK)
    return None


def _judge_changing(base: str, texts: list[str], simple: Simple, ground: Ground) -> Finding | None:
    if base in ("find", "fd", "fdfind") and {"-delete", "-fprint", "-fprintf", "-fls", "-fprint0"} & set(texts):
        below = [] if is_narrowed(texts) else _names_below(simple)
        does = "deletes or writes" if below else "deletes or writes what it finds"
        return judge_touching(simple, ground) or judge_deleting(simple, below, does, ground)
    if base == "sed" and any(re.match(r"-[nEersuz]*i|--in-place", text) for text in texts):
        return _judge_editing(simple, ground)
    if base in ("sort", "tree") and "-o" in texts:
        target = [*simple.words[texts.index("-o") + 2 :]][:1]
        return _on_targets(simple, target, Actor(Effect.WRITES_INSIDE, "writes to"), ground)
    if base == "tar" and (archive := _packed_archive(simple)) is not None:
        return _on_targets(simple, archive, Actor(Effect.WRITES_INSIDE, "packs into"), ground)
    if base == "rsync" and any(text.startswith(("--delete", "--del", "--remove-source")) for text in texts):
        floor = judge_deleting(simple, [simple.words[-1]], "deletes in", ground)
        if floor.rule in (Rule.FLOOR, Rule.OWN_STATE):
            return floor
    if base.startswith("mkfs"):
        actor = Actor(Effect.DESTRUCTIVE, "formats", "all")
        return _on_targets(simple, changed_operands(simple, actor), actor, ground)
    if base == "chmod" and any(re.fullmatch(r"[ugoa]*[+=]\w*[st]\w*|0?[1-7]\d{3}", text) for text in texts):
        shown = make_part(simple.source, Effect.WRITES_OUTSIDE, "it may let a program run with its owner's privileges")
        return Finding(shown, Rule.RIGHTS)
    if base == "zip" and any(re.match(r"-\w*[mFdUT]|--", text) for text in texts):
        return unknown_finding(simple.source, "with this flag, zip may delete files or run a program")
    if base in ACTORS:
        return _on_targets(simple, changed_operands(simple, ACTORS[base]), ACTORS[base], ground)
    return None


def _packed_archive(simple: Simple) -> list[Word] | None:
    """Return the archive that `tar` creates; None if it unpacks or does more."""
    words = list(simple.words[1:])
    letters = words[0].text.lstrip("-") if words and not words[0].text.startswith("--") else ""
    if not re.fullmatch(r"[cvzjJahpf]*c[vzjJahpf]*", letters) or "f" not in letters or len(words) < 2:
        return None
    return None if any(word.dynamic or _does_more(word.text) for word in words[1:]) else words[1:2]


def _does_more(text: str) -> bool:
    """Return True for a flag of `tar` that does more than choose what is packed."""
    return text.startswith("-") and text.partition("=")[0] not in ("-C", "--directory", "--exclude")


def _judge_editing(simple: Simple, ground: Ground) -> Finding:
    """Judge `sed -i`: an edit of its files if its script only edits and its backup is a file beside each."""
    try:
        given = sort_words(_SED, simple.words[1:])
        scripts = [*given.programs]
        if not scripts:
            scripts, given.operands = [word.text for word in given.operands[:1]], given.operands[1:]
        if fault := next((fault for script in scripts if (fault := check_sed(script))), ""):
            return unknown_finding(simple.source, fault)
    except Unlisted as why:
        return unknown_finding(simple.source, str(why))
    edits = Actor(Effect.WRITES_INSIDE, "edits")
    return _on_targets(simple, given.operands, edits, ground) or unknown_finding(simple.source, "it edits no file")


def _names_below(simple: Simple) -> list[Word]:
    """Return what `find` may find, as a pattern for the folder it starts in."""
    starts = [word for word in simple.words[1:] if not word.text.startswith("-")][:1] or [Word(".", (Piece("."),))]
    return [wrappers.found_in(word) for word in starts]


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
    if simple.words[0].text.rpartition("/")[2] == "split":
        words = [*words, *(_with_ending(word, "aa") for word in words[1:])]
    if actor.into:
        words = _with_target_folder(simple, words)
    match actor.targets:
        case "all":
            return words
        case "first":
            return words[:1]
        case "last":
            return words[-1:]
        case "rest":
            return words[1:]
        case "of=":
            return [_behind_folder(word) for word in words if word.text.startswith("of=")]
    return []


def _with_ending(word: Word, ending: str) -> Word:
    """Return the name of the first file that a program creates with a word as prefix."""
    return Word(f"{word.source}{ending}", (*word.pieces, Piece(ending)), word.dynamic, word.quoted, could=word.could)


def _with_target_folder(simple: Simple, words: list[Word]) -> list[Word]:
    """Return the operands with the folder of `-t` moved to the end."""
    for number, word in enumerate(simple.words[1:], 1):
        name, equals, _ = word.text.partition("=")
        if re.fullmatch(r"-[a-zA-Z]*t|--target-directory|--target-dir\w*", word.text) and simple.words[number + 1 :]:
            folder = simple.words[number + 1]
            return [*(one for one in words if one is not folder), folder]
        if equals and name.startswith("--target"):
            return [*words, _behind_folder(word)]
        if glued := re.fullmatch(r"-[a-zA-SU-Z]*t(\S+)", word.text):
            return [*words, Word(glued[1], (Piece(glued[1]),), word.dynamic)]
    return words


def _behind_folder(word: Word) -> Word:
    text = word.text.partition("=")[2]
    return Word(word.source.partition("=")[2], (Piece(text),), word.dynamic)


def _on_targets(simple: Simple, words: list[Word], actor: Actor, ground: Ground) -> Finding | None:
    if actor.effect in (Effect.WRITES_INSIDE, RIGHTFUL):
        ground.note(_all_targets(words, ground), Use.CHANGE)
    return judge_touching(simple, ground) or _judge_targets(simple, words, actor, ground)


def _judge_targets(simple: Simple, words: list[Word], actor: Actor, ground: Ground) -> Finding | None:
    base = simple.words[0].text.rsplit("/", 1)[-1]
    if base in _READS_THE_REST and (taken := _reading_outside(simple, ground)):
        return taken
    if taken := takes_secrets(base, simple, ground):
        return taken
    if actor.effect is Effect.NETWORK:
        return Finding(make_part(simple.source, Effect.NETWORK, f"{base} {actor.does}"), Rule.NETWORK)
    if actor.effect is Effect.UNKNOWN:
        return unknown_finding(simple.source, f"it {actor.does}")
    if actor.effect is Effect.DESTRUCTIVE:
        return judge_deleting(simple, words, actor.does, ground)
    if base == "mv" and (grave := _judge_moving(simple, _moved_away(words), actor.does, ground)):
        return grave
    if base in ("chmod", "chown", "chgrp") and any(
        text.startswith(("-R", "--recursive")) for text in _list_texts(simple)
    ):
        floor = judge_deleting(simple, words, actor.does, ground)
        if floor.rule is Rule.FLOOR:
            return floor
    if flag := _find_unlisted(simple, actor):
        return unknown_finding(simple.source, f"nothing is known about {base} {flag}")
    if actor.effect is Effect.WRITES_INSIDE and any(map(_is_unknown, changed_operands(simple, _EVERY_OPERAND))):
        return unknown_finding(simple.source, "its arguments are known only when it runs", Rule.DYNAMIC)
    found = _all_targets(words, ground)
    if actor.into and (taken := _judge_copying(base, simple, words, ground)):
        return taken
    if len(found) < len(words):
        shown = tuple(word.source for word in words)
        reason = f"it {actor.does} paths that are known only when it runs"
        return Finding(make_part(simple.source, Effect.UNKNOWN, reason, shown), Rule.DYNAMIC)
    judged = (
        judge_writing(simple.source, found, actor.does, ground)
        if found
        else Finding(make_part(simple.source, Effect.WRITES_INSIDE, f"it {actor.does}"), Rule.WRITES)
    )
    if judged.rule is Rule.WRITES and actor.effect is RIGHTFUL:
        return Finding(replace(judged.part, effect=RIGHTFUL), Rule.RIGHTS)
    over = found if base != "mv" else _all_targets(words[-1:], ground)
    return judged if judged.rule is not Rule.WRITES else _judge_overwriting(base, simple, over, ground) or judged


def _find_unlisted(simple: Simple, actor: Actor) -> str:
    """Return a flag with which nobody knows what a program writes; empty if there is none."""
    known = actor.flags.split()
    texts = [word.text for word in simple.words[1:] if re.match(r"-[^-]|--\w", word.text)] if known else []
    names = (name.partition("=")[0] for name in texts if name not in known)
    return next((one for one in names if one.startswith("--") or not {f"-{at}" for at in one[1:]} <= {*known}), "")


def _is_unknown(word: Word) -> bool:
    return word.dynamic != "" and (not word.could or any(UNKNOWN in one.text for one in word.could))


def _reading_outside(simple: Simple, ground: Ground) -> Finding | None:
    """Judge what is packed, split or sorted into a file of the workspace: it could be read there afterwards."""
    read = judge_reading(simple.source, _all_targets(changed_operands(simple, _EVERY_OPERAND), ground), None, ground)
    if read.rule not in (Rule.SECRET, Rule.OUTSIDE):
        return None
    return Finding(make_part(simple.source, Effect.WRITES_INSIDE, read.part.reason, read.part.targets), read.rule)


def _moved_away(words: list[Word]) -> list[Word]:
    """Return what `mv` moves: all words but the last, unless that is a pattern, which may match several names."""
    return words if words[-1:] and words[-1].is_pattern else words[:-1] or words


def _judge_moving(simple: Simple, words: list[Word], does: str, ground: Ground) -> Finding | None:
    """Judge moving files as deleting them from where they were."""
    finding = judge_deleting(simple, words, does, ground) if words else None
    grave = (Rule.FLOOR, Rule.OWN_STATE, Rule.IGNORED, Rule.OUTSIDE)
    return finding if finding and finding.rule in grave else None


def _judge_copying(base: str, simple: Simple, words: list[Word], ground: Ground) -> Finding | None:
    """Judge the sources of `cp`, `mv`, `ln` and `install`, and the files they become in the target folder."""
    operands = _with_target_folder(
        simple, changed_operands(simple, Actor(Effect.WRITES_INSIDE, "", "all", ACTORS[base].valued))
    )
    if "-d" in _list_texts(simple) and base == "install":
        return None
    sources, last = (operands[:-1], operands[-1]) if len(operands) > 1 else (operands, None)
    taken = _all_targets(sources, ground)
    if base == "ln" and last is not None:
        taken += [one for word in sources for one in _link_targets(word, last, ground)]
    read = judge_reading(simple.source, taken, None, ground)
    if read.rule in (Rule.SECRET, Rule.OUTSIDE):
        return Finding(make_part(simple.source, Effect.WRITES_INSIDE, read.part.reason, read.part.targets), read.rule)
    if base == "ln" and (later := [one for one in taken if one.place is Place.RUNS_LATER]):
        reason = f"other programs run {later[0].shown} or read it as configuration"
        return Finding(make_part(simple.source, Effect.WRITES_INSIDE, reason), Rule.LATER)
    if any(word.text.endswith(("/.", "/..")) for word in sources):
        reason = "it copies everything in a folder, hidden files too"
        return Finding(make_part(simple.source, Effect.WRITES_INSIDE, reason), Rule.DYNAMIC)
    made = [made for word in sources for made in _made_in(word, last, ground)]
    judged = judge_writing(simple.source, made, ACTORS[base].does, ground) if made else None
    if judged and judged.rule is not Rule.WRITES:
        return judged
    return _judge_overwriting(base, simple, made, ground)


def _link_targets(word: Word, link: Word, ground: Ground) -> list[Found]:
    """Return where a symbolic link leads, relative to the folder that it is in."""
    folder = link.text if _is_folder(link, ground) else os.path.dirname(link.text)
    return ground.find(os.path.join(folder, word.text)) if word.value and "\0" not in word.text else []


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


def _judge_overwriting(base: str, simple: Simple, found: list[Found], ground: Ground) -> Finding | None:
    """Judge replacing existing files. Some programs only append, or change metadata."""
    keeps = {"-n", "--no-clobber", "-a", "--append"} & set(_list_texts(simple)) or base in (
        "touch",
        "mkdir",
        "chmod",
        "zip",
    )
    return None if keeps or base == "sed" else judge_overwriting(simple.source, found, ground.facts)


def _list_texts(simple: Simple) -> list[str]:
    return [word.text for word in simple.words[1:]]


def _all_targets(words: list[Word], ground: Ground) -> list[Found]:
    return [one for word in words for one in ground.targets(word)]
