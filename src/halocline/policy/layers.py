"""The layers of the gate in their order (`LAYERS`): each has an opinion on an act, or leaves it to the next one."""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from halocline.policy.acts import Act
from halocline.policy.commands import STRICTNESS, Rule as Reason
from halocline.policy.decision import Decision, PolicyContext
from halocline.policy.destinations import Net
from halocline.policy.grades import list_roots, why_careful
from halocline.policy.holding import why_not_held
from halocline.policy.presets import CHANGES, LOOKS, PRESETS
from halocline.policy.rules import find_allowing, find_covered, is_granted, rule_covers
from halocline.policy.shell.spellings import UNREAD, names_no_program
from halocline.protocol.kinds import ApprovalMode, Mode, SandboxStanding, ToolKind
from halocline.protocol.permission_rules import Place, Rule, Source, Verdict

LEAVES = "leaves-sandbox"
"""The rule that asks before a command runs outside the sandbox; it cannot be granted permanently."""
REMEMBERS = "memory"
"""The rule that asks before a note is kept for later tasks; it cannot be granted permanently either."""


def _untouched_place(act: Act, context: PolicyContext) -> Decision | None:
    if act.place is Place.OWN_STATE or (act.place is Place.OUTPUT and act.kind not in LOOKS):
        return Decision(Verdict.DENY, "own-state", "tools may not touch Halocline's own files")
    if act.path and act.place is Place.IGNORED:
        reason = f"{act.path.shown} is hidden by an ignore file, which only the user may change"
        return Decision(Verdict.DENY, "ignored", reason)
    return None


def _by_bound(act: Act, context: PolicyContext) -> Decision | None:
    """Apply what no mode and no grant overrides for a command: the floor, command permissions, plan mode."""
    if act.judged and act.judged.binding:
        return Decision(act.judged.decision, act.judged.rule, act.judged.reason)
    return None


def _plan_mode(act: Act, context: PolicyContext) -> Decision | None:
    if context.mode is Mode.PLAN and act.mcp and not act.read_only:
        named = [rule for rule in context.book.rules if rule.decision is Verdict.ALLOW and rule.modes]
        if not find_allowing(named, act, context.workspace, context.mode):
            reason = f"plan mode is read-only, and {act.mcp} is not declared read-only"
            return Decision(Verdict.DENY, "plan-mode", reason)
    elif context.mode is Mode.PLAN and not act.mcp and act.judged is None and act.kind in (*CHANGES, ToolKind.EXECUTE):
        more = "" if context.subagent else "; only the user can switch to act mode"
        return Decision(Verdict.DENY, "plan-mode", f"plan mode is read-only{more}")
    return None


def _by_refusal(act: Act, context: PolicyContext) -> Decision | None:
    if act.grant and replace(act.grant, scripts=()) in {replace(refused, scripts=()) for refused in context.refusals}:
        return Decision(Verdict.DENY, "refused", "denied for the rest of the task")
    return None


def _by_sandbox_rule(act: Act, context: PolicyContext) -> Decision | None:
    """Apply a required sandbox. Leaving the sandbox asks every time, in every mode."""
    box = context.sandbox
    if act.in_sandbox is None or box.standing is SandboxStanding.OFF:
        return None
    if box.required and box.standing is not SandboxStanding.FULL:
        why = f"commands must run in a complete sandbox here, which is not available: {'; '.join(box.lacks)}"
        return Decision(Verdict.DENY, "sandbox-required", why)
    if box.required and not act.in_sandbox:
        return Decision(Verdict.DENY, "sandbox-required", "no command may run outside the sandbox here")
    if not act.in_sandbox and box.standing is not SandboxStanding.NONE:
        return Decision(Verdict.ASK, LEAVES, "it would run outside the sandbox, which needs approval each time")
    return None


def _by_memory(act: Act, context: PolicyContext) -> Decision | None:
    """Ask before each note, which steers every later task: no grant and no mode but yolo skips that."""
    if act.tool == "remember" and context.approval_mode is not ApprovalMode.YOLO:
        return Decision(Verdict.ASK, REMEMBERS, "every later task in this folder starts by reading this note")
    return None


def _by_grant(act: Act, context: PolicyContext) -> Decision | None:
    if is_granted(act, context.grants):
        return Decision(Verdict.ALLOW, "granted", "the user allowed this for the rest of the task")
    return _by_allowing_rule(act, context, sources=(Source.GRANT,))


def _link_local(act: Act, context: PolicyContext) -> Decision | None:
    if act.server and act.server.net is Net.LINK_LOCAL:
        reason = f"{act.server.exactly} is a link-local or cloud metadata address, which may hand out credentials"
        return Decision(Verdict.ASK, "link-local", reason)
    return None


def _another_tool(act: Act, context: PolicyContext) -> Decision | None:
    """Ask when a server redefined a tool: no one allowed the new definition, in any mode."""
    if not act.changed or act.grant in context.grants:
        return None
    return Decision(Verdict.ASK, "mcp-changed", f"{act.mcp} changed its definition since you last allowed it")


def _by_asking_rule(act: Act, context: PolicyContext, *, sources: Sequence[Source]) -> Decision | None:
    """Find an ask rule, or a deny rule about places that the call may change: that is unknown, so it asks."""
    if found := _by_strict_rule(act, context, Verdict.ASK, sources, possibly=True):
        return found
    denied = _by_strict_rule(act, context, Verdict.DENY, sources, possibly=True)
    if denied:
        reason = f"the command may change what a rule guards: {denied.reason}"
        return replace(denied, verdict=Verdict.ASK, reason=reason)
    return _by_unread(act, context, sources)


