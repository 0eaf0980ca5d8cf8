"""The task's model for MCP servers that ask something of it (sampling), within bounds and with a person's leave.

What must stay true: nobody's model is asked without leave, and where nobody is there, only if the settings say so;
what it took is an event, and counts as the task's. A budget is kept by the log, so it holds after a crash, too.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol, cast

from halocline.context.token_estimate import estimate_tokens, message_tokens
from halocline.ports.mcp import Spoken, Wanted
from halocline.ports.model import Model, ModelEvent, Request
from halocline.ports.tool import Overtaken
from halocline.protocol.errors import ModelError, ToolFailure
from halocline.protocol.events import AssistantMessageCompleted, McpSampled, UsageReported
from halocline.protocol.messages import AssistantMessage, Message, StopReason, Text, Usage
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

ONCE, ALWAYS, NO = "Allow this once", "Allow it in this task", "Decline"
SHOWN = 1_500
"""Characters of a prompt that a person reads before they agree."""


class Bounds(Value, frozen=True):
    """How much servers may have a task's model answer. `asks`: a person has to agree."""

    asks: bool = True
    requests: int = 20
    tokens: int = 50_000


class Asker(Protocol):
    """Puts a question to the person while a call runs; None when nobody can answer."""

    def __call__(self, question: str, options: Sequence[str], call: str) -> Awaitable[str | None]: ...


class Sampling:
    """Fulfils `ports.mcp.Sample` for one task."""

    def __init__(
        self, model: Model, emit: Callable[[McpSampled], None], state: Callable[[], State], ask: Asker, bounds: Bounds
    ) -> None:
        self._model = model
        self._emit = emit
        self._state = state
        self._ask = ask
        self._bounds = bounds

    async def __call__(self, wanted: Wanted, call: str) -> Spoken:
        """Let the model answer. Raises ToolFailure, whose text the server reads."""
        most = self._room(wanted)
        always = await self._agreed(wanted, most, call)
        self._room(wanted)  # another request may have been answered while a person was thinking
        return await self._answered(wanted, most, call, always=always)

    def _room(self, wanted: Wanted) -> int:
        """How many tokens an answer may have. Raises ToolFailure when the budget is spent."""
        done, bounds = self._state().sampled, self._bounds
        if done.requests >= bounds.requests:
            raise ToolFailure(f"Servers may ask the model {bounds.requests} times in a task, and did.")
        left = bounds.tokens - done.tokens - estimate_size(wanted)
        if left <= 0:
            raise ToolFailure(f"Servers may use {bounds.tokens:,} tokens in a task; this would be more.")
        return min(wanted.max_tokens or left, left)

    async def _agreed(self, wanted: Wanted, most: int, call: str) -> bool:
        """Whether the server need not ask again. Raises ToolFailure when a person, or nobody, says no."""
        state = self._state()
        if not self._bounds.asks or wanted.server in state.sampled.allowed:
            return False
        try:
            answer = await self._ask(sampling_question(wanted, state, self._bounds, most), (ONCE, ALWAYS, NO), call)
        except Overtaken:
            answer = NO
        if answer is None:
            raise ToolFailure("Nobody is there to agree that the model is asked.")
        if answer not in (ONCE, ALWAYS):
            raise ToolFailure("The person declined that the model is asked.")
        return answer == ALWAYS

    async def _answered(self, wanted: Wanted, most: int, call: str, *, always: bool) -> Spoken:
        model = self._state().model
        request = Request(model, wanted.system, wanted.messages, max_tokens=most, summary=True)
        usage, cost, reply = Usage(), cast(float | None, 0.0), AssistantMessage(())
        stream = cast(AsyncGenerator[ModelEvent, None], self._model.stream(request))
        try:
            async with aclosing(stream):
                async for event in stream:
                    match event:
                        case UsageReported():
                            usage += event.usage
                            cost = None if cost is None or event.cost is None else cost + event.cost
                        case AssistantMessageCompleted():
                            reply = event.message
        except ModelError as error:
            raise ToolFailure(f"The model did not answer: {error.text}") from error
        finally:  # what was spent is told of, however it ended
            self._emit(McpSampled(wanted.server, call, model, usage, cost, always))
        if not reply.text:
            raise ToolFailure("The model said nothing.")
        return Spoken(reply.text, model, cut=reply.stop_reason is StopReason.MAX_TOKENS)


def estimate_size(wanted: Wanted) -> int:
    """About how many tokens the model would read."""
    return estimate_tokens(wanted.system) + sum(map(message_tokens, wanted.messages))


def sampling_question(wanted: Wanted, state: State, bounds: Bounds, most: int) -> str:
    """What a person decides on: who asks which model what, and how much that is."""
    done = state.sampled
    head = (
        f"The MCP server {wanted.server} wants to ask {state.model}: about {estimate_size(wanted):,} tokens, "
        f"up to {most:,} back. It is request {done.requests + 1} of {bounds.requests} that this task allows; "
        f"{bounds.tokens - done.tokens:,} of {bounds.tokens:,} tokens are left."
    )
    said = [f"System prompt: {_shorten_text(wanted.system)}"] if wanted.system else []
    for message in wanted.messages:
        who = "Answered before" if isinstance(message, AssistantMessage) else "Prompt"
        said.append(f"{who}: {_message_text(message)}")
    return _shorten_text("\n\n".join((head, *said)), SHOWN + len(head))


def _message_text(message: Message) -> str:
    return "".join(part.text if isinstance(part, Text) else "[a picture]" for part in message.content)


def _shorten_text(text: str, most: int = SHOWN) -> str:
    """The beginning and the end, where a text is long: what is left out is counted."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n… {len(text) - most:,} characters are not shown …\n{text[-(most // 2) :]}"
