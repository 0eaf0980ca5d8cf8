"""The one gate: may this be done? A pure decision with the rule that made it and the reason.

The first rule that speaks decides, and the order is from strict to lenient: what nothing may lift (own state, plan
mode, a person's *never*), what a person allowed for good, places that need care, then the table of the approval mode.
"""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from msgspec.structs import replace

from halocline.policy import commands
from halocline.policy.destinations import Destination, Net, destination
from halocline.policy.paths import Place, Resolved, resolve
from halocline.ports.tool import Summary
from halocline.protocol.events import ApprovalMode, Grant, Mode, SandboxChecked, SandboxStanding, ToolKind
from halocline.protocol.values import Value

CHANGES = frozenset({ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})
LOOKS = frozenset({ToolKind.READ, ToolKind.SEARCH})
HARMLESS = frozenset({ToolKind.THINK, ToolKind.OTHER})


class Verdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


_STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.DENY: 2}


class Decision(Value, frozen=True):
    """`rule` names what decided; `reason` says it to a person; `grant` is what *always* would cover.

    `places` is where the call's paths led when it was judged.
    """

    verdict: Verdict
    rule: str
    reason: str
    grant: Grant | None = None
    places: tuple[str, ...] = ()


class Posture(Value, frozen=True):
    """Everything a decision depends on besides the call itself. `sandbox` is how commands are held."""

    workspace: Path
    home: Path
    mode: Mode
    approval_mode: ApprovalMode
    grants: frozenset[Grant] = frozenset()
    refusals: frozenset[Grant] = frozenset()
    sandbox: SandboxChecked = SandboxChecked()


class Question(Value, frozen=True):
    """One call, with its paths resolved. `server` is where its URL leads."""

    summary: Summary
    paths: tuple[Resolved, ...]
    grant: Grant
    posture: Posture
    server: Destination | None = None

    def first(self, place: Place) -> Resolved | None:
        return next((path for path in self.paths if path.place is place), None)


Rule = Callable[[Question], Decision | None]


def decide(summary: Summary, posture: Posture) -> Decision:
    """Judge one call. Of several files each is judged by itself, and the strictest decision holds for all.

    Raises:
        ToolFailure: a path or a URL is none.
    """
    server = _server(summary)
    paths = tuple(resolve(path, posture.workspace, posture.home) for path in summary.paths)
    each = [paths] if len(paths) < 2 else [(path,) for path in paths]
    decisions = [_decide(summary, judged, posture, server) for judged in each]
    strictest = max(decisions, key=lambda decision: _STRICTNESS[decision.verdict])
    reasons = dict.fromkeys(decision.reason for decision in decisions if decision.verdict is strictest.verdict)
    return replace(strictest, reason="; ".join(reasons), places=tuple(path.path for path in paths))


def _decide(summary: Summary, paths: tuple[Resolved, ...], posture: Posture, server: Destination | None) -> Decision:
    question = Question(summary, paths, _grant_for(summary, paths, server), posture, server)
    for rule in RULES:
        if decision := rule(question):
            return decision
    return Decision(Verdict.ASK, "unknown", "nothing allows it", question.grant)


def _server(summary: Summary) -> Destination | None:
    server = destination(summary.url) if summary.url else None
    if server and summary.private and server.net is Net.PUBLIC:
        return replace(server, net=Net.PRIVATE)
    return server


def _grant_for(summary: Summary, paths: tuple[Resolved, ...], server: Destination | None) -> Grant:
    """What *always* means: this command in this place, this host, edits in the project, or this path elsewhere."""
    if server:
        return Grant(summary.kind, server.hostname if server.net is Net.PUBLIC else server.exactly)
    if summary.command:
        return Grant(summary.kind, f"{summary.command} (in {summary.place})" if summary.place else summary.command)
    special = [path.path for path in paths if path.place is not Place.PROJECT]
    return Grant(summary.kind, special[0] if special else "")


def _own_state(q: Question) -> Decision | None:
    if q.first(Place.OWN_STATE):
        return Decision(Verdict.DENY, "own-state", "Halocline's own files are not touched by tools")
    return None


def _plan_mode(q: Question) -> Decision | None:
    if q.posture.mode is Mode.PLAN and q.summary.kind in CHANGES | {ToolKind.EXECUTE}:
        return Decision(Verdict.DENY, "plan-mode", "plan mode only reads; the person switches to act mode")
    return None


def _refused(q: Question) -> Decision | None:
    if q.grant in q.posture.refusals:
        return Decision(Verdict.DENY, "refused", "the person said never in this task")
    return None


