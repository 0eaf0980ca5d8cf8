"""What a task knows: the fold of its events, and nothing else.

`reduce` is pure. Folding the durable events of a log gives exactly the state the live task had; transient events only
touch `draft`, which every durable end of a reply clears. `loose_ends` says what must be written to leave no call, no
approval and no question open; it serves the end of a turn and the reading of a log that a crash left behind.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.hook_kinds import BEFORE_THE_MODEL, HookDecision
from halocline.protocol.instructions import ActiveInstruction, in_force
from halocline.protocol.labels import Labels
from halocline.protocol.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from halocline.protocol.rules import RuleBook
from halocline.protocol.values import JsonObject, Value

Draft = tuple["Draft | None", ev.TextDelta | ev.ThinkingDelta]

UNKNOWN_OUTCOME = (
    "Interrupted before this call ended. Its outcome is unknown: it may or may not have taken effect. "
    "Check before relying on it or repeating it."
)
NOT_RUN = "Interrupted before this call was run. Nothing happened."
PROCESS_ENDED = "The process ended."
COMPACTION_CUT = "compaction_cut"
"""What the end of a turn says when the process that opened the task after a crash wrote it."""
TIME_IS_UP = "The time limit is reached."
"""What the end of a turn says when the time limit fell in the middle of something."""


class OpenCall(Value, frozen=True):
    """A call that has no end yet."""

    call: ToolCall
    started: bool = False


class TurnState(Value, frozen=True):
    """The turn that runs now."""

    started_at: float
    steps: int = 0
    is_over: bool = False
    first_message: int = 0


class State(Value, frozen=True):
    """Everything known about a task."""

    task: str = ""
    seq: int = 0
    started_at: float = 0.0
    last_at: float = 0.0
    workspace: str = ""
    version: str = ""
    model: str = ""
    mode: ev.Mode = ev.Mode.ACT
    approval_mode: ev.ApprovalMode = ev.ApprovalMode.ASK
    system_prompt: str = ""
    messages: tuple[Message, ...] = ()
    draft: Any = None
    open_calls: tuple[OpenCall, ...] = ()
    approvals: tuple[ev.ApprovalRequested, ...] = ()
    questions: tuple[ev.QuestionAsked, ...] = ()
    grants: frozenset[ev.Grant] = frozenset()
    refusals: frozenset[ev.Grant] = frozenset()
    rules: RuleBook = RuleBook()
    todos: tuple[ev.Todo, ...] = ()
    turn: TurnState | None = None
    last_end: ev.TurnEnded | None = None
    output_schema: JsonObject | None = None
    answer: JsonObject | None = None
    answers_refused: tuple[ev.AnswerRefused, ...] = ()
    steps: int = 0
    usage: Usage = Usage()
    last_usage: Usage = Usage()
    window: int | None = None
    limit: int | None = None
    compactions: tuple[ev.Compacted, ...] = ()
    compacting: ev.CompactionStarted | None = None
    cost: float | None = 0.0
    failures_in_row: int = 0
    same_call_in_row: int = 0
    last_outcome: tuple[str, str] = ("", "")
    forgiven_steps: int = 0
    forgiven_cost: float = 0.0
    declined: bool = False
    nobody_answered: bool = False
    files_changed: frozenset[str] = frozenset()
    checkpoints: tuple[ev.CheckpointTaken, ...] = ()
    shell: ev.ShellMoved = ev.ShellMoved()
    page: str = ""
    sandbox: ev.SandboxChecked = ev.SandboxChecked()
    jobs: tuple[ev.JobStarted, ...] = ()
    jobs_started: int = 0
    jobs_ended_apart: tuple[ev.JobEnded, ...] = ()
    offered: frozenset[str] = frozenset()
    has_planned: bool = False
    instructions: tuple[ActiveInstruction, ...] = ()
    labels: Labels = Labels()

    @property
    def turn_is_over(self) -> bool:
        return self.turn is None or self.turn.is_over

    @property
    def compaction(self) -> ev.Compacted | None:
        """The one that decides what the model reads."""
        return self.compactions[-1] if self.compactions else None

    @property
    def last_message(self) -> AssistantMessage:
        """The newest reply. Raises LookupError when the model has not spoken."""
        for message in reversed(self.messages):
            if isinstance(message, AssistantMessage):
                return message
        raise LookupError("no reply yet")

    @property
    def owes_reply(self) -> bool:
        """Whether something was said to the model after its newest reply, and after the results of its calls."""
        return bool(self.messages) and isinstance(self.messages[-1], UserMessage)

    @property
    def title(self) -> str:
        """Its name, or the first line of the first prompt."""
        if self.labels.name:
            return self.labels.name
        for message in self.messages:
            if isinstance(message, UserMessage):
                words = "".join(part.text for part in message.content if isinstance(part, Text)).strip()
                return words.split("\n", 1)[0][:120]
        return ""


def reduce(state: State, event: ev.Durable | ev.Transient) -> State:
    """The state after `event`. Unknown and merely shown events change nothing but the position."""
    step = _STEPS.get(type(event))
    if isinstance(event, ev.Transient):
        return step(state, event) if step else state
    state = replace(state, seq=event.seq, last_at=event.at)
    return step(state, event) if step else state


def fold(events: Iterable[ev.Durable]) -> State:
    """The state that a whole log gives."""
    state = State()
    for event in events:
        state = reduce(state, event)
    return state


def loose_ends(state: State) -> tuple[ev.DurableEvent, ...]:
    """What is missing for every approval, question and call to have its end, and for the draft to be kept."""
    ends: list[ev.DurableEvent] = []
    if state.compacting:
        ends.append(ev.ErrorRaised(code=COMPACTION_CUT, text="Not compacted: it was cut short."))
    if draft := draft_parts(state):
        message = AssistantMessage(content=draft, model=state.model, stop_reason=StopReason.CANCELLED, interrupted=True)
        ends.append(ev.AssistantMessageCompleted(message=message))
    for approval in state.approvals:
        ends.append(
            ev.ApprovalResolved(
                request=approval.request, call=approval.call, decision=ev.Choice.REJECT_ONCE, by="interrupt"
            )
        )
    ends += [ev.QuestionAnswered(request=asked.request, answer="", by="interrupt") for asked in state.questions]
    ends += [_cut_short(open_call) for open_call in state.open_calls]
    return tuple(ends)


def signature(call: ToolCall) -> str:
    """The same for calls that ask the same thing."""
    return f"{call.name} {call.arguments} {call.malformed}"


def draft_parts(state: State) -> tuple[AssistantPart, ...]:
    """What was streamed of a reply that is not complete, neighbouring deltas joined. Unfinished calls are left out."""
    deltas: list[ev.TextDelta | ev.ThinkingDelta] = []
    cell = state.draft
    while cell is not None:
        cell, delta = cell
        deltas.append(delta)
    parts: list[AssistantPart] = []
    run: list[str] = []
    for index, delta in enumerate(deltas := deltas[::-1]):
        run.append(delta.text)
        if index + 1 == len(deltas) or _begins_anew(deltas[index + 1], delta):
            joined = "".join(run)
            parts.append(Text(joined) if isinstance(delta, ev.TextDelta) else Thinking(joined))
            run = []
    # Reasoning without its signature cannot be replayed, so only words survive.
    return tuple(part for part in parts if isinstance(part, Text) and part.text.strip())


def _begins_anew(delta: ev.TextDelta | ev.ThinkingDelta, last: ev.TextDelta | ev.ThinkingDelta) -> bool:
    return type(delta) is not type(last) or (isinstance(delta, ev.TextDelta) and delta.apart)


def _cut_short(open_call: OpenCall) -> ev.ToolCallEnded:
    call = open_call.call
    text = UNKNOWN_OUTCOME if open_call.started else NOT_RUN
    result = ToolResult(call=call.id, content=(Text(text),), is_error=True)
    return ev.ToolCallEnded(call=call.id, name=call.name, status=ev.CallStatus.CANCELLED, result=result)


def _task_started(state: State, e: ev.TaskStarted) -> State:
    return replace(
        state,
        task=e.task,
        started_at=e.at,
        workspace=e.workspace,
        version=e.version,
        model=e.model,
        mode=e.mode,
        approval_mode=e.approval_mode,
        system_prompt=e.system_prompt,
        has_planned=e.mode is ev.Mode.PLAN,
    )


def _turn_started(state: State, e: ev.TurnStarted) -> State:
    return replace(
        state,
        turn=TurnState(started_at=e.at, first_message=len(state.messages)),
        messages=(*state.messages, UserMessage(e.content)),
        output_schema=e.output_schema,
        answer=None,
        answers_refused=(),
        failures_in_row=0,
        same_call_in_row=0,
        last_outcome=("", ""),
        nobody_answered=False,
        forgiven_steps=state.steps,
    )


def _steered(state: State, e: ev.SteeringReceived) -> State:
    turn = replace(state.turn, is_over=False) if state.turn else None
    return replace(state, turn=turn, messages=(*state.messages, UserMessage(e.content)))


def _answer_refused(state: State, e: ev.AnswerRefused) -> State:
    turn = replace(state.turn, is_over=False) if state.turn else None
    messages = (*state.messages, UserMessage(e.content))
    return replace(state, turn=turn, messages=messages, answers_refused=(*state.answers_refused, e))


def _turn_ended(state: State, e: ev.TurnEnded) -> State:
    return replace(state, turn=None, draft=None, last_end=e)


def _step_started(state: State, e: ev.StepStarted) -> State:
    turn = replace(state.turn, steps=state.turn.steps + 1) if state.turn else None
    return replace(state, turn=turn, steps=state.steps + 1, draft=None)


def _retried(state: State, e: ev.StepRetried) -> State:
    return replace(state, draft=None)


def _delta(state: State, e: ev.TextDelta | ev.ThinkingDelta) -> State:
    return replace(state, draft=(state.draft, e))


def _usage(state: State, e: ev.UsageReported) -> State:
    cost = None if e.cost is None or state.cost is None else state.cost + e.cost
    window = e.window or state.window
    return replace(state, usage=state.usage + e.usage, last_usage=e.usage, cost=cost, window=window)


def _compacted(state: State, e: ev.Compacted) -> State:
    """What the last request had is no measure any more of what the next one will have."""
    limit = e.limit or state.limit
    return replace(state, compactions=(*state.compactions, e), last_usage=Usage(), limit=limit, compacting=None)


def _completed(state: State, e: ev.AssistantMessageCompleted) -> State:
    opened = tuple(OpenCall(call) for call in e.message.tool_calls)
    return replace(
        state,
        draft=None,
        declined=False,
        messages=(*state.messages, e.message),
        open_calls=state.open_calls + opened,
    )


def _call_started(state: State, e: ev.ToolCallStarted) -> State:
    marked = tuple(replace(o, started=True) if o.call.id == e.call else o for o in state.open_calls)
    return replace(state, open_calls=marked)


def _call_ended(state: State, e: ev.ToolCallEnded) -> State:
    ended = next((o.call for o in state.open_calls if o.call.id == e.call), None)
    first = next((part.text for part in e.result.content if isinstance(part, Text)), "")
    outcome = (signature(ended) if ended else "", first)
    failed = e.status is ev.CallStatus.FAILED
    turn = state.turn
    if turn is not None and e.ends_turn:
        turn = replace(turn, is_over=True)
    return replace(
        state,
        turn=turn,
        open_calls=tuple(o for o in state.open_calls if o.call.id != e.call),
        messages=(*state.messages, e.result),
        failures_in_row=state.failures_in_row + 1 if failed else 0,
        same_call_in_row=state.same_call_in_row + 1 if outcome == state.last_outcome else 1,
        last_outcome=outcome,
    )


def _approval_requested(state: State, e: ev.ApprovalRequested) -> State:
    return replace(state, approvals=(*state.approvals, e))


def _approval_resolved(state: State, e: ev.ApprovalResolved) -> State:
    grants, refusals = state.grants, state.refusals
    if e.grant is not None and e.decision is ev.Choice.ALLOW_ALWAYS:
        grants |= {e.grant}
    if e.grant is not None and e.decision is ev.Choice.REJECT_ALWAYS:
        refusals |= {e.grant}
    return replace(
        state,
        approvals=tuple(a for a in state.approvals if a.request != e.request),
        grants=grants,
        refusals=refusals,
        declined=state.declined or (e.by == "user" and e.decision in (ev.Choice.REJECT_ONCE, ev.Choice.REJECT_ALWAYS)),
        nobody_answered=state.nobody_answered or e.by == "nobody",
    )


def _question_asked(state: State, e: ev.QuestionAsked) -> State:
    return replace(state, questions=(*state.questions, e))


def _question_answered(state: State, e: ev.QuestionAnswered) -> State:
    return replace(state, questions=tuple(asked for asked in state.questions if asked.request != e.request))


def _limit_extended(state: State, e: ev.LimitExtended) -> State:
    return replace(
        state,
        turn=replace(state.turn, started_at=e.at) if state.turn else None,
        answers_refused=(),
        failures_in_row=0,
        same_call_in_row=0,
        forgiven_steps=state.steps,
        forgiven_cost=state.cost or 0.0,
    )


def _job_started(state: State, e: ev.JobStarted) -> State:
    return replace(state, jobs=(*state.jobs, e), jobs_started=state.jobs_started + 1)


def _job_ended(state: State, e: ev.JobEnded) -> State:
    apart = () if state.turn else (e,)  # between turns nobody hears of it until the next one
    left = tuple(job for job in state.jobs if job.job != e.job)
    return replace(state, jobs=left, jobs_ended_apart=state.jobs_ended_apart + apart)


def _jobs_reported(state: State, e: ev.JobsReported) -> State:
    return replace(state, messages=(*state.messages, UserMessage(e.content)), jobs_ended_apart=())


def _instructed(state: State, e: ev.InstructionsLoaded) -> State:
    told = (UserMessage(e.content),) if e.content else ()
    return replace(state, instructions=in_force(state.instructions, e), messages=(*state.messages, *told))


def _hook_ran(state: State, e: ev.HookRan) -> State:
    """Words of a hook join the conversation; a prompt that one refused leaves it, as if it had not been sent."""
    if e.call or state.turn is None:
        return state
    if e.decision is HookDecision.BLOCK and e.moment in BEFORE_THE_MODEL:
        return replace(state, messages=state.messages[: state.turn.first_message])
    if not e.content:
        return state
    turn = replace(state.turn, is_over=False)
    return replace(state, turn=turn, messages=(*state.messages, UserMessage(e.content)))


_STEPS: dict[type, Callable[[State, Any], State]] = {
    ev.TaskStarted: _task_started,
    ev.TurnStarted: _turn_started,
    ev.SteeringReceived: _steered,
    ev.TurnEnded: _turn_ended,
    ev.StepStarted: _step_started,
    ev.StepRetried: _retried,
    ev.ErrorRaised: lambda state, e: replace(state, compacting=None),
    ev.TextDelta: _delta,
    ev.ThinkingDelta: _delta,
    ev.UsageReported: _usage,
    ev.AssistantMessageCompleted: _completed,
    ev.ToolCallStarted: _call_started,
    ev.ToolCallEnded: _call_ended,
    ev.ApprovalRequested: _approval_requested,
    ev.ApprovalResolved: _approval_resolved,
    ev.QuestionAsked: _question_asked,
    ev.QuestionAnswered: _question_answered,
    ev.AnswerAccepted: lambda state, e: replace(state, answer=e.answer),
    ev.AnswerRefused: _answer_refused,
    ev.LimitExtended: _limit_extended,
    ev.TodosChanged: lambda state, e: replace(state, todos=e.todos),
    ev.ModeChanged: lambda state, e: replace(
        state, mode=e.mode, has_planned=state.has_planned or e.mode is ev.Mode.PLAN
    ),
    ev.ModelChanged: lambda state, e: replace(state, model=e.model, window=e.window, limit=None),
    ev.CompactionStarted: lambda state, e: replace(state, compacting=e),
    ev.Compacted: _compacted,
    ev.CompactionUndone: lambda state, e: replace(state, compactions=state.compactions[:-1], last_usage=Usage()),
    ev.RulesChanged: lambda state, e: replace(state, rules=e.book),
    ev.PolicyChanged: lambda state, e: replace(state, approval_mode=e.approval_mode),
    ev.ToolsOffered: lambda state, e: replace(state, offered=frozenset(e.tools)),
    ev.FileChanged: lambda state, e: replace(state, files_changed=state.files_changed | {e.path}),
    ev.ShellMoved: lambda state, e: replace(state, shell=e),
    ev.PageShown: lambda state, e: replace(state, page=e.url),
    ev.SandboxChecked: lambda state, e: replace(state, sandbox=replace(e, seq=0, at=0.0, task="")),
    ev.TaskLabelled: lambda state, e: replace(state, labels=state.labels.after(e)),
    ev.JobStarted: _job_started,
    ev.JobEnded: _job_ended,
    ev.JobsReported: _jobs_reported,
    ev.DiagnosticsReported: lambda state, e: replace(state, messages=(*state.messages, UserMessage(e.content))),
    ev.InstructionsLoaded: _instructed,
    ev.HookRan: _hook_ran,
    ev.CheckpointTaken: lambda state, e: replace(state, checkpoints=(*state.checkpoints, e)),
}
