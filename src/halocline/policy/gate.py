"""The one gate: may this be done? A pure decision with the rule that made it and the reason.

A call is taken apart into acts, each is judged by itself, and the strictest decision holds. The first layer that speaks
decides, and the order is: what nothing may lift (own state, ignored files, rules that deny, plan mode, a person's
*never*), what only the person's administrator may lift, what the person allowed for good, the person's other rules,
places that need care, then the preset of the approval mode. Where a file of rules cannot be read, nothing is allowed
without asking.
"""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from halocline.policy import commands
from halocline.policy.destinations import Net, destination
from halocline.policy.paths import Resolved, resolve
from halocline.policy.presets import CHANGES, LOOKS, PRESETS
from halocline.policy.rules import Act, covers, is_granted, speaks_of
from halocline.ports.tool import Summary
from halocline.protocol.events import ApprovalMode, Grant, Mode, ToolKind
from halocline.protocol.rules import Effect, Place, Rule, RuleBook, Source, Verdict
from halocline.protocol.values import Value

HARMLESS = (ToolKind.THINK, ToolKind.OTHER)

_STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.DENY: 2}


class Decision(Value, frozen=True):
    """`rule` names what decided; `reason` says it to a person; `grant` is what *always* would cover, `wider` more.

    `places` is where the call's paths led when it was judged.
    """

    verdict: Verdict
    rule: str
    reason: str
    grant: Grant | None = None
    places: tuple[str, ...] = ()
    wider: Grant | None = None


class Posture(Value, frozen=True):
    """Everything a decision depends on besides the call itself. `outputs` has copies of what its commands printed."""

    workspace: Path
    home: Path
    mode: Mode
    approval_mode: ApprovalMode
    grants: frozenset[Grant] = frozenset()
    refusals: frozenset[Grant] = frozenset()
    book: RuleBook = RuleBook()
    outputs: Path | None = None


def decide(summary: Summary, posture: Posture) -> Decision:
    """Judge one call.

    Raises:
        ToolFailure: a path or a URL is none.
    """
    paths = tuple(_resolved(path, posture) for path in summary.paths)
    decisions = [_judged(act, posture) for act in _acts(summary, paths, posture)]
    strictest = max(decisions, key=lambda decision: _STRICTNESS[decision.verdict])
    reasons = dict.fromkeys(decision.reason for decision in decisions if decision.verdict is strictest.verdict)
    return replace(strictest, reason="; ".join(reasons), places=tuple(path.path for path in paths))


def _resolved(path: str, posture: Posture) -> Resolved:
    return resolve(path, posture.workspace, posture.home, outputs=posture.outputs, ignored=posture.book.ignored)


def _acts(summary: Summary, paths: tuple[Resolved, ...], posture: Posture) -> list[Act]:
    whole = Act(kind=summary.kind, tool=summary.tool)
    acts = [replace(whole, path=path, grant=_leave_for(summary.kind, path)) for path in paths]
    if summary.url:
        acts.append(_server(whole, summary))
    if summary.command:
        acts = _commands(whole, summary, acts)
    return acts or [replace(whole, grant=Grant(summary.kind))]


def _leave_for(kind: ToolKind, path: Resolved) -> Grant:
    """What *always* means: the whole project, or just this path elsewhere."""
    return Grant(kind, "" if path.place is Place.PROJECT else path.path)


def _server(whole: Act, summary: Summary) -> Act:
    server = destination(summary.url)
    if summary.private and server.net is Net.PUBLIC:
        server = replace(server, net=Net.PRIVATE)
    host = server.hostname if server.net is Net.PUBLIC else server.exactly
    grant = Grant(summary.kind, f"clicks and typing on {host}" if summary.on_page else host)
    return replace(whole, server=server, grant=grant)


def _commands(whole: Act, summary: Summary, places: list[Act]) -> list[Act]:
    """A command and where it runs: leave for it is for both."""
    place = f"{summary.command} (in {summary.place})" if summary.place else summary.command
    grant = Grant(summary.kind, place)
    risk = commands.risk(summary.command)
    command = replace(whole, command=place, effect=Effect.UNKNOWN, risk=risk, grant=grant)
    if summary.risky and not risk:
        command = replace(command, risk="is risky, the model itself says")
    return [command, *(replace(act, grant=grant) for act in places)]


def _judged(act: Act, posture: Posture) -> Decision:
    decision = next((found for layer in LAYERS if (found := layer(act, posture))), None)
    decision = decision or Decision(Verdict.ASK, "unknown", "nothing allows it")
    if decision.verdict is Verdict.ALLOW and posture.book.problems and act.kind not in HARMLESS:
        decision = Decision(Verdict.ASK, "unreadable-rules", "; ".join(posture.book.problems))
    return replace(decision, grant=act.grant, wider=act.wider) if decision.verdict is Verdict.ASK else decision


