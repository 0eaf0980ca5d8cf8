"""From what a task knows to what the model reads: a pure step from state to request.

The system prompt was fixed when the task began and messages are only appended, so the bytes of one request are a prefix
of the next and the provider's cache holds.
"""

from collections.abc import Mapping, Sequence
from operator import is_

from halocline.ports.model import Request
from halocline.ports.tool import Toolset
from halocline.protocol.events import Mode
from halocline.protocol.messages import AssistantMessage, Effort, Message, Text, ToolCall, ToolResult
from halocline.protocol.state import State
from halocline.protocol.values import Value

MISSING = "No result of this call was recorded. Do not assume that it took effect."


class Thinking(Value, frozen=True):
    """How hard to think: a word for it, or a bound in tokens. None leaves it to the vendor."""

    effort: Effort | None = None
    budget: int | None = None


class Context:
    """Builds requests. `max_tokens` bounds one reply, None leaves it to the model; `thinking` is by mode."""

    def __init__(self, max_tokens: int | None = None, thinking: Mapping[Mode, Thinking] | None = None) -> None:
        self._max_tokens = max_tokens
        self._thinking = thinking or {}
        self._pairing = Pairing()

    def request(self, state: State, toolset: Toolset) -> Request:
        """What the model is asked now."""
        thinking = self._thinking.get(state.mode, Thinking())
        return Request(
            model=state.model,
            system=state.system_prompt,
            messages=self._pairing.of(state.messages),
            tools=toolset.specs(state),
            max_tokens=self._max_tokens,
            effort=thinking.effort,
            thinking_budget=thinking.budget,
            cache_key=state.task,
            output_schema=state.output_schema,
        )


class Pairing:
    """`paired`, at the price of what is new since it was last asked.

    What comes before a reply is settled: no later result is an answer to it.
    """

    def __init__(self) -> None:
        self._known: tuple[Message, ...] = ()
        self._settled: tuple[Message, ...] = ()

    def of(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """The same as `paired(messages)`."""
        if not _begins_with(messages, self._known):
            self._known = self._settled = ()
        begin = max(0, len(self._known) - 1)
        newest = _newest_reply(messages)
        if newest > begin:
            self._settled += paired(messages[begin:newest])
            self._known = messages[: newest + 1]
            begin = newest
        return self._settled + paired(messages[begin:])


def _begins_with(messages: Sequence[Message], known: Sequence[Message]) -> bool:
    return len(messages) >= len(known) and all(map(is_, messages, known))


def _newest_reply(messages: Sequence[Message]) -> int:
    """Where the newest reply stands; 0 when there is none."""
    return next((at for at in range(len(messages) - 1, 0, -1) if isinstance(messages[at], AssistantMessage)), 0)


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
