"""The approval gate: decide whether a call may run, with the rule that decided and the reason. Pure.

A call is split into acts. Each act is judged on its own, and the strictest decision wins. For one act, the first layer
with an opinion decides, in this order: what nothing may override (Halocline's own files, ignored files, deny rules,
commands that are never allowed, plan mode, the user's *never*), what only the administrator may override, permanent
grants, the user's other rules, sensitive places, then the approval mode. While a rules file cannot be read, nothing is
allowed without asking.
"""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from halocline.policy.acts import Act, acts_of
from halocline.policy.commands import Circumstances, may_lose
from halocline.policy.destinations import Net
from halocline.policy.paths import Classifier, Resolved, resolve_path
from halocline.policy.presets import CHANGES, LOOKS, PRESETS
from halocline.policy.rules import changed_scripts, find_allowing, is_granted, rule_applies, rule_covers
from halocline.ports.shell_facts import NoFacts, ShellFacts
from halocline.ports.tool import Summary
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import ApprovalMode, Grant, Mode, SandboxStanding, ToolKind
from halocline.protocol.permission_rules import CommandPart, OtherRoot, Place, Rule, RuleBook, Source, Verdict
from halocline.protocol.values import Value

LEAVES = "leaves-sandbox"
"""The rule that asks before a command runs outside the sandbox; it cannot be granted permanently."""
REMEMBERS = "memory"
"""The rule that asks before a note is kept for later tasks; it cannot be granted permanently either."""
HARMLESS = (ToolKind.THINK, ToolKind.OTHER)

_STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.DENY: 2}


class Decision(Value, frozen=True):
    """The verdict on a call, with the `rule` that decided and the `reason` to show.

    `grant` is what *always* would cover, `wider` a broader offer. `places` are the call's resolved paths when it was
    judged, `identities` the files found there. `parts` are the commands in a command line. `canonical` is the form in
    which a read-only command is run. `scripts` are the workspace files that it runs, each with a fingerprint.
    """

    verdict: Verdict
    rule: str
    reason: str
    grant: Grant | None = None
    places: tuple[str, ...] = ()
    wider: Grant | None = None
    parts: tuple[CommandPart, ...] = ()
    canonical: str | None = None
    scripts: tuple[str, ...] = ()
    identities: tuple[str, ...] = ()


class PolicyContext(Value, frozen=True):
    """Everything a decision depends on besides the call itself.

    `outputs` is the folder with saved command output. `exported` are the variables that earlier commands changed in
    the shell, `path` is PATH if it is one of them; `sandbox` is the state of the sandbox. `roots` are the task's
    folders besides the workspace. `subagent`: plan mode was set for a read-only sub-agent, not by the user.
    """

    workspace: Path
    home: Path
    mode: Mode
    approval_mode: ApprovalMode
    grants: frozenset[Grant] = frozenset()
    refusals: frozenset[Grant] = frozenset()
    book: RuleBook = RuleBook()
    outputs: Path | None = None
    facts: ShellFacts = NoFacts()
    exported: tuple[str, ...] = ()
    path: str = ""
    sandbox: SandboxChecked = SandboxChecked()
    roots: tuple[OtherRoot, ...] = ()
    subagent: bool = False


def decide_call(summary: Summary, context: PolicyContext) -> Decision:
    """Judge one call.

    Raises:
        ToolFailure: a path or URL is invalid.
    """
    paths = _resolve_paths(summary, context)
    acts = acts_of(summary, paths, _find_circumstances(summary, paths, context))
    decisions = [_judge_act(act, context) for act in acts]
    strictest = max(decisions, key=lambda decision: _STRICTNESS[decision.verdict])
    reasons = dict.fromkeys(decision.reason for decision in decisions if decision.verdict is strictest.verdict)
    return replace(
        _of_command(acts[0], strictest, context),
        reason="; ".join(reasons),
        places=tuple(path.path for path in paths),
        identities=tuple(path.identity for path in paths),
    )


