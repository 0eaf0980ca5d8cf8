"""Folds events into transcript rows, shared by all surfaces. Pure.

The same events give the same rows; a surface only decides how a row looks. Live deltas grow draft rows, which the
completed message replaces.
"""

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.events.hooks import HookDecision, HookStatus
from halocline.protocol.events.mcp import SEPARATOR
from halocline.protocol.events.subagents import SubagentEnded, SubagentProgressed, SubagentStarted
from halocline.protocol.kinds import CallStatus, Mode, SandboxStanding, Todo, ToolKind
from halocline.protocol.messages import (
    Image,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from halocline.protocol.state.file_knowledge import list_names
from halocline.protocol.values import JsonObject, Value
from halocline.surfaces.row_kinds import (
    Approval,
    CallRow,
    CheckpointRow,
    CompactionRow,
    ErrorRow,
    HookRow,
    JobEndRow,
    Lane,
    NoticeRow,
    PromptRow,
    QuestionRow,
    ReplyRow,
    RestoredRow,
    RetryRow,
    Row,
    RulesRow,
    StartRow,
    ThoughtRow,
    TodosRow,
    TurnEndRow,
    is_settled,
)
from halocline.surfaces.row_words import (
    COMMANDS,
    command_answer,
    command_failure,
    describe_effort,
    describe_folders,
    describe_import,
    describe_origin,
    describe_repair,
    describe_revocation,
    describe_switch,
    expanded_notices,
    finding_notices,
    included_notices,
    prompt_text,
    tool_output,
    unfinished_notices,
)

LIVE_OUTPUT = 16_384
"""Most characters that a row keeps of a running call's output."""

AT_ONCE = 256
"""Rows per batch when folding many events."""
NEW_LINE = "\n"
LONG_HOOK = 1.0
"""Seconds above which a hook gets a row."""


class Totals(Value, frozen=True):
    """Usage of the running turn; `planned`: the to-do list changed in it."""

    at: float = 0.0
    steps: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0
    planned: bool = False


class Transcript(Value, frozen=True):
    """The rows so far, the mode and the to-do list. `draft` is the streaming reply."""

    rows: tuple[Row, ...] = ()
    mode: Mode = Mode.ACT
    todos: tuple[Todo, ...] = ()
    draft: tuple[ThoughtRow | ReplyRow, ...] = ()
    turn: Totals = Totals()

    def visible(self) -> tuple[Row, ...]:
        return self.rows + self.draft

    def call(self, call: str) -> CallRow | None:
        """The latest row of a tool call."""
        return next((row for row in reversed(self.rows) if isinstance(row, CallRow) and row.call == call), None)


SANDBOXED = (
    "Commands run in a sandbox: they can write only to the workspace and /tmp, and cannot use the network unless the "
    'settings allow it. To disable it, set sandbox = "off".'
)


def rows_of(events: Iterable[ev.Event]) -> tuple[Row, ...]:
    """Fold events into rows, including drafts."""
    return transcript_of(events).visible()


def transcript_of(events: Iterable[ev.Durable | ev.Transient]) -> Transcript:
    """Fold events into a transcript. Settled rows are set aside, as each event would copy them."""
    transcript, aside, most = Transcript(), list[Row](), AT_ONCE
    for event in events:
        transcript = fold_event(transcript, event)
        if len(transcript.rows) > most:
            settled = [*takewhile(is_settled, transcript.rows)]
            aside += settled
            transcript = replace(transcript, rows=transcript.rows[len(settled) :])
            most = AT_ONCE + 2 * len(transcript.rows)
    return replace(transcript, rows=(*aside, *transcript.rows))


def fold_event(transcript: Transcript, event: ev.Durable | ev.Transient) -> Transcript:
    """Return the transcript after `event`. Events without rows change nothing."""
    step = _FOLDS.get(type(event))
    return step(transcript, event) if step else transcript


def _add_row(transcript: Transcript, *rows: Row) -> Transcript:
    return replace(transcript, rows=transcript.rows + rows)


def _change_call(transcript: Transcript, call: str, change: Callable[[CallRow], CallRow]) -> Transcript:
    rows = transcript.rows
    for index in range(len(rows) - 1, -1, -1):
        row = rows[index]
        if isinstance(row, CallRow) and row.call == call:
            return replace(transcript, rows=(*rows[:index], change(row), *rows[index + 1 :]))
    return transcript


def _turn_started(t: Transcript, e: ev.TurnStarted) -> Transcript:
    prompt = PromptRow(prompt_text(e.content), e.seq)
    return _add_row(replace(t, draft=(), turn=Totals(at=e.at)), prompt, *expanded_notices(e.content))


def _on_steering(t: Transcript, e: ev.SteeringReceived) -> Transcript:
    words = prompt_text(e.content)
    return _add_row(t, *([PromptRow(words, e.seq, steering=True)] if words else ()), *expanded_notices(e.content))


def _turn_ended(t: Transcript, e: ev.TurnEnded) -> Transcript:
    turn = t.turn
    row = TurnEndRow(e.reason, e.limit, e.text, turn.usage, turn.cost, turn.steps, max(0.0, e.at - turn.at))
    acted = e.reason is StopReason.END_TURN and t.mode is Mode.ACT
    left = unfinished_notices(t.todos) if turn.planned and acted else ()
    return _add_row(replace(t, draft=()), *left, row)


def _todos_changed(t: Transcript, e: ev.TodosChanged) -> Transcript:
    return _add_row(replace(t, todos=e.todos, turn=replace(t.turn, planned=True)), TodosRow(e.todos, e.by))


def _changed_outside(t: Transcript, e: ev.FilesChangedOutside) -> Transcript:
    names = [f"{file.path} (deleted)" if file.content is None else file.path for file in e.files if not file.by]
    return _add_row(t, NoticeRow(f"Changed outside this task: {list_names(names)}")) if names else t


def _on_retry(t: Transcript, e: ev.StepRetried) -> Transcript:
    """Add a retry, or update the last one if a person ended its wait."""
    last = t.rows[-1] if t.rows else None
    row = RetryRow(e.attempt, e.wait, e.cause, e.model, e.most)
    again = isinstance(last, RetryRow) and not e.wait and replace(last, wait=0.0) == row
    return _add_row(replace(t, draft=(), rows=t.rows[:-1] if again else t.rows), row)


def _on_usage(t: Transcript, e: ev.UsageReported) -> Transcript:
    cost = None if e.cost is None or t.turn.cost is None else t.turn.cost + e.cost
    return replace(t, turn=replace(t.turn, usage=t.turn.usage + e.usage, cost=cost))


def _on_sampling(t: Transcript, e: ev.McpSampled) -> Transcript:
    cost = None if e.cost is None or t.turn.cost is None else t.turn.cost + e.cost
    notice = NoticeRow(f"{e.model} answered the MCP server {e.server}: {e.usage.total:,} tokens.")
    return _add_row(replace(t, turn=replace(t.turn, usage=t.turn.usage + e.usage, cost=cost)), notice)


def _lane_began(t: Transcript, e: SubagentStarted) -> Transcript:
    lane = Lane(e.child, e.name, e.prompt, e.agent, e.model, e.remarks, started_at=e.at)
    return _change_call(t, e.call, lambda row: replace(row, lanes=(*row.lanes, lane)))


def _lane_progressed(t: Transcript, e: SubagentProgressed) -> Transcript:
    now = {"doing": e.doing, "steps": e.steps, "calls": e.calls, "tokens": e.tokens, "cost": e.cost}
    return _change_call(t, e.call, lambda row: _with_lane(row, e.child, lambda lane: replace(lane, **now)))


def _lane_ended(t: Transcript, e: SubagentEnded) -> Transcript:
    def end(lane: Lane) -> Lane:
        return replace(
            lane,
            end=e.end,
            doing="",
            steps=e.steps,
            calls=e.calls,
            tokens=e.usage.total,
            cost=e.cost,
            report=e.report,
            problem=e.problem,
            seconds=max(0.0, e.at - lane.started_at),
        )

    cost = None if e.cost is None or t.turn.cost is None else t.turn.cost + e.cost
    t = replace(t, turn=replace(t.turn, usage=t.turn.usage + e.usage, cost=cost))
    return _change_call(t, e.call, lambda row: _with_lane(row, e.child, end))


def _with_lane(row: CallRow, child: str, change: Callable[[Lane], Lane]) -> CallRow:
    return replace(row, lanes=tuple(change(lane) if lane.child == child else lane for lane in row.lanes))


def _on_delta(t: Transcript, e: ev.TextDelta | ev.ThinkingDelta) -> Transcript:
    kind = ReplyRow if isinstance(e, ev.TextDelta) else ThoughtRow
    apart = isinstance(e, ev.TextDelta) and e.apart
    if t.draft and isinstance(t.draft[-1], kind) and not apart:
        return replace(t, draft=(*t.draft[:-1], kind(t.draft[-1].text + e.text, draft=True)))
    return replace(t, draft=(*t.draft, kind(e.text, draft=True)))


def _on_completed(t: Transcript, e: ev.AssistantMessageCompleted) -> Transcript:
    rows: list[Row] = []
    for part in e.message.content:
        match part:
            case Thinking(text=text) if text.strip():
                rows.append(ThoughtRow(text))
            case Text(text=text) if text.strip():
                rows.append(ReplyRow(text))
            case ToolCall():
                rows.append(CallRow(part.id, part.name, _call_subject(part), arguments=part.arguments))
    return _add_row(replace(t, draft=()), *rows)


def _call_subject(call: ToolCall) -> str:
    """Title of a call before it starts: the tool's name and its first string argument."""
    first = next((value for value in call.arguments.values() if isinstance(value, str)), "")
    return f"{call.name} {first}".strip().split("\n", 1)[0]


def _on_question(t: Transcript, e: ev.ApprovalRequested) -> Transcript:
    approval = Approval(
        e.request, e.reason, e.detail, e.diffs, grant=e.grant, place=e.place, parts=e.parts, sandbox=e.sandbox
    )
    return _change_call(t, e.call, lambda row: replace(row, title=e.title, kind=e.kind, approval=approval))


def _on_resumed(t: Transcript, e: ev.TurnResumed) -> Transcript:
    """Drop unanswered questions, which are asked again, and put a notice before unsettled rows."""
    rows = tuple(row for row in t.rows if not (isinstance(row, QuestionRow) and not row.by))
    place = next((at for at, row in enumerate(rows) if not is_settled(row)), len(rows))
    notice = NoticeRow("Halocline was stopped here. Open questions are asked again.")
    return replace(t, rows=(*rows[:place], notice, *rows[place:]), draft=())


def _on_decision(t: Transcript, e: ev.ApprovalResolved) -> Transcript:
    def decide(row: CallRow) -> CallRow:
        approval = row.approval or Approval(e.request, "")
        decided = replace(approval, decision=e.decision, by=e.by, client=e.client, at=e.at, note=e.note, scope=e.scope)
        if e.arguments is None:
            return replace(row, approval=decided)
        title = e.arguments.get("command") if row.kind is ToolKind.EXECUTE else row.title
        decided = replace(decided, edited=True)
        return replace(row, approval=decided, arguments=e.arguments, title=str(title or row.title))

    return _change_call(t, e.call, decide)


def _call_started(t: Transcript, e: ev.ToolCallStarted) -> Transcript:
    return _change_call(
        t,
        e.call,
        lambda row: replace(
            row, title=e.title, kind=e.kind, locations=e.locations, started_at=e.at, foreign=SEPARATOR in e.name
        ),
    )


def _call_ended(t: Transcript, e: ev.ToolCallEnded) -> Transcript:
    def end(row: CallRow) -> CallRow:
        return replace(
            row,
            status=e.status,
            output=tool_output(e.result),
            diffs=e.diffs,
            images=tuple(part for part in e.result.content if isinstance(part, Image)),
            seconds=None if row.started_at is None else max(0.0, e.at - row.started_at),
            ends_turn=e.ends_turn,
            failure=command_failure(tool_output(e.result)) if e.name == COMMANDS else "",
            answer=command_answer(tool_output(e.result)) if e.name == COMMANDS else "",
        )

    return _add_row(_change_call(t, e.call, end), *finding_notices(e.result.content))


def _own_started(t: Transcript, e: ev.OwnCommandStarted) -> Transcript:
    arguments: JsonObject = {"command": e.command}
    row = CallRow(e.run, "execute_command", e.command, ToolKind.EXECUTE, arguments=arguments, started_at=e.at)
    return _add_row(t, replace(row, own=True))


def _own_ended(t: Transcript, e: ev.OwnCommandEnded) -> Transcript:
    def end(row: CallRow) -> CallRow:
        answer = command_answer(f"[{e.said}")
        is_well = e.exit_code == 0 or answer or (e.exit_code is None and e.job)
        ended = CallStatus.COMPLETED if is_well else CallStatus.FAILED
        return replace(
            row,
            status=CallStatus.CANCELLED if e.stopped else ended,
            output=f"{e.output.rstrip(NEW_LINE) or '[no output]'}\n[{e.said}]",
            failure=command_failure(f"[{e.said}"),
            answer=answer,
            seconds=None if row.started_at is None else max(0.0, e.at - row.started_at),
        )

    return _change_call(t, e.run, end)


def _grow_output(row: CallRow, text: str) -> CallRow:
    """Append a running call's output, keeping only its end until the result replaces it."""
    return replace(row, output=(row.output + text)[-LIVE_OUTPUT:])


def _on_answer(t: Transcript, e: ev.QuestionAnswered) -> Transcript:
    def answer(row: Row) -> Row:
        asked = isinstance(row, QuestionRow) and row.request == e.request
        return replace(row, answer=e.answer, by=e.by) if asked else row

    return replace(t, rows=tuple(answer(row) for row in t.rows))


def _hook_ran(t: Transcript, e: ev.HookRan) -> Transcript:
    quiet = e.status is HookStatus.COMPLETED and e.decision is not HookDecision.BLOCK
    if quiet and e.seconds <= LONG_HOOK:
        return t
    return _add_row(t, HookRow(e.hook, e.moment, e.status, e.decision, e.said, e.seconds))


_FOLDS: dict[type, Callable[[Transcript, Any], Transcript]] = {
    ev.TaskStarted: lambda t, e: _add_row(
        replace(t, mode=e.mode), StartRow(e.workspace, e.model or describe_origin(e), e.mode, e.approval_mode, e.roots)
    ),
    ev.RootsChanged: lambda t, e: _add_row(t, NoticeRow(describe_folders(e.roots))),
    ev.Imported: lambda t, e: _add_row(t, NoticeRow(describe_import(e))),
    ev.TaskAdopted: lambda t, e: _add_row(replace(t, mode=e.mode), NoticeRow(f"Continued here with {e.model}")),
    ev.LogRepaired: lambda t, e: _add_row(t, NoticeRow(describe_repair(e))),
    ev.TurnStarted: _turn_started,
    ev.TurnResumed: _on_resumed,
    ev.SteeringReceived: _on_steering,
    ev.TurnEnded: _turn_ended,
    ev.StepStarted: lambda t, e: replace(t, draft=(), turn=replace(t.turn, steps=t.turn.steps + 1)),
    ev.StepRetried: _on_retry,
    ev.UsageReported: _on_usage,
    ev.McpSampled: _on_sampling,
    SubagentStarted: _lane_began,
    SubagentProgressed: _lane_progressed,
    SubagentEnded: _lane_ended,
    ev.TextDelta: _on_delta,
    ev.ThinkingDelta: _on_delta,
    ev.AssistantMessageCompleted: _on_completed,
    ev.ToolCallStarted: _call_started,
    ev.ToolCallProgressed: lambda t, e: _change_call(t, e.call, lambda row: _grow_output(row, e.text)),
    ev.ToolCallEnded: _call_ended,
    ev.OwnCommandStarted: _own_started,
    ev.OwnCommandEnded: _own_ended,
    ev.ApprovalRequested: _on_question,
    ev.ApprovalResolved: _on_decision,
    ev.QuestionAsked: lambda t, e: _add_row(t, QuestionRow(e.request, e.question, e.options, e.call)),
    ev.QuestionAnswered: _on_answer,
    ev.SandboxChecked: lambda t, e: _add_row(t, NoticeRow(SANDBOXED)) if e.standing is SandboxStanding.FULL else t,
    ev.AnswerRefused: lambda t, e: _add_row(
        t, NoticeRow(f"The answer does not match the schema. {' '.join(e.problems)}")
    ),
    ev.TodosChanged: _todos_changed,
    ev.ModeChanged: lambda t, e: _add_row(replace(t, mode=e.mode), NoticeRow(f"Mode: {e.mode}")),
    ev.ModelChanged: lambda t, e: _add_row(t, NoticeRow(f"Model: {e.model}")),
    ev.EffortChanged: lambda t, e: _add_row(
        t, NoticeRow(f"Effort: {describe_effort(e.effort, e.budget) or 'from the settings'}")
    ),
    ev.GrantTakenBack: lambda t, e: _add_row(t, NoticeRow(describe_revocation(e))),
    ev.PolicyChanged: lambda t, e: _add_row(
        t, NoticeRow(f"Approvals: {e.approval_mode}" + (f", set by {e.client}" if e.client else ""))
    ),
    ev.ApprovalSwitched: lambda t, e: _add_row(t, NoticeRow(describe_switch(e))),
    ev.CheckpointTaken: lambda t, e: _add_row(t, CheckpointRow(e.checkpoint, e.label)) if not e.root else t,
    ev.ConversationRestored: lambda t, e: _add_row(
        t, NoticeRow(f"Rewound to event {e.to}. The model no longer sees what came after it.")
    ),
    ev.TaskForked: lambda t, e: _add_row(t, NoticeRow(f"Forked to task {e.to} after event {e.point}.")),
    ev.CheckpointRestored: lambda t, e: _add_row(t, RestoredRow(e.checkpoint, e.undo, e.changed)),
    ev.JobEnded: lambda t, e: _add_row(t, JobEndRow(e.job, e.command, e.exit_code, e.stopped)),
    ev.FilesChangedOutside: _changed_outside,
    ev.DiagnosticsReported: lambda t, e: _add_row(t, *finding_notices(e.content)),
    ev.InstructionsLoaded: lambda t, e: _add_row(t, RulesRow(e.files, e.gone)),
    ev.MentionsResolved: lambda t, e: _add_row(t, *included_notices(e.content)),
    ev.Compacted: lambda t, e: _add_row(t, CompactionRow(e.cause, e.before, e.after)),
    ev.CompactionUndone: lambda t, e: _add_row(t, CompactionRow()),
    ev.HookRan: _hook_ran,
    ev.Noticed: lambda t, e: _add_row(t, NoticeRow(e.text)),
    ev.ErrorRaised: lambda t, e: _add_row(t, ErrorRow(e.code, e.text, e.hint)),
}
SHOWN = frozenset(_FOLDS)
"""The events that change the rows."""
