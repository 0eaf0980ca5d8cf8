"""Events of a task as ACP session updates. Pure.

Text that was streamed is not sent again when its message is complete.
"""

from collections.abc import Awaitable, Callable, Iterator

from acp import schema

from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentEnded
from halocline.protocol.messages import Note, StopReason, Text, Thinking, UserPart
from halocline.protocol.state.evidence.facts import EvidenceState, follow_evidence
from halocline.protocol.state.evidence.findings import Evidence, find_evidence
from halocline.surfaces import figures
from halocline.surfaces.acp.call_updates import CallUpdates
from halocline.surfaces.acp.content import ReadImage, list_prompt_blocks, make_compaction, make_message, make_thought
from halocline.surfaces.rows.kinds import CompactionRow
from halocline.surfaces.rows.words import (
    NOT_GIVEN,
    describe_check,
    describe_goal,
    describe_pictures,
    describe_verdict,
)

Update = (
    schema.UserMessageChunk
    | schema.AgentMessageChunk
    | schema.AgentThoughtChunk
    | schema.ToolCallStart
    | schema.ToolCallProgress
    | schema.AgentPlanUpdate
    | schema.UsageUpdate
    | schema.SessionInfoUpdate
    | schema.AvailableCommandsUpdate
    | schema.CurrentModeUpdate
    | schema.ConfigOptionUpdate
)
Send = Callable[[Update], Awaitable[None]]


class Updates:
    """Turns the events of one session, in their order, into updates. `workspace` makes paths absolute.

    `cost` is that of the task so far. While it `replays`, the events are past ones, and are part of that cost.
    """

    def __init__(self, workspace: str, read_image: ReadImage, *, cost: float | None = 0.0) -> None:
        self.calls = CallUpdates(workspace, read_image)
        self._read_image = read_image
        self.replays = False
        self.own_turns: set[str] = set()
        """Names of the turns whose prompts the client has sent itself."""
        self._streamed = {"text": "", "thinking": ""}
        self._failure: ev.ErrorRaised | None = None
        """An error that the end of a prompt may carry."""
        self._cost = cost
        self._evidence = EvidenceState()

    def of(self, event: ev.Event, *, prompted: bool = False) -> Iterator[Update]:
        """Yield the updates for one event. `prompted`: a prompt waits for the turn, and ends with its error.

        Clients show that error, so it is not sent as a message, too.
        """
        held, self._failure = self._failure, None
        is_told = prompted and isinstance(event, ev.TurnEnded) and event.reason is StopReason.ERROR
        if held and not is_told:
            yield _make_failure(held)
        if prompted and isinstance(event, ev.ErrorRaised):
            self._failure = event
            self._evidence = follow_evidence(self._evidence, event)
            return
        yield from self._of_event(event)
        self._evidence = follow_evidence(self._evidence, event)
        if isinstance(event, ev.TurnEnded):
            yield from _tell_evidence(find_evidence(self._evidence))

    def _of_event(self, event: ev.Event) -> Iterator[Update]:
        match event:
            case ev.TurnStarted(content=content, name=name) if name not in self.own_turns:
                yield from self._of_prompt(content)
            case ev.SteeringReceived(content=content):
                yield from self._of_prompt(content)
            case ev.TurnEnded(remark=remark) if remark:
                yield make_message(f"\n\n{remark}")
            case ev.TextDelta(text=text):
                self._streamed["text"] += text
                yield make_message(text)
            case ev.ThinkingDelta(text=text):
                self._streamed["thinking"] += text
                yield make_thought(text)
            case ev.StepStarted():
                self._begin_message()
            case ev.StepRetried(attempt=0):
                self._begin_message()
                yield make_thought(f"\n\n({figures.describe_retry(event)})\n\n")
            case ev.StepRetried(cause=cause):
                self._begin_message()
                yield make_thought(f"\n\n(The request failed: {cause} Trying again.)\n\n")
            case ev.AssistantMessageCompleted():
                yield from self._of_reply(event)
            case ev.TodosChanged():
                yield make_plan(event)
            case ev.UsageReported() | ev.McpSampled() | ev.SideQuestionAnswered():
                yield from self._of_usage(event)
            case ev.TaskLabelled(name=str(name)) if name:
                yield schema.SessionInfoUpdate(title=name, session_update="session_info_update")
            case ev.ErrorRaised():
                yield _make_failure(event)
            case SubagentEnded(cost=cost):
                self._add_cost(cost)
                yield from self.calls.of(event)
            case _:
                yield from _list_notices(event)
                yield from self.calls.of(event)

    def _begin_message(self) -> None:
        self._streamed = {"text": "", "thinking": ""}
        self.calls.begin_message()

    def _of_prompt(self, content: tuple[UserPart, ...]) -> Iterator[Update]:
        for block in list_prompt_blocks(content, self._read_image):
            yield schema.UserMessageChunk(content=block, session_update="user_message_chunk")

    def _of_reply(self, event: ev.AssistantMessageCompleted) -> Iterator[Update]:
        """Yield the parts of a reply that were not streamed, and its calls."""
        for part in event.message.content:
            if isinstance(part, Text) and part.text and not self._streamed["text"]:
                yield make_message(part.text)
            if isinstance(part, Thinking) and part.text and not self._streamed["thinking"]:
                yield make_thought(part.text)
        yield from self.calls.of_message(event)
        self._streamed = {"text": "", "thinking": ""}

    def _of_usage(self, event: ev.UsageReported | ev.McpSampled | ev.SideQuestionAnswered) -> Iterator[Update]:
        self._add_cost(event.cost)
        if isinstance(event, ev.UsageReported) and event.window and not self.replays:
            yield make_usage(event.usage.total, event.window, self._cost)

    def _add_cost(self, cost: float | None) -> None:
        if not self.replays:
            self._cost = None if self._cost is None or cost is None else self._cost + cost


