"""Removes outdated copies of files from what the model reads, many at once.

What must stay true: the messages alone, in their order, decide which copies are removed. A removed copy stays removed,
and none is before `GAIN` characters go together: every change to earlier messages costs the provider's cache.
"""

from collections.abc import Mapping, Sequence

from halocline.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResult
from halocline.protocol.values import Value

GAIN = 65_536
"""Minimum characters to remove together."""
WORTH = 1_000
"""Minimum characters of a copy to consider."""
LEFT_OUT = "[older copy of {path} omitted; you read the file again below]"
READ_ON = "read on with start_line="
READER = "read_file"
EDITS = ("write_to_file", "replace_in_file", "apply_patch")


class _Copy(Value, frozen=True):
    """Lines of a file in a result; the last line is None if the call did not name it."""

    at: int
    first: int
    last: int | None
    size: int


class Stale:
    """Finds outdated copies among messages from `begin` on, incrementally."""

    def __init__(self, begin: int = 0) -> None:
        self.left_out: dict[int, str] = {}
        self._at = begin
        self._calls: Mapping[str, ToolCall] = {}
        self._copies: dict[str, list[_Copy]] = {}
        self._outdated: list[tuple[int, str]] = []
        self._gain = 0

    def take(self, messages: Sequence[Message]) -> None:
        """Process the new messages."""
        for at in range(self._at, len(messages)):
            message = messages[at]
            if isinstance(message, AssistantMessage):
                self._calls = {call.id: call for call in message.tool_calls if call.name == READER}
            elif isinstance(message, ToolResult) and (call := self._calls.get(message.call)):
                self._add_read(at, call, message)
        self._at = len(messages)

    def _add_read(self, at: int, call: ToolCall, result: ToolResult) -> None:
        path = str(call.arguments.get("path", ""))
        text = result.content[0].text if result.content and isinstance(result.content[0], Text) else ""
        if result.is_error or len(text) < WORTH:
            return
        first, last = call.arguments.get("start_line") or 1, call.arguments.get("end_line")
        whole = last is None and READ_ON not in text[-200:]
        copies = self._copies.setdefault(path, [])
        for old in [
            old for old in copies if old.first >= first and (whole or _covers_window(last, old.last, first, old))
        ]:
            copies.remove(old)
            self._outdated.append((old.at, path))
            self._gain += old.size
        copies.append(_Copy(at, first, last, len(text)))
        if self._gain >= GAIN:
            self.left_out |= {at: LEFT_OUT.format(path=path) for at, path in self._outdated}
            self._outdated, self._gain = [], 0


def _covers_window(last: int | None, old_last: int | None, first: int, old: _Copy) -> bool:
    """True if a window on part of the file covers an older one: cut off alike, or it ends later."""
    if old_last is None or last is None:
        return last is old_last and first == old.first
    return last >= old_last
