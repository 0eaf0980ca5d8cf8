"""Programs that are known to do more than read: what they do, and to which places."""

from halocline.policy.shell import actors, wrappers
from halocline.policy.shell.actors import ACTORS, Actor
from halocline.policy.shell.findings import Finding, Rule, part, unknown
from halocline.policy.shell.ground import Found, Ground
from halocline.policy.shell.places import OWN, reading, writing
from halocline.policy.shell.render import home_of
from halocline.policy.shell.tree import Piece, Simple, Word
from halocline.protocol.rules import Effect

LONGEST_WORD = 4_000
"""Characters; a longer one is no path."""


def acting(name: str, simple: Simple, ground: Ground) -> Finding | None:
    """What a program does that is known to do more than read; None when nothing is known."""
    texts = [word.text for word in simple.words[1:]]
    base = name.rsplit("/", 1)[-1]
    if base in actors.RIGHTS:
        return unknown(simple.source, "it runs with other rights", Rule.RIGHTS)
    if base == "git":
        return _git(simple, texts)
    sub = next((text for text in texts if not text.startswith("-")), "")
    if sub and sub in actors.NETWORK_COMMANDS.get(base, "").split():
        return Finding(part(simple.source, Effect.NETWORK, f"{base} {sub} reaches the network"), Rule.NETWORK)
    if base in ("python", "python3") and texts[:2] == ["-m", "pip"] and {"install", "download"} & set(texts):
        return Finding(part(simple.source, Effect.NETWORK, "pip reaches the network"), Rule.NETWORK)
    if base == "find" and {"-delete", "-fprint", "-fprintf", "-fls", "-fprint0"} & set(texts):
        return _deleting(simple, _below(simple), "deletes or writes", ground)
    if base in ("sed", "perl") and any(text.startswith(("-i", "--in-place")) for text in texts):
        files = [word for word in simple.words[1:] if not word.text.startswith("-")][0 if "-e" in texts else 1 :]
        return _on_targets(simple, files, Actor(Effect.WRITES_INSIDE, "edits"), ground)
    if base in ("sort", "tree") and "-o" in texts:
        return _on_targets(
            simple,
            [simple.words[texts.index("-o") + 2]] if texts[-1] != "-o" else [],
            Actor(Effect.WRITES_INSIDE, "writes to"),
            ground,
        )
    if base.startswith("mkfs"):
        return _on_targets(
            simple,
            _operands(simple, Actor(Effect.DESTRUCTIVE, "", "all")),
            Actor(Effect.DESTRUCTIVE, "makes anew"),
            ground,
        )
    if base in ACTORS:
        return _on_targets(simple, _operands(simple, ACTORS[base]), ACTORS[base], ground)
    return _touching(simple, ground)


def _below(simple: Simple) -> list[Word]:
    """What `find` may find, as a pattern for each folder that it begins in."""
    starts = [word for word in simple.words[1:] if not word.text.startswith("-")][:1] or [Word(".", (Piece("."),))]
    return [wrappers.found_in(word) for word in starts]


def _operands(simple: Simple, actor: Actor) -> list[Word]:
    """The words that are changed."""
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
    match actor.targets:
        case "all":
            return words
        case "last":
            return words[-1:]
        case "rest":
            return words[1:]
        case "of=":
            return [_behind(word) for word in words if word.text.startswith("of=")]
    return []


def _behind(word: Word) -> Word:
    text = word.text.partition("=")[2]
    return Word(word.source.partition("=")[2], (Piece(text),), word.dynamic)


