"""Judge programs known to do more than read: what they do, and to which places."""

import re

from msgspec.structs import replace

from halocline.policy.commands import Use
from halocline.policy.shell.findings import Finding, Rule, as_sent, make_part, unknown_finding
from halocline.policy.shell.named_places import judge_touching
from halocline.policy.shell.places import judge_deleting, judge_writing
from halocline.policy.shell.programs import copying, mutating, wrappers
from halocline.policy.shell.programs.embedded_scripts import check_sed
from halocline.policy.shell.programs.flags import sort_words
from halocline.policy.shell.programs.git_commands import judge_changing_git
from halocline.policy.shell.programs.mutating import ACTORS, RIGHTFUL, Actor
from halocline.policy.shell.programs.shell_builtins import judge_shell
from halocline.policy.shell.programs.specs import Unlisted
from halocline.policy.shell.programs.tables import READERS
from halocline.policy.shell.syntax.tree import Simple, Word
from halocline.policy.shell.values.ground import Ground
from halocline.policy.shell.values.kept_places import is_narrowed
from halocline.policy.shell.values.variables import UNKNOWN, values_of
from halocline.protocol.permission_rules import Effect


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


_SED = READERS["sed"]
_SED = replace(_SED, valued="e:program i?suffix", words=f"{_SED.words} in-place?suffix", program=None)
_READS_THE_REST = frozenset({"tar", "zip", "split", "sort", "tree", "dd"})
_EVERY_OPERAND, _INPUT = Actor(Effect.WRITES_INSIDE, "", "all"), Actor(Effect.WRITES_INSIDE, "", "if=")


def _judge_network(base: str, texts: list[str], simple: Simple) -> Finding | None:
    sub = next((text for text in texts if not text.startswith("-")), "")
    if sub and sub in mutating.NETWORK_COMMANDS.get(base, "").split():
        return Finding(make_part(simple.source, Effect.NETWORK, f"{base} {sub} uses the network"), Rule.NETWORK)
    if base in ("python", "python3") and texts[:2] == ["-m", "pip"] and {"install", "download"} & set(texts):
        return Finding(make_part(simple.source, Effect.NETWORK, "pip uses the network"), Rule.NETWORK)
    return None


def _judge_changing(base: str, texts: list[str], simple: Simple, ground: Ground) -> Finding | None:
    if base in wrappers.FINDS and {"-delete", "-fprint", "-fprintf", "-fls", "-fprint0"} & set(texts):
        start = next((word for word in simple.words[1:] if not word.text.startswith("-")), wrappers.HERE)
        below = [] if is_narrowed(texts) else [wrappers.found_in(start)]  # what it may find, as a pattern
        does = "deletes or writes" if below else "deletes or writes what it finds"
        return judge_touching(simple, ground) or judge_deleting(simple, below, does, ground)
    if base == "sed" and any(re.match(r"-[nEersuz]*i|--in-place", text) for text in texts):
        return _judge_editing(simple, ground)
    if base in ("sort", "tree") and "-o" in texts:
        target = [*simple.words[texts.index("-o") + 2 :][:1]]
        return _on_targets(simple, target, Actor(Effect.WRITES_INSIDE, "writes to"), ground)
    if base == "tar" and (archive := _packed_archive(simple)) is not None:
        return _on_targets(simple, archive, Actor(Effect.WRITES_INSIDE, "packs into"), ground)
    if base == "rsync" and any(text.startswith(("--delete", "--del", "--remove-source")) for text in texts):
        floor = judge_deleting(simple, [simple.words[-1]], "deletes in", ground)
        if floor.rule in (Rule.FLOOR, Rule.OWN_STATE):
            return floor
    if base.startswith("mkfs"):
        return _on_targets(simple, list(simple.words[1:]), Actor(Effect.DESTRUCTIVE, "formats", "all"), ground)
    if base == "chmod" and any(re.fullmatch(r"[ugoa]*[+=]\w*[st]\w*|0?[1-7]\d{3}", text) for text in texts):
        shown = make_part(simple.source, Effect.WRITES_OUTSIDE, "it may let a program run with its owner's privileges")
        return Finding(shown, Rule.RIGHTS)
    if base == "zip" and any(re.match(r"-\w*[mFdUT]|--", text) for text in texts):
        return unknown_finding(simple.source, "with this flag, zip may delete files or run a program")
    if base in ACTORS:
        return _on_targets(simple, copying.changed_operands(simple, ACTORS[base]), ACTORS[base], ground)
    return None


