"""The state of a task: derived from its events (`reducer`), and from nothing else.

`loose_ends` lists the events that close all open calls, approvals and questions, at the end of a turn or when a log
is opened after a crash.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from halocline.protocol import events as ev
from halocline.protocol.events.instructions import ActiveInstruction
from halocline.protocol.events.labels import Labels
from halocline.protocol.events.limits import Limits
from halocline.protocol.events.mcp import McpServer, Sampled
from halocline.protocol.events.subagents import AgentLine, SubagentStarted, Subtask
from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, CallStatus, Choice, Grant, Mode, Scope, Todo
from halocline.protocol.messages import (
    AssistantMessage,
    AssistantPart,
    Effort,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    UserPart,
)
from halocline.protocol.permission_rules import RuleBook
from halocline.protocol.state import file_knowledge
from halocline.protocol.state.points import Branch, Points
from halocline.protocol.values import JsonObject, Value

Draft = tuple["Draft | None", ev.TextDelta | ev.ThinkingDelta]

PROGRESS = "task_progress"
"""Argument from Cline's prompts that some models send with every call: the to-do list as a Markdown checklist."""
UNKNOWN_OUTCOME = (
    "Interrupted before this call ended. Its outcome is unknown: it may or may not have taken effect. "
    "Check before relying on it or repeating it."
)
NOT_RUN = "Interrupted before this call was run. Nothing happened."
PROCESS_ENDED = "The process ended."
"""Text of a turn's end that was written after a crash, by the process that reopened the task."""
COMPACTION_CUT = "compaction_cut"
"""Code of the error that ends an interrupted compaction."""
TIME_IS_UP = "The time limit is reached."
"""Text of a turn's end when the time limit interrupted something."""


class OpenCall(Value, frozen=True):
    """A call that has not ended."""

    call: ToolCall
    started: bool = False


class TurnState(Value, frozen=True):
    """The running turn."""

    started_at: float
    steps: int = 0
    is_over: bool = False
    first_message: int = 0


class State(Value, frozen=True):
    """Everything known about a task. `unheard` is a person's text that no request has included yet.

    `gap` (a note on a process that died) and `interjected` (messages sent instead of an answer) reach the model once
    the open calls have ended. `own_commands` are the person's running commands, `own_untold` those that ended and were
    not yet reported to the model. `subtask` is set for a sub-agent's task; `lanes` are the task's own running
    sub-agents. `kept_grants` reach beyond the task. `switches` were set in the task.
    """

    task: str = ""
    seq: int = 0
    started_at: float = 0.0
    last_at: float = 0.0
    workspace: str = ""
    roots: tuple[str, ...] = ()
    version: str = ""
    model: str = ""
    mode: Mode = Mode.ACT
    approval_mode: ApprovalMode = ApprovalMode.ASK
    system_prompt: str = ""
    compact: bool = False
    effort: Effort | None = None
    limits: Limits | None = None
    thinking_budget: int | None = None
    messages: Sequence[Message] = ()
    draft: Any = None
    open_calls: tuple[OpenCall, ...] = ()
    approvals: tuple[ev.ApprovalRequested, ...] = ()
    questions: tuple[ev.QuestionAsked, ...] = ()
    grants: frozenset[Grant] = frozenset()
    kept_grants: frozenset[tuple[Grant, Scope]] = frozenset()
    refusals: frozenset[Grant] = frozenset()
    switches: dict[ApprovalSwitch, bool | None] = {}
    rules: RuleBook = RuleBook()
    todos: tuple[Todo, ...] = ()
    todo_age: file_knowledge.TodoAge = file_knowledge.TodoAge()
    known: file_knowledge.Known = {}
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
    checkpoints: Sequence[ev.CheckpointTaken] = ()
    shell: ev.ShellMoved = ev.ShellMoved()
    page: str = ""
    sandbox: ev.SandboxChecked = ev.SandboxChecked()
    jobs: tuple[ev.JobStarted, ...] = ()
    jobs_started: int = 0
    own_commands: tuple[ev.OwnCommandStarted, ...] = ()
    own_started: int = 0
    own_untold: tuple[ev.OwnCommandEnded, ...] = ()
    jobs_ended_apart: tuple[ev.JobEnded, ...] = ()
    offered: frozenset[str] = frozenset()
    mcp: tuple[McpServer, ...] = ()
    sampled: Sampled = Sampled()
    has_planned: bool = False
    instructions: tuple[ActiveInstruction, ...] = ()
    labels: Labels = Labels()
    unheard: tuple[str, ...] = ()
    points: Points = ()
    branches: tuple[Branch, ...] = ()
    gap: tuple[UserPart, ...] = ()
    interjected: tuple[UserPart, ...] = ()
    subtask: Subtask | None = None
    agents: tuple[AgentLine, ...] = ()
    lanes: tuple[SubagentStarted, ...] = ()

    @property
    def is_asking(self) -> bool:
        """True if a turn waits for a person, or did until a message or another process came and nothing ran since."""
        waits = (self.gap or self.interjected) and not any(opened.started for opened in self.open_calls)
        return self.turn is not None and bool(self.approvals or self.questions or waits)

    @property
    def turn_is_over(self) -> bool:
        return self.turn is None or self.turn.is_over

    @property
    def compaction(self) -> ev.Compacted | None:
        """The compaction in force, if any."""
        return self.compactions[-1] if self.compactions else None

    @property
    def last_message(self) -> AssistantMessage:
        """The latest reply. Raises LookupError if there is none."""
        for message in reversed(self.messages):
            if isinstance(message, AssistantMessage):
                return message
        raise LookupError("no reply yet")

    @property
    def owes_reply(self) -> bool:
        """True if a message to the model came after its latest reply and the results of its calls."""
        return bool(self.messages) and isinstance(self.messages[-1], UserMessage)

    @property
    def is_empty(self) -> bool:
        """True if nothing was said or done in the task."""
        return not (self.messages or self.own_started) and self.last_end is None

    @property
    def title(self) -> str:
        """The task's name, or the first line of its first prompt or command."""
        if self.labels.name:
            return self.labels.name
        for message in self.messages:
            if isinstance(message, UserMessage):
                words = "".join(part.text for part in message.content if isinstance(part, Text)).strip()
                return words.split("\n", 1)[0][:120]
        ran = next((own.command for own in self.own_commands), "") or next((own.command for own in self.own_untold), "")
        return f"!{ran}".split("\n", 1)[0][:120] if ran else ""