def find_places(summary: Summary, context: PolicyContext) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a call's resolved paths as of now, and the identities of the files there. Raises ToolFailure."""
    paths = _resolve_paths(summary, context)
    return tuple(path.path for path in paths), tuple(path.identity for path in paths)


def build_classifier(context: PolicyContext) -> Classifier:
    """Return the classifier of places for a task."""
    return Classifier(
        context.workspace,
        context.home,
        outputs=context.outputs,
        ignored=context.book.ignored,
        roots=context.roots,
    )


def find_scripts(summary: Summary, context: PolicyContext) -> tuple[str, ...]:
    """Return the scripts that a command would run now. Raises ToolFailure if a path is invalid."""
    paths = _resolve_paths(summary, context)
    return acts_of(summary, paths, _find_circumstances(summary, paths, context))[0].scripts


def _resolve_paths(summary: Summary, context: PolicyContext) -> tuple[Resolved, ...]:
    return tuple(
        resolve_path(
            path,
            context.workspace,
            context.home,
            outputs=context.outputs,
            ignored=context.book.ignored,
            roots=context.roots,
        )
        for path in summary.paths
    )


def _find_circumstances(summary: Summary, paths: tuple[Resolved, ...], context: PolicyContext) -> Circumstances:
    """Describe where a command would run. With a place but no folder, it is typed into a program running there."""
    return Circumstances(
        workspace=context.workspace,
        home=context.home,
        folder=paths[-1].path if paths else str(context.workspace),
        facts=context.facts,
        mode=context.mode,
        approval_mode=context.approval_mode,
        typed=bool(summary.place) and not paths,
        risky=summary.risky,
        exported=context.exported,
        path=context.path,
        ignored=context.book.ignored,
        permissions=context.book.permissions,
        roots=context.roots,
    )


def _of_command(act: Act, decision: Decision, context: PolicyContext) -> Decision:
    """Add what a command consists of. In plan mode a read-only command always runs in its canonical form."""
    if act.judged is None:
        return decision
    always = context.mode is Mode.PLAN and decision.verdict is Verdict.ALLOW
    canonical = act.judged.canonical if always else decision.canonical
    return replace(decision, parts=act.judged.parts, canonical=canonical, scripts=act.scripts)


def _judge_act(act: Act, context: PolicyContext) -> Decision:
    decision = next((found for layer in LAYERS if (found := layer(act, context))), None)
    decision = _in_its_form(decision or Decision(Verdict.ASK, "unknown", "no rule or mode allows it"), act)
    if context.book.problems and decision.verdict is not Verdict.DENY and (act.kind not in HARMLESS or act.mcp):
        decision = _with_problems(decision, context)
    if context.subagent and decision.rule == "plan-mode":
        return replace(decision, rule="subagent", reason=decision.reason.replace("plan mode", "a sub-agent", 1))
    if decision.verdict is not Verdict.ASK or decision.rule in (LEAVES, REMEMBERS):
        return decision
    if changed := changed_scripts(act, context.grants, context.book.rules) if act.scripts else ():
        reason = f"{', '.join(changed)} changed since you allowed this; {decision.reason}"
        decision = replace(decision, reason=reason)
    return replace(decision, grant=act.grant, wider=act.wider)


def _in_its_form(decision: Decision, act: Act) -> Decision:
    """Force the canonical form on an allowed command that would be forbidden in every mode as written."""
    if act.judged and act.judged.only_form and decision.verdict is Verdict.ALLOW:
        return replace(decision, canonical=act.judged.only_form)
    return decision


def _with_problems(decision: Decision, context: PolicyContext) -> Decision:
    """Turn allow into ask while a rules file cannot be read, and say so in the reason."""
    problems = "; ".join(context.book.problems)
    if decision.verdict is Verdict.ALLOW:
        return Decision(Verdict.ASK, "unreadable-rules", problems)
    return replace(decision, reason=f"{decision.reason}; {problems}")


