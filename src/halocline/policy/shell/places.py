"""Judge reading, writing, overwriting and deleting by the kind of place that paths lead to."""

from collections.abc import Sequence
from itertools import takewhile

from halocline.policy.commands import NEVER, Use
from halocline.policy.sensitive_names import GIT_STORE
from halocline.policy.shell.findings import Finding, Rule, make_part, unknown_finding
from halocline.policy.shell.syntax.tree import Piece, Simple, Word
from halocline.policy.shell.values.ground import DEVICE, Found, Ground
from halocline.policy.shell.values.kept_places import has_unknown
from halocline.ports.shell_facts import ShellFacts
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect, Place

_GIT_STORE = compile_later(rf"/{GIT_STORE}(/|$)")
OWN = "tools may not touch Halocline's own files"


def _first_of(found: Sequence[Found], place: Place) -> Found | None:
    return next((one for one in found if one.place is place), None)


def judge_reading(
    source: str, found: Sequence[Found], form: str | None, ground: Ground, *, names_only: bool = False
) -> Finding:
    """Judge a command that only reads these paths."""
    ground.note(found, Use.READ)
    contents = () if names_only else found
    if one := _first_of(found, Place.OWN_STATE):
        rule, reason = Rule.OWN_STATE, OWN
    elif one := _first_of(found, Place.IGNORED):
        return _ignored_finding(source, Effect.READ_ONLY, one)
    elif one := _first_of(contents, Place.SECRET):
        rule, reason = Rule.SECRET, f"{one.shown} may hold secrets"
    elif one := next((one for one in contents if one.linked and ground.hides), None):
        rule, reason = Rule.SECRET, f"{one.shown} is a hard link, and an ignore file may hide its other name"
    elif one := next((one for one in contents if _GIT_STORE.search(one.path)), None):
        rule, reason = Rule.SECRET, f"git keeps all versions of files in {one.shown}, also of hidden ones; use git show"
    elif one := next(filter(_is_outside, found), None):
        rule, reason = Rule.OUTSIDE, f"{one.path} is outside the workspace"
    else:
        return Finding(make_part(source, Effect.READ_ONLY), Rule.READS, form)
    return Finding(make_part(source, Effect.READ_ONLY, reason, (one.shown,)), rule)


def judge_listing(source: str, words: Sequence[Word], ground: Ground) -> Finding | None:
    """Return the finding for patterns that make the shell list a sensitive folder; None if there is none."""
    patterns = [one for word in words for one in word.possible if one.is_pattern]
    if any(has_unknown(folder_of(one).text) for one in patterns):
        return unknown_finding(source, "it lists a folder that is known only when it runs", Rule.DYNAMIC)
    found = [place for one in patterns for place in (*ground.targets(one), *ground.targets(folder_of(one)))]
    finding = judge_reading(source, found, None, ground, names_only=True)
    return None if finding.rule is Rule.READS else finding


def folder_of(pattern: Word) -> Word:
    """Return the folder before the first active piece of a pattern."""
    plain = list(takewhile(lambda piece: not piece.active, pattern.pieces))
    head = "".join(piece.text for piece in plain).rpartition("/")
    return Word("", (Piece(f"{head[0]}{head[1]}" or "."),), quoted=pattern.quoted)


def _ignored_finding(source: str, effect: Effect, hidden: Found) -> Finding:
    reason = f"{hidden.shown} is hidden by an ignore file, which only the user may change"
    return Finding(make_part(source, effect, reason, (hidden.shown,)), Rule.IGNORED)


def _is_outside(one: Found) -> bool:
    if one.place is Place.SECRET:
        return one.shown == one.path
    return one.place is Place.OUTSIDE and one.path != "/dev/null"


def judge_writing(source: str, found: Sequence[Found], does: str, ground: Ground) -> Finding:
    """Judge a command that changes these paths."""
    ground.note(found, Use.CHANGE)
    targets = tuple(dict.fromkeys(one.shown for one in found))
    effect = Effect.WRITES_INSIDE
    if any(DEVICE.match(one.path) for one in found):
        effect, rule, reason = Effect.DESTRUCTIVE, Rule.FLOOR, "it writes to a device"
    elif _first_of(found, Place.OWN_STATE):
        effect, rule, reason = Effect.WRITES_OUTSIDE, Rule.OWN_STATE, OWN
    elif one := _first_of(found, Place.IGNORED):
        return _ignored_finding(source, effect, one)
    elif one := next(filter(_is_outside, found), None):
        effect, rule, reason = Effect.WRITES_OUTSIDE, Rule.OUTSIDE, f"it {does} {one.path}, outside the workspace"
    elif one := _first_of(found, Place.SECRET):
        rule, reason = Rule.SECRET, f"{one.shown} may hold secrets"
    elif one := _first_of(found, Place.RUNS_LATER):
        rule, reason = Rule.LATER, f"other programs run {one.shown} or read it as configuration"
    else:
        rule, reason = Rule.WRITES, f"it {does} {', '.join(targets[:3])}"
    return Finding(make_part(source, effect, reason, targets), rule)


def judge_overwriting(source: str, found: Sequence[Found], facts: ShellFacts) -> Finding | None:
    """Judge a command that overwrites files; None if none of them exists."""
    over = [one for one in found if facts.is_overwritten(one.path)]
    if not over:
        return None
    targets = tuple(dict.fromkeys(one.shown for one in over))
    reason = f"it overwrites {', '.join(targets[:3])}"
    return Finding(make_part(source, Effect.DESTRUCTIVE, reason, targets), Rule.DESTROYS)


_OF_ENTRIES = frozenset({"rm", "rmdir", "unlink", "mv"})
"""Programs that delete a link that they are given, and not what it leads to."""


def judge_deleting(simple: Simple, words: list[Word], does: str, ground: Ground) -> Finding:
    """Judge a deletion. Some deletions are never allowed."""
    is_of_entries = simple.program in _OF_ENTRIES
    found = [one for word in words for one in (ground.entries(word) if is_of_entries else ground.targets(word))]
    whole = [one for word in words for one in ground.base(word)]
    workspace = ground.find(str(ground.workspace))[0].path if ground.folders else ""
    ground.note(found, Use.DELETE)
    unlisted = [one for one in found if not ground.note_below(one, Use.DELETE)]
    precious = [one for one in found if ground.is_precious(one.path)]
    precious += [one for one in whole if ground.is_precious(one.path) and one.path != workspace]
    shown = tuple(dict.fromkeys([one.shown for one in found] or [word.source for word in words]))
    judged = judge_writing(simple.source, found, does, ground) if found and not precious else None
    if judged and judged.rule in NEVER:
        return judged
    if precious:
        rule, reason = Rule.FLOOR, f"it {does} {precious[0].path}"
    elif any(ground.holds_own_state(one.path) for one in found):
        rule, reason = Rule.OWN_STATE, OWN
    elif unlisted:
        rule, reason = Rule.LEADS_ANYWHERE, f"it {does} too many files to tell whether a rule guards one of them"
    else:
        rule, reason = Rule.DESTROYS, f"it {does} {', '.join(shown[:3])}" if shown else f"it {does}"
    return Finding(make_part(simple.source, Effect.DESTRUCTIVE, reason, shown), rule)
