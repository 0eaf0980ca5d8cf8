"""From what a task knows to what the model reads: a pure step from state to request.

The system prompt was fixed when the task began and messages are only appended, so the bytes of one request are a prefix
of the next and the provider's cache holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from halocline.ports.model import Request
from halocline.ports.tool import Toolset
from halocline.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResult
from halocline.protocol.state import State

MISSING = "No result of this call was recorded. Do not assume that it took effect."


@dataclass(frozen=True, slots=True)
class Context:
    """Builds requests. `max_tokens` bounds one reply; None leaves it to the model's own limit."""

    max_tokens: int | None = None

    def request(self, state: State, toolset: Toolset) -> Request:
        """What the model is asked now."""
        return Request(
            model=state.model,
            system=state.system_prompt,
            messages=paired(state.messages),
            tools=toolset.specs(),
            max_tokens=self.max_tokens,
        )


def paired(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with every call answered directly after its message, in order, and no result without its call.

    A sound history comes back as it is. What is missing is made up and says so; what is stray is left out.
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
                    out.append(_missing(asked))
            case _:
                out.append(message)
    return tuple(out)


def _missing(call: ToolCall) -> ToolResult:
    return ToolResult(call.id, (Text(MISSING),), is_error=True)