def _own_state(act: Act, context: PolicyContext) -> Decision | None:
    if act.place is Place.OWN_STATE or (act.place is Place.OUTPUT and act.kind not in LOOKS):
        return Decision(Verdict.DENY, "own-state", "tools may not touch Halocline's own files")
    return None


def _by_ignore_file(act: Act, context: PolicyContext) -> Decision | None:
    if act.path and act.place is Place.IGNORED:
        reason = f"{act.path.shown} is hidden by an ignore file, which only the user may change"
        return Decision(Verdict.DENY, "ignored", reason)
    return None


def _by_denial(act: Act, context: PolicyContext) -> Decision | None:
    return _by_strict_rule(act, context, Verdict.DENY, *Source)


def _by_bound(act: Act, context: PolicyContext) -> Decision | None:
    """Apply what no mode and no grant overrides for a command: the floor, command permissions, plan mode."""
    if act.judged and act.judged.binding:
        return Decision(act.judged.decision, act.judged.rule, act.judged.reason)
    return None


def _plan_mode(act: Act, context: PolicyContext) -> Decision | None:
    if context.mode is Mode.PLAN and act.mcp:
        return _plan_for_servers(act, context)
    if context.mode is Mode.PLAN and act.judged is None and act.kind in (*CHANGES, ToolKind.EXECUTE):
        more = "" if context.subagent else "; only the user can switch to act mode"
        return Decision(Verdict.DENY, "plan-mode", f"plan mode is read-only{more}")
    return None


def _plan_for_servers(act: Act, context: PolicyContext) -> Decision | None:
    """Deny tools that their server does not declare read-only, unless an allow rule names plan mode."""
    named = [rule for rule in context.book.rules if rule.decision is Verdict.ALLOW and rule.modes]
    if act.read_only or find_allowing(named, act, context.workspace, context.mode):
        return None
    return Decision(Verdict.DENY, "plan-mode", f"plan mode is read-only, and {act.mcp} is not declared read-only")


def _by_refusal(act: Act, context: PolicyContext) -> Decision | None:
    if act.grant and replace(act.grant, scripts=()) in {replace(refused, scripts=()) for refused in context.refusals}:
        return Decision(Verdict.DENY, "refused", "the user denied this for the rest of the task")
    return None


def _by_managed(act: Act, context: PolicyContext) -> Decision | None:
    return _by_strict_rule(act, context, Verdict.ASK, Source.MANAGED)


def _by_sandbox_rule(act: Act, context: PolicyContext) -> Decision | None:
    """Apply a required sandbox. Leaving the sandbox asks every time, in every mode."""
    box = context.sandbox
    if act.in_sandbox is None or box.standing is SandboxStanding.OFF:
        return None
    if box.required and box.standing is not SandboxStanding.FULL:
        return Decision(
            Verdict.DENY,
            "sandbox-required",
            f"commands must run in a complete sandbox here, which is not available: {'; '.join(box.lacks)}",
        )
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
    return _allowed_by(act, context, Source.GRANT)


def _link_local(act: Act, context: PolicyContext) -> Decision | None:
    if act.server and act.server.net is Net.LINK_LOCAL:
        reason = f"{act.server.exactly} is a link-local or cloud metadata address, which may hand out credentials"
        return Decision(Verdict.ASK, "link-local", reason)
    return None


def _another_tool(act: Act, context: PolicyContext) -> Decision | None:
    """Ask when a server redefined a tool: nobody allowed the new definition, in any mode."""
    if not act.changed or act.grant in context.grants:
        return None
    return Decision(Verdict.ASK, "mcp-changed", f"{act.mcp} changed its definition since you last allowed it")


def _by_asking_rule(act: Act, context: PolicyContext) -> Decision | None:
    return _by_strict_rule(act, context, Verdict.ASK, Source.USER, Source.PROJECT)


def _by_allowing_rule(act: Act, context: PolicyContext) -> Decision | None:
    return _allowed_by(act, context, Source.MANAGED, Source.USER, Source.PROJECT)


