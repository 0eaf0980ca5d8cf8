"""MCP sampling: lets servers use the task's model, within bounds and with the user's permission.

What must stay true: the model is used only with permission, and if no one can answer, only if the settings allow it;
usage is an event and counts toward the task. The budget is kept in the log, so it survives a crash.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol, cast

from halocline.context.token_estimate import estimate_tokens, message_tokens
from halocline.ports.mcp import SampledReply, Wanted
from halocline.ports.model import Model, Request
from halocline.ports.tool import Overtaken
from halocline.protocol.errors import ModelError, ToolFailure
from halocline.protocol.events import AssistantMessageCompleted, McpSampled, UsageReported
from halocline.protocol.messages import AssistantMessage, Message, StopReason, Text, Usage
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

ONCE, ALWAYS, NO = "Allow this once", "Allow it in this task", "Decline"
SHOWN = 1_500
"""Characters of a prompt shown to the user for approval."""


class Bounds(Value, frozen=True):
    """Limits on servers' use of a task's model. `asks`: the user must approve."""

    asks: bool = True
    requests: int = 20
    tokens: int = 50_000


class Asker(Protocol):
    """Asks the user a question while a call runs; returns None if no one can answer."""

    def __call__(self, question: str, options: Sequence[str], call: str) -> Awaitable[str | None]: ...


class Sampling:
    """Implements `ports.mcp.Sample` for one task."""

    def __init__(
        self, model: Model, emit: Callable[[McpSampled], None], state: Callable[[], State], ask: Asker, bounds: Bounds
    ) -> None:
        self._model = model
        self._emit = emit
        self._state = state
        self._ask = ask
        self._bounds = bounds

    async def __call__(self, wanted: Wanted, call: str) -> SampledReply:
        """Let the model answer. Raises ToolFailure with a text for the server."""
        most = self._token_budget(wanted)
        always = await self._ask_permission(wanted, most, call)
        self._token_budget(wanted)  # another request may have used the budget while the user decided
        return await self._request_answer(wanted, most, call, always=always)

    def _token_budget(self, wanted: Wanted) -> int:
        """Return the maximum tokens of an answer. Raises ToolFailure if the budget is spent."""
        done, bounds = self._state().mcp.sampled, self._bounds
        if done.requests >= bounds.requests:
            raise ToolFailure(f"This task's limit of {bounds.requests} sampling requests is used up.")
        left = bounds.tokens - done.tokens - estimate_size(wanted)
        if left <= 0:
            raise ToolFailure(f"This request would exceed the task's sampling limit of {bounds.tokens:,} tokens.")
        return min(wanted.max_tokens or left, left)

    async def _ask_permission(self, wanted: Wanted, most: int, call: str) -> bool:
        """Return True if the user allowed the server for this task. Raises ToolFailure without permission."""
        state = self._state()
        if not self._bounds.asks or wanted.server in state.mcp.sampled.allowed:
            return False
        try:
            answer = await self._ask(sampling_question(wanted, state, self._bounds, most), (ONCE, ALWAYS, NO), call)
        except Overtaken:
            answer = NO
        if answer is None:
            raise ToolFailure("Sampling needs the user's approval, and nobody can give it now.")
        if answer not in (ONCE, ALWAYS):
            raise ToolFailure("The user declined this sampling request.")
        return answer == ALWAYS

    async def _request_answer(self, wanted: Wanted, most: int, call: str, *, always: bool) -> SampledReply:
        model = self._state().model.name
        request = Request(model, wanted.system, wanted.messages, max_tokens=most, summary=True)
        usage, cost, reply = Usage(), cast(float | None, 0.0), AssistantMessage(())
        try:
            async with aclosing(self._model.stream(request)) as stream:
                async for event in stream:
                    match event:
                        case UsageReported():
                            usage += event.usage
                            cost = None if cost is None or event.cost is None else cost + event.cost
                        case AssistantMessageCompleted():
                            reply = event.message
        except ModelError as error:
            raise ToolFailure(f"The model did not answer: {error.text}") from error
        finally:  # usage is recorded however it ended
            self._emit(McpSampled(wanted.server, call, model, usage, cost, always))
        if not reply.text:
            raise ToolFailure("The model returned an empty answer.")
        return SampledReply(reply.text, model, cut=reply.stop_reason is StopReason.MAX_TOKENS)


def estimate_size(wanted: Wanted) -> int:
    """Estimate the input tokens of a request."""
    return estimate_tokens(wanted.system) + sum(map(message_tokens, wanted.messages))


def sampling_question(wanted: Wanted, state: State, bounds: Bounds, most: int) -> str:
    """Build the question for the user: which server asks which model what, and the size."""
    done = state.mcp.sampled
    head = (
        f"The MCP server {wanted.server} wants to use {state.model.name}: "
        f"about {estimate_size(wanted):,} input tokens, up to {most:,} output tokens. "
        f"This is request {done.requests + 1} of {bounds.requests} for this task; "
        f"{bounds.tokens - done.tokens:,} of {bounds.tokens:,} tokens are left."
    )
    texts = [f"System prompt: {_shorten_text(wanted.system)}"] if wanted.system else []
    for message in wanted.messages:
        who = "Earlier answer" if isinstance(message, AssistantMessage) else "Prompt"
        texts.append(f"{who}: {_message_text(message)}")
    return _shorten_text("\n\n".join((head, *texts)), SHOWN + len(head))


def _message_text(message: Message) -> str:
    return "".join(part.text if isinstance(part, Text) else "[an image]" for part in message.content)


def _shorten_text(text: str, most: int = SHOWN) -> str:
    """Return beginning and end of a long text, with a count of what is left out."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n… {len(text) - most:,} characters are not shown …\n{text[-(most // 2) :]}"