def _sandboxed(q: Question) -> Decision | None:
    """Commands in a sandbox that holds are free in auto mode. To leave it is asked every time, whatever the mode."""
    box, takes = q.posture.sandbox, q.summary.in_sandbox
    if takes is None or box.standing is SandboxStanding.OFF:
        return None
    if box.required and box.standing is not SandboxStanding.FULL:
        return Decision(Verdict.DENY, "sandbox-required", f"commands need a sandbox here: {'; '.join(box.lacks)}")
    if box.required and not takes:
        return Decision(Verdict.DENY, "sandbox-required", "no command leaves the sandbox here")
    if not takes and box.standing is not SandboxStanding.NONE:
        return Decision(Verdict.ASK, "leaves-sandbox", "a person decides this each time")
    if box.standing is not SandboxStanding.FULL or q.posture.approval_mode is not ApprovalMode.AUTO:
        return None
    if why := commands.loses(q.summary.command):
        return Decision(Verdict.ASK, "risky-command", f"the command {why}", q.grant)
    if q.summary.risky:
        return Decision(Verdict.ASK, "model-warned", "the model itself calls it risky", q.grant)
    return Decision(Verdict.ALLOW, "sandboxed", "the sandbox holds what the command can reach")


def _link_local(q: Question) -> Decision | None:
    if q.server and q.server.net is Net.LINK_LOCAL and q.grant not in q.posture.grants:
        reason = f"{q.server.exactly} is an address at which machines are given their keys"
        return Decision(Verdict.ASK, "link-local", reason, q.grant)
    return None


def _yolo(q: Question) -> Decision | None:
    if q.posture.approval_mode is ApprovalMode.YOLO:
        return Decision(Verdict.ALLOW, "yolo", "yolo mode allows everything")
    return None


def _granted(q: Question) -> Decision | None:
    if q.grant in q.posture.grants:
        return Decision(Verdict.ALLOW, "granted", "the person said always in this task")
    return None


def _careful_place(q: Question) -> Decision | None:
    if path := q.first(Place.SECRET):
        return Decision(Verdict.ASK, "secret", f"{path.shown} may hold secrets", q.grant)
    if path := q.first(Place.OUTSIDE):
        return Decision(Verdict.ASK, "outside", f"{path.path} is outside the workspace", q.grant)
    path = q.first(Place.RUNS_LATER)
    if path and q.summary.kind in CHANGES:
        return Decision(Verdict.ASK, "runs-later", f"{path.shown} is run or obeyed by other programs later", q.grant)
    return None


def _private_network(q: Question) -> Decision | None:
    if q.server and q.server.net is not Net.PUBLIC:
        reason = f"{q.server.exactly} is on this machine or in a private network"
        return Decision(Verdict.ASK, "private-network", reason, q.grant)
    return None


def _harmless(q: Question) -> Decision | None:
    if q.summary.kind in LOOKS | HARMLESS:
        return Decision(Verdict.ALLOW, "reads", "it changes nothing")
    return None


def _edits(q: Question) -> Decision | None:
    if q.summary.kind not in CHANGES:
        return None
    if q.posture.approval_mode is ApprovalMode.ASK:
        return Decision(Verdict.ASK, "mode-ask", "ask mode asks before every change", q.grant)
    return Decision(Verdict.ALLOW, "mode-edits", f"{q.posture.approval_mode} mode allows edits in the workspace")


def _executes(q: Question) -> Decision | None:
    if q.summary.kind is not ToolKind.EXECUTE:
        return None
    mode = q.posture.approval_mode
    if mode is not ApprovalMode.AUTO:
        return Decision(Verdict.ASK, f"mode-{mode}", f"{mode} mode asks before every command", q.grant)
    if why := commands.risk(q.summary.command):
        return Decision(Verdict.ASK, "risky-command", f"the command {why}", q.grant)
    if q.summary.risky:
        return Decision(Verdict.ASK, "model-warned", "the model itself calls it risky", q.grant)
    return Decision(Verdict.ALLOW, "mode-auto", "auto mode allows ordinary commands")


def _fetches(q: Question) -> Decision | None:
    if q.summary.kind is not ToolKind.FETCH:
        return None
    mode = q.posture.approval_mode
    if mode is ApprovalMode.AUTO:
        return Decision(Verdict.ALLOW, "mode-auto", "auto mode allows public addresses")
    return Decision(Verdict.ASK, f"mode-{mode}", f"{mode} mode asks before anything is fetched", q.grant)


RULES: tuple[Rule, ...] = (
    _own_state,
    _plan_mode,
    _refused,
    _sandboxed,
    _link_local,
    _yolo,
    _granted,
    _careful_place,
    _private_network,
    _harmless,
    _edits,
    _executes,
    _fetches,
)
