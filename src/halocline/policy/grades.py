"""Grade what a call would do if it were allowed, and name the gravest reason. Pure."""

from halocline.policy.acts import Act
from halocline.policy.commands import CAREFUL, Finding, Rule
from halocline.policy.decision import PolicyContext
from halocline.policy.destinations import Net
from halocline.policy.holding import LOSES, why_lost
from halocline.policy.presets import CHANGES
from halocline.protocol.permission_rules import Effect, Grade, Place

_OF_RULES = {
    **dict.fromkeys((Rule.SECRET, Rule.SENDS), Grade.SECRET),
    **dict.fromkeys((Rule.OUTSIDE, Rule.NETWORK, Rule.RIGHTS, Rule.LATER, Rule.LEADS_ANYWHERE), Grade.OUTSIDE),
    **dict.fromkeys((Rule.ENVIRONMENT, Rule.HISTORY), Grade.OUTSIDE),
}
_ORDER = tuple(Grade)


def grade_acts(acts: list[Act], context: PolicyContext) -> tuple[Grade, str]:
    """Return the grade of the gravest act, and its reason; no reason for an ordinary one."""
    graded = [_grade_act(act, context) for act in acts]
    return max(graded, key=lambda one: _ORDER.index(one[0]), default=(Grade.ORDINARY, ""))


def _grade_act(act: Act, context: PolicyContext) -> tuple[Grade, str]:
    if act.judged is not None:
        return _grade_parts(act.judged.simple, context)
    rule, reason = why_careful(act)
    return (Grade.SECRET if rule == Rule.SECRET else Grade.OUTSIDE if rule else Grade.ORDINARY), reason


def why_careful(act: Act) -> tuple[str, str]:
    """Say why the place or server of an act needs care, with the rule; empty for any other."""
    if act.path and act.path.place in CAREFUL and (act.place is not Place.RUNS_LATER or act.kind in CHANGES):
        rule, reason = CAREFUL[act.path.place]
        return rule.value, reason.format(shown=act.path.shown, path=act.path.path)
    if act.server and act.server.net is not Net.PUBLIC:
        return "private-network", f"{act.server.exactly} is on this machine or a private network"
    return "", ""


def _grade_parts(parts: tuple[Finding, ...], context: PolicyContext) -> tuple[Grade, str]:
    """Grade a command by its gravest parts. A secret that is read where another part uses the network may leave."""
    graded = [(*_grade_part(part, context), part.rule) for part in parts]
    top = max((grade for grade, _, _ in graded), key=_ORDER.index, default=Grade.ORDINARY)
    if top is Grade.ORDINARY:
        return top, ""
    named = [reason for grade, reason, rule in graded if grade is top or (grade.is_grave and top.is_grave)]
    named += [reason for _, reason, rule in graded if top is Grade.SECRET and rule is Rule.NETWORK]
    return top, "; ".join(dict.fromkeys(filter(None, named)))


def _grade_part(part: Finding, context: PolicyContext) -> tuple[Grade, str]:
    if part.rule is Rule.DESTROYS:
        lost = why_lost(part, context.facts, list_roots(context))
        return (Grade.FINAL, lost) if lost else (Grade.ORDINARY, part.reason)
    if part.rule is Rule.LEADS_ANYWHERE and part.effect is Effect.DESTRUCTIVE:
        return Grade.FINAL, part.reason
    return _OF_RULES.get(part.rule, Grade.ORDINARY), part.reason


def find_lost(act: Act, context: PolicyContext) -> tuple[str, ...]:
    """Return what a command may lose that no checkpoint holds, for the log; "." if there are no checkpoints."""
    parts = [part for part in act.judged.simple if part.rule is Rule.DESTROYS] if act.judged else []
    paths = [touch.path.path for part in parts for touch in part.touches if touch.use in LOSES]
    if not context.facts.has_checkpoints:
        return (".",)
    return context.facts.find_unkept(paths, list_roots(context)) if paths else ()


def list_roots(context: PolicyContext) -> tuple[str, ...]:
    """Return the folders of a task, the workspace first."""
    return (str(context.workspace), *(root.path for root in context.roots))
