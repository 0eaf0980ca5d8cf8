"""Port for models: a request goes in, a stream of events comes out."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Protocol, runtime_checkable

from halocline.ports.tool import ToolSpec
from halocline.protocol.events import (
    AssistantMessageCompleted,
    StepRetried,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageReported,
)
from halocline.protocol.messages import Effort, Message
from halocline.protocol.values import JsonObject, Value

ModelEvent = TextDelta | ThinkingDelta | ToolCallDelta | StepRetried | UsageReported | AssistantMessageCompleted


class Request(Value, frozen=True):
    """A model request. In `messages`, every call is directly followed by its result.

    `effort` and `thinking_budget` (tokens; 0 for none) set the reasoning effort; None means the vendor's default.
    `cache_key` is the same for requests with the same beginning. `output_schema` is the schema for the last message.
    `replies_left_out` counts the model's replies that are no longer in `messages`. `summary` requests text about the
    conversation, an approval or for an MCP server, instead of the next step. `is_capped`: `max_tokens` holds for
    thoughts and text together, whatever the effort.
    """

    model: str
    system: str
    messages: Sequence[Message]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    effort: Effort | None = None
    thinking_budget: int | None = None
    cache_key: str = ""
    output_schema: JsonObject | None = None
    replies_left_out: int = 0
    summary: bool = False
    is_capped: bool = False

    @property
    def wishes_thinking(self) -> bool:
        """True if a person set the reasoning effort."""
        return self.effort is not None or self.thinking_budget is not None


class Model(Protocol):
    """A model that answers requests.

    `stream` yields deltas, then at most one `UsageReported`, then exactly one `AssistantMessageCompleted`. A failed
    attempt may yield its own `UsageReported`, before the error or before `StepRetried`. It raises only `ModelError`
    (and cancellation). It is a generator, because only those clean up when they are left early: `aclose` closes the
    connection. A call whose arguments did not parse has `malformed` set.
    """

    @property
    def name(self) -> str:
        """`provider/model`, as users write it."""

    def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Answer one request, as said above. Raises ModelError."""

    async def close(self) -> None:
        """Close all connections."""


class Terms(Value, frozen=True):
    """The most that a request may take: US dollars per token `read` and `written`, and tokens of a `reply`.

    None is unknown. Prices are those without a cache's discount.
    """

    read: float | None = None
    written: float | None = None
    reply: int | None = None


FindTerms = Callable[[str, int], Terms]
"""Return the terms of a model (`provider/model`) for a request of so many tokens, without asking its server."""

OpensModel = Callable[[str], Model]
"""Opens a model of a provider by its name there."""


class BroughtProvider(Value, frozen=True):
    """A provider that a plug-in brings. `models` are those that it names; it may open others."""

    opens: OpensModel
    plugin: str
    models: tuple[str, ...] = ()


@runtime_checkable
class Waits(Protocol):
    """A model that may wait between two attempts."""

    def ask_now(self) -> bool:
        """Retry now instead of waiting. Return False if nothing is waiting."""
