"""Guards from deny and ask rules with paths, for files that a call reaches without naming them, as a search does."""

from collections.abc import Callable, Sequence
from functools import partial

from halocline.policy.acts import Act, path_grant
from halocline.policy.decision import PolicyContext
from halocline.policy.paths import Resolved
from halocline.policy.rules import is_granted, rule_covers
from halocline.protocol.kinds import ToolKind
from halocline.protocol.permission_rules import Place, Rule, Source, Verdict

_READS = (ToolKind.READ, ToolKind.SEARCH)


def build_guard(
    context: PolicyContext, tool: str, agent: str, places: Sequence[Resolved]
) -> Callable[[Resolved], Place | None] | None:
    """Return the guard for a `Classifier`; None if no rule needs one.

    Ask rules about the call's own `places` are left out: they were answered.
    """
    reading = Act(ToolKind.READ, tool, kinds=_READS, agent=agent)
    strict = [rule for rule in context.book.rules if rule.paths and rule.decision is not Verdict.ALLOW]
    named = [_use_place(reading, place) for place in places]
    rules = [rule for rule in strict if rule.decision is Verdict.DENY or not _covers_any(rule, named, context)]
    return partial(_guard_place, rules, reading, context) if rules else None


def _use_place(act: Act, place: Resolved) -> Act:
    return Act(act.kind, act.tool, place, kinds=act.kinds, agent=act.agent)


def _covers_any(rule: Rule, acts: Sequence[Act], context: PolicyContext) -> bool:
    return any(rule_covers(rule, act, context.workspace, context.mode) for act in acts)


def _guard_place(rules: Sequence[Rule], reading: Act, context: PolicyContext, place: Resolved) -> Place | None:
    act = _use_place(reading, place)
    covering = [rule for rule in rules if rule_covers(rule, act, context.workspace, context.mode)]
    if any(rule.decision is Verdict.DENY for rule in covering):
        return Place.IGNORED
    asking = [rule for rule in covering if rule.source is Source.MANAGED or not _is_allowed(act, context)]
    return Place.SECRET if asking else None


def _is_allowed(act: Act, context: PolicyContext) -> bool:
    """Return True if the user allowed reading there for the rest of the task."""
    place = act.path
    grants = [Act(kind, act.tool, place, grant=path_grant(kind, place)) for kind in _READS] if place else []
    return any(is_granted(one, context.grants) for one in grants)
