"""Audit past tasks: what was allowed, asked about and denied, and what other rules would have decided."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.policy.gate import decide_call
from halocline.ports.shell_facts import LoggedFacts
from halocline.ports.tool import Toolset
from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import CallStatus, Grant
from halocline.protocol.messages import ToolCall
from halocline.protocol.permission_rules import RuleBook, Verdict
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.task.calls.policy_input import make_policy_context, summary_of


class ReviewedCall(Value, frozen=True):
    """One call: the decision then with its rule and who answered, and the decision now.

    A call that a person edited counts twice: as requested, and as edited.
    """

    task: str
    call: str
    title: str
    then: Verdict
    rule: str
    by: str
    now: Verdict
    now_rule: str
    reason: str


def review_task(
    events: Iterable[ev.DurableEvent],
    toolset: Toolset,
    home: Path,
    book: Callable[[RuleBook], RuleBook] = lambda then: then,
) -> Iterator[ReviewedCall]:
    """Decide every call of a task again in the state it was made in, with the rules of that time mapped by `book`.

    Calls that cannot be decided (unknown tools, invalid arguments) are left out.
    """
    log = list(events)
    outcomes = _collect_outcomes(log)
    typed = _outcomes_of_edits(log)
    waiting: dict[str, tuple[ToolCall, str]] = {}
    calls: dict[str, tuple[ToolCall, str]] = {}
    state = State()
    for event in log:
        if isinstance(event, _JUDGED) and (asked := waiting.pop(event.call, None)):
            # Use the state at the decision, not at the reply: rules may have been read in between.
            facts = LoggedFacts(scripts_in(event), state.workspace, lost_in(event))
            is_typed = asked[0] is not calls[event.call][0]
            found = _review_call(*asked, state, toolset, home, facts, book, typed if is_typed else outcomes)
            yield from [found] if found else []
        state = reduce_event(state, event)
        match event:
            case ev.AssistantMessageCompleted():
                calls |= {call.id: (call, event.message.model) for call in event.message.tool_calls}
                waiting |= {call.id: calls[call.id] for call in event.message.tool_calls}
            case ev.ApprovalResolved(call=name, arguments=dict() as arguments) if name in calls:
                waiting[name] = replace(calls[name][0], arguments=arguments), ""


_JUDGED = (ev.ApprovalRequested, ev.ToolCallStarted, ev.ToolCallEnded)
"""The first of these in a call carries its decision."""


def scripts_in(event: ev.Durable) -> tuple[str, ...]:
    """Return the scripts of a command that an event of its call names."""
    match event:
        case ev.ApprovalRequested(grant=Grant(scripts=scripts)) | ev.ToolCallStarted(scripts=scripts):
            return scripts
    return ()


def lost_in(event: ev.Durable) -> tuple[str, ...]:
    """Return what a command would have lost, as its request says."""
    return event.lost if isinstance(event, ev.ApprovalRequested) else ()


Outcomes = dict[str, tuple[Verdict, str, str]]


def _collect_outcomes(log: Iterable[ev.DurableEvent]) -> Outcomes:
    """Return the decision on each call, its rule, and who answered."""
    found: Outcomes = {}
    for event in log:
        match event:
            case ev.ApprovalRequested():
                found[event.call] = (Verdict.ASK, event.rule, "")
            case ev.ApprovalResolved() if event.call in found:
                did = f"edited by {event.by}" if event.arguments is not None else f"{event.decision} by {event.by}"
                found[event.call] = (Verdict.ASK, found[event.call][1], did)
            case ev.ToolCallStarted():
                found.setdefault(event.call, (Verdict.ALLOW, event.rule, ""))
            case ev.ToolCallEnded(status=CallStatus.REJECTED):
                found.setdefault(event.call, (Verdict.DENY, "", ""))
    return found


def _outcomes_of_edits(log: Iterable[ev.DurableEvent]) -> Outcomes:
    """Return the outcome of calls that a person edited: allowed by the edit, or denied by a rule nevertheless."""
    found: Outcomes = {}
    for event in log:
        match event:
            case ev.ApprovalResolved(call=call, by=by, arguments=dict()):
                found[call] = (Verdict.ASK, "", f"typed by {by}")
            case ev.ToolCallStarted(call=call) if call in found:
                found[call] = (Verdict.ASK, event.rule, found[call][2])
            case ev.ToolCallEnded(call=call, status=CallStatus.REJECTED) if call in found:
                found[call] = (Verdict.DENY, "", found[call][2])
    return found


def _review_call(
    call: ToolCall,
    model: str,
    state: State,
    toolset: Toolset,
    home: Path,
    facts: LoggedFacts,
    book: Callable[[RuleBook], RuleBook],
    outcomes: Outcomes,
) -> ReviewedCall | None:
    tool = toolset.find(call.name, state)
    if tool is None or call.id not in outcomes:
        return None
    try:
        _, summary = summary_of(call, tool, model, state)
        then = make_policy_context(state, home, facts)
        decision = decide_call(summary, replace(then, book=book(then.book)))
    except (msgspec.ValidationError, HaloclineError):
        return None
    verdict, rule, by = outcomes[call.id]
    return ReviewedCall(
        task=state.task,
        call=call.id,
        title=summary.title,
        then=verdict,
        rule=rule or (decision.rule if decision.verdict is verdict else ""),
        by=by,
        now=decision.verdict,
        now_rule=decision.rule,
        reason=decision.reason,
    )
