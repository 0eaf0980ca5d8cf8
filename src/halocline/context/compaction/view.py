"""The messages that the model reads: the conversation without what compactions remove, outdated files and old images.

What must stay true: it is a pure function of the log, so a replay shows the same; between two compactions a view only
grows, except when outdated copies are removed together (`stale`), or images: older ones, and those that are left out.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from halocline.context.compaction.old_images import OldImages
from halocline.context.compaction.stale_files import Stale
from halocline.context.truncate import LEFT_OUT, OLD_IMAGE, shorten_message, without_pictures
from halocline.protocol.events import Compacted
from halocline.protocol.messages import AssistantMessage, Message, Note, Text, ToolCall, ToolResult, UserMessage
from halocline.protocol.state.persistent import Series, begins_with
from halocline.protocol.state.state import State

MISSING = "No result of this call was recorded. Do not assume that it took effect."


STAYS = ("rule", "rules", "instructions", "memory", "skill")
"""Sources of notes that are repeated after a compaction."""


class View:
    """An incremental `build_view`: each call costs only what is new since the last one."""

    def __init__(self) -> None:
        self._compaction: Compacted | None = None
        self._most: int | None = None
        self._sees = True
        self._hidden: frozenset[str] = frozenset()
        self._known: Sequence[Message] = ()
        self._settled: Series[Message] = Series()
        self._at = 0
        self._bounds = [(0, 0)]
        """The beginning of each settled reply: its index, and how many settled messages came before it."""
        self._begin_removals(0)

    def of(self, state: State, most: int | None = None, *, sees: bool = True) -> Series[Message]:
        """Return the same as `build_view(state, most, sees=sees)`; what only grew shares the storage of the last."""
        messages, compaction, hidden = state.messages, state.compaction.latest, state.model.hidden_pictures
        same = compaction is self._compaction and (most, sees, hidden) == (self._most, self._sees, self._hidden)
        if not same or not begins_with(messages, self._known):
            self._sees, self._hidden = sees, hidden
            self._begin(compaction, most, messages)
        self._prepare_again_from(self._remove_more(messages))
        self._known = messages
        # Everything before the newest reply is settled: no later result can belong to it.
        for reply in [at for at in range(self._at + 1, len(messages)) if isinstance(messages[at], AssistantMessage)]:
            self._settled = self._settled.plus(*self._prepare_messages(messages, self._at, reply))
            self._at = reply
            self._bounds.append((reply, len(self._settled)))
        return self._settled.plus(*self._prepare_messages(messages, self._at, len(messages)))

    def _begin(self, compaction: Compacted | None, most: int | None, messages: Sequence[Message]) -> None:
        self._compaction, self._most = compaction, most
        self._known = ()
        self._settled = self._build_head(messages, compaction)
        self._at = _kept_from(compaction)
        self._bounds = [(self._at, len(self._settled))]
        self._begin_removals(self._at)

    def _begin_removals(self, begin: int) -> None:
        self.stale, self._old_images = Stale(begin), OldImages(begin)

    def _remove_more(self, messages: Sequence[Message]) -> int:
        """Process the new messages; return the first one that shows something else now."""
        copies, images = len(self.stale.left_out), self._old_images.left_out
        self.stale.take(messages)
        self._old_images.take(messages)
        outdated = islice(self.stale.left_out, copies, None)
        return min((*outdated, *(self._old_images.left_out - images)), default=len(messages))

    def _prepare_again_from(self, changed: int) -> None:
        """Forget what was settled of a message and all after it."""
        while self._bounds[-1][0] > changed:
            self._bounds.pop()
        self._at, length = self._bounds[-1]
        if length < len(self._settled):
            self._settled = Series(islice(self._settled, length))

    def _build_head(self, messages: Sequence[Message], compaction: Compacted | None) -> Series[Message]:
        head = _compaction_head(messages, compaction)
        return Series(map(self._hide_pictures, head))

    def _hide_pictures(self, message: Message) -> Message:
        if not self._sees:
            return without_pictures(message)
        return without_pictures(message, LEFT_OUT, self._hidden) if self._hidden else message

    def _prepare_messages(self, messages: Sequence[Message], begin: int, end: int) -> tuple[Message, ...]:
        return pair_messages([self._prepare_message(at, messages[at]) for at in range(begin, end)])

    def _prepare_message(self, at: int, message: Message) -> Message:
        if isinstance(message, ToolResult) and (note := self.stale.left_out.get(at)):
            message = replace(message, content=(Text(note), *message.content[1:]))
        message = self._hide_pictures(message)
        if at in self._old_images.left_out:
            message = without_pictures(message, OLD_IMAGE)
        most = self._most
        if self._compaction and self._compaction.longest and at < self._compaction.until:
            most = self._compaction.longest
        return shorten_message(message, most) if most else message


def build_view(state: State, most: int | None = None, *, sees: bool = True) -> Series[Message]:
    """Return what the model reads: every call answered directly after its message, each message at most `most` tokens.

    Images stay only for a model that `sees`.
    """
    return View().of(state, most, sees=sees)


def replies_left_out(state: State) -> int:
    """Count the model's replies that it no longer reads."""
    kept_from = _kept_from(state.compaction.latest)
    return sum(isinstance(message, AssistantMessage) for message in state.messages[:kept_from])


def _kept_from(compaction: Compacted | None) -> int:
    return compaction.kept_from if compaction else 0


def _compaction_head(messages: Sequence[Message], compaction: Compacted | None) -> tuple[Message, ...]:
    """Return the messages that stand for everything before the kept ones."""
    if compaction is None:
        return ()
    said = UserMessage((*compaction.content, *_carried_notes(messages, compaction)))
    first = messages[:1] if compaction.kept_from and isinstance(messages[0], UserMessage) else ()
    head = (*first, said)
    return tuple(shorten_message(message, compaction.longest) for message in head) if compaction.longest else head


def _carried_notes(messages: Sequence[Message], compaction: Compacted) -> Iterator[Note]:
    calls = dict(pair_results(messages[: compaction.kept_from]))
    for at in compaction.carried:
        for part in messages[at].content:
            if isinstance(part, Note) and part.source in STAYS:
                yield part
            elif isinstance(part, Text) and at in calls:
                yield Note(f"{calls[at].name} {calls[at].arguments.get('path', '')} gave:\n{part.text}", "earlier")


def pair_results(messages: Sequence[Message]) -> Iterator[tuple[int, ToolCall]]:
    """Yield the index of each result with the call it answers."""
    calls: dict[str, ToolCall] = {}
    for at, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            calls = {call.id: call for call in message.tool_calls}
        elif isinstance(message, ToolResult) and message.call in calls:
            yield at, calls[message.call]


def pair_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Put every result directly after the message of its call, in order.

    A sound history is returned as it is. A missing result is made up and says so; a stray one is dropped.
    """
    out: list[Message] = []
    waiting: dict[str, int] = {}  # ids are unique within one message only, so an answer belongs to the latest one
    for message in messages:
        match message:
            case ToolResult(call=call):
                if call in waiting:
                    out[waiting.pop(call)] = message
            case AssistantMessage():
                out.append(message)
                waiting = {}
                for asked in message.tool_calls:
                    waiting[asked.id] = len(out)
                    out.append(ToolResult(asked.id, (Text(MISSING),), is_error=True))
            case _:
                out.append(message)
    return tuple(out)