def loose_ends(state: State) -> tuple[ev.DurableEvent, ...]:
    """Return the events that end every open approval, question and call, and that keep the draft."""
    ends: list[ev.DurableEvent] = []
    if state.compacting:
        ends.append(ev.ErrorRaised(code=COMPACTION_CUT, text="Compaction was interrupted; nothing changed."))
    if draft := draft_parts(state):
        message = AssistantMessage(content=draft, model=state.model, stop_reason=StopReason.CANCELLED, interrupted=True)
        ends.append(ev.AssistantMessageCompleted(message=message))
    for approval in state.approvals:
        ends.append(
            ev.ApprovalResolved(
                request=approval.request, call=approval.call, decision=Choice.REJECT_ONCE, by="interrupt"
            )
        )
    ends += [ev.QuestionAnswered(request=asked.request, answer="", by="interrupt") for asked in state.questions]
    ends += [cut_short(open_call) for open_call in state.open_calls]
    return tuple(ends)


def call_signature(call: ToolCall) -> str:
    """Return a key that is equal for equal calls: it ignores the order of arguments, and the to-do list among them."""
    arguments = {name: value for name, value in call.arguments.items() if name != PROGRESS}
    # For large arguments, JSON is eight times as fast as `repr`.
    return msgspec.json.encode((call.name, arguments, call.malformed), order="sorted").decode()


def draft_parts(state: State) -> tuple[AssistantPart, ...]:
    """Return the text streamed of an incomplete reply, with adjacent deltas joined. Unfinished calls are left out."""
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
    # Reasoning without its signature cannot be sent back, so only text is kept.
    return tuple(part for part in parts if isinstance(part, Text) and part.text.strip())


def _begins_anew(delta: ev.TextDelta | ev.ThinkingDelta, last: ev.TextDelta | ev.ThinkingDelta) -> bool:
    return type(delta) is not type(last) or (isinstance(delta, ev.TextDelta) and delta.apart)


def lost_calls(state: State) -> tuple[ev.ToolCallEnded, ...]:
    """Return the ends of calls that ran when their process died, except those that only waited for an answer."""
    asking = {asked.call for asked in state.questions}
    return tuple(cut_short(one) for one in state.open_calls if one.started and one.call.id not in asking)


def cut_short(open_call: OpenCall) -> ev.ToolCallEnded:
    """Return the end of a call that was interrupted."""
    call = open_call.call
    text = UNKNOWN_OUTCOME if open_call.started else NOT_RUN
    result = ToolResult(call=call.id, content=(Text(text),), is_error=True)
    return ev.ToolCallEnded(call=call.id, name=call.name, status=CallStatus.CANCELLED, result=result)
