"""Advice for a model whose edits of one file fail again and again."""

from collections.abc import Iterator, Sequence

from halocline.protocol.messages import AssistantMessage, Message, ToolResult

TOOL = "replace_in_file"
MANY = 3
"""Edits in a row after which writing the file whole is better."""
LONG = 500
"""Lines of a file that is never to be written whole for one edit."""
ADVICE = " That was edit {count} of this file in a row that did not fit: write the file whole, with write_to_file."


def advise_after_failures(call: str, path: str, lines: int, messages: Sequence[Message]) -> str:
    """Return advice for the call of this ID, a failed edit of a file with this many lines; usually empty."""
    count = 1
    for failed in _read_outcomes(call, path, messages):
        if not failed:
            break
        count += 1
    return ADVICE.format(count=count) if count >= MANY and lines <= LONG else ""


def _read_outcomes(call: str, path: str, messages: Sequence[Message]) -> Iterator[bool]:
    """Yield for each earlier edit of the file whether it failed, latest first."""
    failed: dict[str, bool] = {}
    is_earlier = False
    for message in reversed(messages):
        if isinstance(message, ToolResult):
            failed[message.call] = message.is_error
        elif isinstance(message, AssistantMessage):
            for other in reversed(message.tool_calls):
                if is_earlier and (other.name, other.arguments.get("path")) == (TOOL, path):
                    yield failed.get(other.id, False)
                is_earlier |= other.id == call
