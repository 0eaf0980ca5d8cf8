"""The conversation of a task as the model reads it at the end of a log, each message with the events behind it.

What a rewind took back is not in it. The state says what is (`protocol/state`); here is only where it came from.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentEnded, SubagentStarted
from halocline.protocol.messages import AssistantMessage, Message, Usage
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State

Spending = ev.UsageReported | ev.McpSampled | ev.SideQuestionAnswered
Between = ev.Compacted | ev.ErrorRaised


class Reply(NamedTuple):
    """The request behind a reply: when it was sent, and what its attempts reported."""

    step: ev.StepStarted
    reports: tuple[ev.UsageReported, ...]


class Entry(NamedTuple):
    """A message and the event that added it, or what happened between two messages."""

    event: ev.DurableEvent
    message: Message | None = None
    reply: Reply | None = None


@dataclass
class Conversation:
    """The entries in order, the state at the end, and what lies beside the conversation."""

    state: State = field(default_factory=State)
    entries: list[Entry] = field(default_factory=list)
    started: ev.TaskStarted | None = None
    spent: list[Spending] = field(default_factory=list)
    children: dict[str, list[ev.DurableEvent]] = field(default_factory=dict)
    calls: dict[str, list[ev.DurableEvent]] = field(default_factory=dict)
    taken_back: int = 0

    @property
    def usage(self) -> Usage:
        """Tokens of the task itself, without those of its sub-agents."""
        return sum((event.usage for event in self.spent), Usage())


def read_conversation(events: Iterable[ev.DurableEvent]) -> Conversation:
    """Fold a log; keep for each message where it came from."""
    found, added, between = Conversation(), _Added(), list[tuple[int, Message | None, Between]]()
    for event in events:
        before, found.state = found.state.messages, reduce_event(found.state, event)
        if found.state.messages is not before and not isinstance(event, ev.ConversationRestored):
            added.note(event, found.state.messages[len(before) :])
        match event:
            case ev.TaskStarted():
                found.started = found.started or event
            case ev.StepStarted():
                added.begin(event)
            case ev.UsageReported() | ev.McpSampled() | ev.SideQuestionAnswered():
                found.spent.append(event)
                added.report(event)
            case ev.Compacted() | ev.ErrorRaised():
                between.append((len(found.state.messages), found.state.messages[-1] if before else None, event))
            case _:
                _note_call(found, event)
    kept = found.state.messages
    found.entries = list(_list_entries(kept, added, between, found.state))
    found.taken_back = added.replies - sum(isinstance(message, AssistantMessage) for message in kept)
    return found


class _Added:
    """The entries of all messages there ever were. They are known by identity, as a rewind may bring one back."""

    def __init__(self) -> None:
        self.replies = 0
        self._entries: dict[int, Entry] = {}
        self._step: ev.StepStarted | None = None
        self._reports: list[ev.UsageReported] = []

    def begin(self, step: ev.StepStarted) -> None:
        self._step, self._reports = step, []

    def report(self, event: Spending) -> None:
        if isinstance(event, ev.UsageReported):
            self._reports.append(event)

    def note(self, event: ev.DurableEvent, messages: Sequence[Message]) -> None:
        for message in messages:
            reply = None
            if isinstance(message, AssistantMessage):
                self.replies += 1
                reply = Reply(self._step, tuple(self._reports)) if self._step else None
                self._step = None
            self._entries[id(message)] = Entry(event, message, reply)

    def entry(self, message: Message) -> Entry:
        return self._entries[id(message)]


def _list_entries(
    kept: Sequence[Message],
    added: _Added,
    between: Sequence[tuple[int, Message | None, Between]],
    state: State,
) -> Iterator[Entry]:
    """Yield the messages, and what came between them where both ends of it are still there."""
    stands = {id(event) for event in state.compaction.applied}
    waiting = [
        (at, event)
        for at, last, event in between
        if at <= len(kept)
        and (not at or kept[at - 1] is last)
        and (isinstance(event, ev.ErrorRaised) or id(event) in stands)
    ]
    for at in range(len(kept) + 1):
        if at:
            yield added.entry(kept[at - 1])
        yield from (Entry(event) for place, event in waiting if place == at)


def _note_call(found: Conversation, event: ev.DurableEvent) -> None:
    match event:
        case ev.ToolCallStarted() | ev.ToolCallEnded() | ev.ApprovalRequested() | ev.ApprovalResolved():
            found.calls.setdefault(event.call, []).append(event)
        case SubagentStarted() | SubagentEnded():
            found.children.setdefault(event.call, []).append(event)
        case _:
            pass