def _own_state(act: Act, posture: Posture) -> Decision | None:
    if act.place is Place.OWN_STATE or (act.place is Place.OUTPUT and act.kind not in LOOKS):
        return Decision(Verdict.DENY, "own-state", "Halocline's own files are not touched by tools")
    return None


def _ignored(act: Act, posture: Posture) -> Decision | None:
    if act.path and act.place is Place.IGNORED:
        reason = (
            f"{act.path.shown} is hidden by an ignore file; go on without it, or ask the person to change that file"
        )
        return Decision(Verdict.DENY, "ignored", reason)
    return None


def _denied(act: Act, posture: Posture) -> Decision | None:
    return _by_rule(act, posture, Verdict.DENY, *Source)


def _plan_mode(act: Act, posture: Posture) -> Decision | None:
    if posture.mode is Mode.PLAN and act.kind in (*CHANGES, ToolKind.EXECUTE):
        return Decision(Verdict.DENY, "plan-mode", "plan mode only reads; the person switches to act mode")
    return None


def _refused(act: Act, posture: Posture) -> Decision | None:
    if act.grant in posture.refusals:
        return Decision(Verdict.DENY, "refused", "the person said never in this task")
    return None


def _managed(act: Act, posture: Posture) -> Decision | None:
    return _by_rule(act, posture, Verdict.ASK, Source.MANAGED)


def _granted(act: Act, posture: Posture) -> Decision | None:
    if is_granted(act, posture.grants):
        return Decision(Verdict.ALLOW, "granted", "the person said always in this task")
    return _by_rule(act, posture, Verdict.ALLOW, Source.GRANT)


def _link_local(act: Act, posture: Posture) -> Decision | None:
    if act.server and act.server.net is Net.LINK_LOCAL:
        reason = f"{act.server.exactly} is an address at which machines are given their keys"
        return Decision(Verdict.ASK, "link-local", reason)
    return None


def _asked(act: Act, posture: Posture) -> Decision | None:
    return _by_rule(act, posture, Verdict.ASK, Source.USER, Source.PROJECT)


def _allowed(act: Act, posture: Posture) -> Decision | None:
    return _by_rule(act, posture, Verdict.ALLOW, Source.MANAGED, Source.USER, Source.PROJECT)


def _yolo(act: Act, posture: Posture) -> Decision | None:
    return _preset(act, posture) if posture.approval_mode is ApprovalMode.YOLO else None


def _careful_place(act: Act, posture: Posture) -> Decision | None:
    path = act.path
    match act.place:
        case Place.SECRET if path:
            return Decision(Verdict.ASK, "secret", f"{path.shown} may hold secrets")
        case Place.OUTSIDE if path:
            return Decision(Verdict.ASK, "outside", f"{path.path} is outside the workspace")
        case Place.RUNS_LATER if path and act.kind in CHANGES:
            return Decision(Verdict.ASK, "runs-later", f"{path.shown} is run or obeyed by other programs later")
    return None


def _private_network(act: Act, posture: Posture) -> Decision | None:
    if act.server and act.server.net is not Net.PUBLIC:
        reason = f"{act.server.exactly} is on this machine or in a private network"
        return Decision(Verdict.ASK, "private-network", reason)
    return None


def _risky(act: Act, posture: Posture) -> Decision | None:
    if act.risk and posture.approval_mode is ApprovalMode.AUTO:
        return Decision(Verdict.ASK, "risky-command", f"the command {act.risk}")
    return None


def _preset(act: Act, posture: Posture) -> Decision | None:
    if act.kind is ToolKind.EXECUTE and act.path:
        return Decision(Verdict.ALLOW, "place", "the command runs in the workspace")
    rules = PRESETS[posture.approval_mode]
    return _said(next((rule for rule in rules if covers(rule, act, posture.workspace, posture.mode)), None))


def _by_rule(act: Act, posture: Posture, verdict: Verdict, *sources: Source) -> Decision | None:
    rules = (rule for rule in posture.book.rules if rule.decision is verdict and rule.source in sources)
    return _said(next((rule for rule in rules if speaks_of(rule, act, posture.workspace, posture.mode)), None))


def _said(rule: Rule | None) -> Decision | None:
    if rule is None:
        return None
    return Decision(rule.decision, rule.name, rule.reason or f"the rule {rule.name} says so")


LAYERS: tuple[Callable[[Act, Posture], Decision | None], ...] = (
    _own_state,
    _ignored,
    _denied,
    _plan_mode,
    _refused,
    _managed,
    _granted,
    _link_local,
    _asked,
    _allowed,
    _yolo,
    _careful_place,
    _private_network,
    _risky,
    _preset,
)