def _list_notices(event: ev.Event) -> Iterator[Update]:
    """Yield a remark about the conversation, which a client may fold away."""
    match event:
        case ev.Compacted(cause=cause, before=before, after=after):
            yield make_compaction(CompactionRow(cause, before, after))
        case ev.CompactionUndone():
            yield make_compaction(CompactionRow())
        case ev.PicturesLeftOut():
            yield make_thought(f"{describe_pictures(event)}\n")
        case ev.ConversationRestored(to=to):
            yield make_thought(f"The conversation was rewound to event {to}; what came after it no longer counts.\n")
        case ev.MentionsResolved(content=content):
            for part in content:
                if isinstance(part, Note) and part.source == NOT_GIVEN:
                    yield make_thought(f"{part.text}\n")
        case ev.ApprovalJudged():
            yield make_thought(f"{describe_verdict(event)}\n")
        case ev.GoalSet():
            yield make_thought(f"{describe_goal(event)}\n")
        case ev.GoalChecked():
            yield make_thought(f"{describe_check(event)}\n")
        case ev.Noticed(text=text) | ev.CheckpointFailed(text=text):
            yield make_thought(f"{text}\n")


def _tell_evidence(evidence: Evidence) -> Iterator[Update]:
    """Yield what the log proves about a turn's work; what contradicts the reply is as visible as the reply."""
    if evidence.lines:
        yield make_thought("".join(f"\n{line}\n" for line in evidence.lines))
    if evidence.not_confirmed:
        yield make_message(f"\n\n({evidence.doubt[0].upper()}{evidence.doubt[1:]}.)\n")


def _make_failure(event: ev.ErrorRaised) -> schema.AgentMessageChunk:
    return make_message(f"\n\n{event.text} {event.hint}".rstrip() + "\n")


def make_plan(event: ev.TodosChanged) -> schema.AgentPlanUpdate:
    """Return the to-do list as a plan."""
    entries = [schema.PlanEntry(content=todo.text, priority="medium", status=todo.status.value) for todo in event.todos]
    return schema.AgentPlanUpdate(entries=entries, session_update="plan")


def make_usage(used: int, size: int, cost: float | None) -> schema.UsageUpdate:
    """Return the tokens in the context window, of its size, and the cost so far in US dollars."""
    price = None if cost is None else schema.Cost(amount=round(cost, 6), currency="USD")
    return schema.UsageUpdate(used=used, size=size, cost=price, session_update="usage_update")