def _by_unread(act: Act, context: PolicyContext, sources: Sequence[Source]) -> Decision | None:
    """Ask about a command that cannot be read in full if a rule denies something: it may run that."""
    within = act.judged.within if act.judged else ()
    part = act.judged and next((one for one in act.judged.simple if one.rule is Reason.NOT_ANALYSED), None)
    untold = (
        "not all of what it runs can be read" if UNREAD in within else "a program's name is known only when it runs"
    )
    for rule in context.book.rules if part or any(map(names_no_program, within)) else ():
        about = (rule.argv or rule.paths) and rule.decision is Verdict.DENY and rule.source in sources
        if about and rule_covers(replace(rule, argv=(), paths=()), act, context.workspace, context.mode):
            why = part.reason if part else untold
            return Decision(Verdict.ASK, rule.name, f"{why}, so the rule {rule.name} cannot be checked")
    return None


def _by_sandbox(act: Act, context: PolicyContext) -> Decision | None:
    """Allow commands in auto mode if the sandbox holds every reason against them."""
    held = act.in_sandbox and context.sandbox.standing is SandboxStanding.FULL
    if not held or act.judged is None or context.approval_mode is not ApprovalMode.AUTO or act.judged.reads:
        return None
    roots = list_roots(context)
    for part in sorted(act.judged.simple, key=lambda part: STRICTNESS[part.rule], reverse=True):
        if why := why_not_held(part, context.facts, context.sandbox, roots):
            return Decision(Verdict.ASK, part.rule.value, why)
    if act.risky:
        return Decision(Verdict.ASK, "model-warned", "the model itself flagged it as risky")
    return Decision(Verdict.ALLOW, "sandboxed", "it runs in the sandbox")


def _careful_place(act: Act, context: PolicyContext) -> Decision | None:
    rule, reason = why_careful(act)
    if act.path and act.path.linked and act.kind in CHANGES and rule in ("", Reason.LATER):
        reason = f"{act.path.shown} is a hard link, so the file changes under its other names too"
        return Decision(Verdict.ASK, "hard-link", reason)
    return Decision(Verdict.ASK, rule, reason) if rule else None


def _by_command(act: Act, context: PolicyContext) -> Decision | None:
    found = act.judged
    return Decision(found.decision, found.rule, found.reason, canonical=found.canonical) if found else None


def _by_preset(act: Act, context: PolicyContext) -> Decision | None:
    covering = (one for one in PRESETS[context.approval_mode] if rule_covers(one, act, context.workspace, context.mode))
    return _rule_decision(next(covering, None))


def _by_strict_rule(
    act: Act, context: PolicyContext, verdict: Verdict, sources: Sequence[Source], *, possibly: bool = False
) -> Decision | None:
    """Find a deny or ask rule; it may match any part of a command, and the places that it uses or `possibly` uses."""
    for rule in context.book.rules:
        if rule.decision is verdict and rule.source in sources:
            covered = find_covered(rule, act, context.workspace, context.mode, possibly=possibly)
            if covered:
                return _rule_decision(rule, covered.path.shown if covered.path and covered is not act else "")
    return None


def _by_allowing_rule(act: Act, context: PolicyContext, *, sources: Sequence[Source]) -> Decision | None:
    """Find allow rules; together they must cover every part of a command that does more than read."""
    rules = [rule for rule in context.book.rules if rule.decision is Verdict.ALLOW and rule.source in sources]
    may_edit = partial(_may_edit, context=context)
    return _rule_decision(find_allowing(rules, act, context.workspace, context.mode, may_edit))


def _may_edit(edit: Act, context: PolicyContext) -> bool:
    """Return True if an edit by a redirection would be allowed on its own."""
    found = next((decision for layer in LAYERS if (decision := layer(edit, context))), None)
    if found is None or found.verdict is not Verdict.ALLOW or edit.path is None:
        return False
    paths, find_unkept = [edit.path.path], context.facts.find_unkept
    return context.approval_mode is ApprovalMode.YOLO or not find_unkept(paths, list_roots(context))


def _rule_decision(rule: Rule | None, place: str = "") -> Decision | None:
    """Return the decision of a rule. `place` is the one that a command uses."""
    if rule is None:
        return None
    reason = rule.reason or f"the rule {rule.name} says {rule.decision}"
    return Decision(rule.decision, rule.name, f"{reason} ({place})" if place else reason)


LAYERS: tuple[Callable[[Act, PolicyContext], Decision | None], ...] = (
    _untouched_place,
    partial(_by_strict_rule, verdict=Verdict.DENY, sources=tuple(Source)),
    _by_bound,
    _plan_mode,
    _by_refusal,
    partial(_by_asking_rule, sources=(Source.MANAGED,)),
    _by_sandbox_rule,
    _by_memory,
    _another_tool,
    _by_grant,
    _link_local,
    partial(_by_asking_rule, sources=(Source.USER, Source.PROJECT)),
    partial(_by_allowing_rule, sources=(Source.MANAGED, Source.USER, Source.PROJECT)),
    lambda act, context: _by_preset(act, context) if context.approval_mode is ApprovalMode.YOLO else None,
    _by_sandbox,
    _careful_place,
    _by_command,
    _by_preset,
)