def _packed_archive(simple: Simple) -> list[Word] | None:
    """Return the archive that `tar` creates; None if it unpacks or does more."""
    words = list(simple.words[1:])
    letters = words[0].text.lstrip("-") if words and not words[0].text.startswith("--") else ""
    if not re.fullmatch(r"[cvzjJahpf]*c[vzjJahpf]*", letters) or "f" not in letters or len(words) < 2:
        return None
    flags = {word.text.partition("=")[0] for word in words[1:] if word.text.startswith("-")}
    chooses = flags <= {"-C", "--directory", "--exclude"}  # it chooses what is packed, and does no more
    return words[1:2] if chooses and not any(word.dynamic for word in words[1:]) else None


def _judge_editing(simple: Simple, ground: Ground) -> Finding:
    """Judge `sed -i`: an edit of its files, if its script only edits and checkpoints hold what is there now."""
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
    judged = _on_targets(simple, given.operands, edits, ground) or unknown_finding(simple.source, "it edits no file")
    paths = [one.path for one in copying.all_targets(given.operands, ground)] if judged.rule is Rule.WRITES else []
    if paths and ground.facts.has_checkpoints and ground.facts.find_unkept(paths, ground.real_roots):
        part = make_part(simple.source, Effect.DESTRUCTIVE, judged.part.reason, judged.part.targets)
        return Finding(part, Rule.DESTROYS)
    return judged


def _on_targets(simple: Simple, words: list[Word], actor: Actor, ground: Ground) -> Finding | None:
    if actor.effect in (Effect.WRITES_INSIDE, RIGHTFUL):
        ground.note(copying.all_targets(words, ground), Use.CHANGE)
    return judge_touching(simple, ground) or _judge_targets(simple, words, actor, ground)


def _judge_targets(simple: Simple, words: list[Word], actor: Actor, ground: Ground) -> Finding | None:
    base = simple.words[0].text.rsplit("/", 1)[-1]
    operands = copying.changed_operands(simple, _EVERY_OPERAND if base != "dd" else _INPUT)
    read = copying.all_targets(operands, ground) if base in _READS_THE_REST else []
    taken = copying.takes_secrets(base, simple, ground) or copying.judge_taking(simple, read, ground)
    if actor.effect is Effect.DESTRUCTIVE:
        deleted = judge_deleting(simple, words, actor.does, ground)
        return taken if taken and taken.rule is Rule.SECRET and deleted.rule is Rule.DESTROYS else deleted
    if taken:
        return as_sent(taken) if actor.effect is Effect.NETWORK else taken
    if actor.effect is Effect.NETWORK:
        return Finding(make_part(simple.source, Effect.NETWORK, f"{base} {actor.does}"), Rule.NETWORK)
    if actor.effect is Effect.UNKNOWN:
        return unknown_finding(simple.source, f"it {actor.does}")
    if base == "mv" and (grave := copying.judge_moving(simple, words, actor.does, ground)):
        return grave
    recursive = any(text.startswith(("-R", "--recursive")) for text in (word.text for word in simple.words[1:]))
    if recursive and base in ("chmod", "chown", "chgrp"):
        floor = judge_deleting(simple, words, actor.does, ground)
        if floor.rule is Rule.FLOOR:
            return floor
    if flag := _find_unlisted(simple, actor):
        return unknown_finding(simple.source, f"nothing is known about {base} {flag}")
    unsure = [word for word in operands if any(UNKNOWN in text for text in values_of(word))]
    if actor.effect is Effect.WRITES_INSIDE and unsure:
        return unknown_finding(simple.source, "its arguments are known only when it runs", Rule.DYNAMIC)
    found = copying.all_targets(words, ground)
    if actor.into and (taken := copying.judge_copying(base, simple, words, ground)):
        return taken
    if len(found) < len(words):
        shown = tuple(word.source for word in words)
        reason = f"it {actor.does} paths that are known only when it runs"
        return Finding(make_part(simple.source, Effect.UNKNOWN, reason, shown), Rule.DYNAMIC)
    nothing = Finding(make_part(simple.source, Effect.WRITES_INSIDE, f"it {actor.does}"), Rule.WRITES)
    judged = judge_writing(simple.source, found, actor.does, ground) if found else nothing
    if judged.rule is Rule.WRITES and actor.effect is RIGHTFUL:
        return Finding(replace(judged.part, effect=RIGHTFUL), Rule.RIGHTS)
    over = found if base != "mv" else copying.all_targets(words[-1:], ground)
    return judged if judged.rule is not Rule.WRITES else copying.judge_replacing(base, simple, over, ground) or judged


def _find_unlisted(simple: Simple, actor: Actor) -> str:
    """Return the first flag that makes it unknown what a program writes; empty if there is none."""
    known = actor.flags.split()
    texts = [word.text for word in simple.words[1:] if re.match(r"-[^-]|--\w", word.text)] if known else []
    names = (name.partition("=")[0] for name in texts if name not in known)
    return next((one for one in names if one.startswith("--") or not {f"-{at}" for at in one[1:]} <= {*known}), "")