def _on_targets(simple: Simple, words: list[Word], actor: Actor, ground: Ground) -> Finding | None:
    base = simple.words[0].text.rsplit("/", 1)[-1]
    if own := _touching(simple, ground):
        return own
    if actor.effect is Effect.NETWORK:
        return Finding(part(simple.source, Effect.NETWORK, f"{base} {actor.does}"), Rule.NETWORK)
    if actor.effect is Effect.UNKNOWN:
        return unknown(simple.source, f"it {actor.does}")
    if actor.effect is Effect.DESTRUCTIVE or base == "mv":
        finding = _deleting(simple, words, actor.does, ground)
        if base != "mv" or finding.rule in (Rule.FLOOR, Rule.OWN_STATE, Rule.IGNORED, Rule.OUTSIDE) or not words:
            return finding
        over = [one.path for one in ground.targets(words[-1]) if ground.facts.is_file(one.path)]
        return finding if over or words[-1].dynamic else writing(simple.source, _all(words, ground), actor.does)
    if base in ("chmod", "chown", "chgrp") and any(text.startswith(("-R", "--recursive")) for text in _texts(simple)):
        floor = _deleting(simple, words, actor.does, ground)
        if floor.rule is Rule.FLOOR:
            return floor
    found = _all(words, ground)
    if len(found) < len(words):
        shown = tuple(word.source for word in words)
        return Finding(
            part(simple.source, Effect.UNKNOWN, f"it {actor.does} places that are known only when it runs", shown),
            Rule.DYNAMIC,
        )
    return (
        writing(simple.source, found, actor.does)
        if found
        else Finding(part(simple.source, actor.effect, f"it {actor.does}"), Rule.WRITES)
    )


def _texts(simple: Simple) -> list[str]:
    return [word.text for word in simple.words[1:]]


def _all(words: list[Word], ground: Ground) -> list[Found]:
    return [one for word in words for one in ground.targets(word)]


def _deleting(simple: Simple, words: list[Word], does: str, ground: Ground) -> Finding:
    """Something that cannot be undone. What nobody may mean is never done."""
    found = _all(words, ground)
    whole = [one for word in words for one in ground.base(word)]
    workspace = ground.find(str(ground.workspace))[0].path if ground.folders else ""
    precious = [one for one in found if ground.is_precious(one.path)]
    precious += [one for one in whole if ground.is_precious(one.path) and one.path != workspace]
    shown = tuple(dict.fromkeys([one.shown for one in found] or [word.source for word in words]))
    if precious:
        return Finding(part(simple.source, Effect.DESTRUCTIVE, f"it {does} {precious[0].path}", shown), Rule.FLOOR)
    judged = writing(simple.source, found, does) if found else None
    if judged and judged.rule in (Rule.FLOOR, Rule.OWN_STATE, Rule.IGNORED):
        return judged
    if any(ground.holds_own_state(one.path) for one in found):
        return Finding(part(simple.source, Effect.DESTRUCTIVE, OWN, shown), Rule.OWN_STATE)
    reason = f"it {does} {', '.join(shown[:3])}" if shown else f"it {does}"
    return Finding(part(simple.source, Effect.DESTRUCTIVE, reason, shown), Rule.DESTROYS)


def _git(simple: Simple, texts: list[str]) -> Finding | None:
    rest = list(texts)
    while rest and rest[0].startswith("-"):
        flag = rest.pop(0)
        if flag in ("-C", "-c", "--git-dir", "--work-tree", "--exec-path", "--config-env") and rest:
            rest.pop(0)
    if not rest:
        return None
    if why := actors.git_destroys(rest):
        return Finding(part(simple.source, Effect.DESTRUCTIVE, f"git {rest[0]} {why}"), Rule.DESTROYS)
    if rest[0] in actors.NETWORK_COMMANDS["git"].split() or rest[:2] in (["remote", "update"], ["submodule", "update"]):
        return Finding(part(simple.source, Effect.NETWORK, f"git {rest[0]} reaches the network"), Rule.NETWORK)
    return None


def _touching(simple: Simple, ground: Ground) -> Finding | None:
    """A program of which nothing is known, but one of whose words leads to what no tool may touch."""
    for word in simple.words[1:]:
        text = word.text.partition("=")[2] if word.text.startswith("-") and "=" in word.text else home_of(word)
        if word.dynamic or not text or "\0" in text or len(text) > LONGEST_WORD:
            continue
        finding = reading(simple.source, ground.find(text), None)
        if finding.rule in (Rule.OWN_STATE, Rule.IGNORED):
            return Finding(part(simple.source, Effect.UNKNOWN, finding.part.reason, (text,)), finding.rule)
    return None
