"""The door to a model: a request goes in, a stream of events comes out."""

from collections.abc import AsyncIterator
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
    """All a model is told. Every call in `messages` has its result directly after it.

    `effort` and `thinking_budget` (tokens; 0 for none) say how hard to think; None leaves that to the vendor.
    `cache_key` is the same for requests that begin alike. `output_schema` is what the last message has to fit.
    `replies_left_out` counts the model's replies that are not in `messages` any more. `summary`: not its next step is
    wanted, but words about the conversation, or for an MCP server.
    """

    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    effort: Effort | None = None
    thinking_budget: int | None = None
    cache_key: str = ""
    output_schema: JsonObject | None = None
    replies_left_out: int = 0
    summary: bool = False

    @property
    def wishes_thinking(self) -> bool:
        """Whether a person said how hard to think."""
        return self.effort is not None or self.thinking_budget is not None


class Model(Protocol):
    """Something that answers requests.

    Promises of `stream`: deltas, then at most one `UsageReported`, then exactly one `AssistantMessageCompleted`.
    An attempt that fails may have its own `UsageReported`, before the error or before `StepRetried`. It raises only
    `ModelError` (and cancellation). Leaving the iterator early closes the connection. A call whose arguments did not
    parse arrives with `malformed` set.
    """

    @property
    def name(self) -> str:
        """`provider/model`, as a person names it."""

    def stream(self, request: Request) -> AsyncIterator[ModelEvent]: ...

    async def close(self) -> None:
        """Let go of connections."""


@runtime_checkable
class Waits(Protocol):
    """A model that may wait between two attempts."""

    def ask_now(self) -> bool:
        """A person waits no longer: ask again at once. False when nothing waits."""