def _by_yolo(act: Act, context: PolicyContext) -> Decision | None:
    return _by_preset(act, context) if context.approval_mode is ApprovalMode.YOLO else None


def _by_sandbox(act: Act, context: PolicyContext) -> Decision | None:
    """Allow sandboxed commands in auto mode, except those that may destroy work in the workspace."""
    held = act.in_sandbox and context.sandbox.standing is SandboxStanding.FULL
    if not held or act.judged is None or context.approval_mode is not ApprovalMode.AUTO or act.judged.reads:
        return None
    asks = act.judged.decision is not Verdict.ALLOW  # what is allowed without a sandbox is allowed in one
    if asks and (why := may_lose(act.command, act.judged)):
        return Decision(Verdict.ASK, "risky-command", f"the command {why}")
    if act.risky:
        return Decision(Verdict.ASK, "model-warned", "the model itself flagged it as risky")
    return Decision(Verdict.ALLOW, "sandboxed", "it runs in the sandbox")


def _careful_place(act: Act, context: PolicyContext) -> Decision | None:
    path = act.path
    match act.place:
        case Place.SECRET if path:
            return Decision(Verdict.ASK, "secret", f"{path.shown} may hold secrets")
        case Place.OUTSIDE if path:
            return Decision(Verdict.ASK, "outside", f"{path.path} is outside the workspace")
        case _ if path and path.linked and act.kind in CHANGES:
            return Decision(
                Verdict.ASK, "hard-link", f"{path.shown} is a hard link, so the file changes under its other names too"
            )
        case Place.RUNS_LATER if path and act.kind in CHANGES:
            return Decision(Verdict.ASK, "runs-later", f"other programs run {path.shown} or read it as configuration")
    return None


def _private_network(act: Act, context: PolicyContext) -> Decision | None:
    if act.server and act.server.net is not Net.PUBLIC:
        reason = f"{act.server.exactly} is on this machine or a private network"
        return Decision(Verdict.ASK, "private-network", reason)
    return None


def _by_command(act: Act, context: PolicyContext) -> Decision | None:
    if act.judged is None:
        return None
    return Decision(act.judged.decision, act.judged.rule, act.judged.reason, canonical=act.judged.canonical)


def _by_preset(act: Act, context: PolicyContext) -> Decision | None:
    rules = PRESETS[context.approval_mode]
    return _rule_decision(
        next((rule for rule in rules if rule_covers(rule, act, context.workspace, context.mode)), None)
    )


def _by_strict_rule(act: Act, context: PolicyContext, verdict: Verdict, *sources: Source) -> Decision | None:
    """Find a deny or ask rule; it may match any part of a command."""
    rules = (rule for rule in context.book.rules if rule.decision is verdict and rule.source in sources)
    return _rule_decision(
        next((rule for rule in rules if rule_applies(rule, act, context.workspace, context.mode)), None)
    )


def _allowed_by(act: Act, context: PolicyContext, *sources: Source) -> Decision | None:
    """Find allow rules; together they must cover every part of a command that does more than read."""
    rules = [rule for rule in context.book.rules if rule.decision is Verdict.ALLOW and rule.source in sources]
    return _rule_decision(find_allowing(rules, act, context.workspace, context.mode))


def _rule_decision(rule: Rule | None) -> Decision | None:
    if rule is None:
        return None
    return Decision(rule.decision, rule.name, rule.reason or f"the rule {rule.name} says {rule.decision}")


LAYERS: tuple[Callable[[Act, PolicyContext], Decision | None], ...] = (
    _own_state,
    _by_ignore_file,
    _by_denial,
    _by_bound,
    _plan_mode,
    _by_refusal,
    _by_managed,
    _by_sandbox_rule,
    _by_memory,
    _another_tool,
    _by_grant,
    _link_local,
    _by_asking_rule,
    _by_allowing_rule,
    _by_yolo,
    _by_sandbox,
    _careful_place,
    _private_network,
    _by_command,
    _by_preset,
)
