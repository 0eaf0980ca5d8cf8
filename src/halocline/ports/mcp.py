"""Port for the MCP servers of one task."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from halocline.protocol.events import Event
from halocline.protocol.events.mcp import McpTool
from halocline.protocol.messages import Message, ResultPart, UserPart
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject, Value

Ask = Callable[[str, Sequence[str]], Awaitable[str | None]]
"""Asks the person a server's question; None if no one can answer."""


class Wanted(Value, frozen=True):
    """A server's request to the task's model (sampling)."""

    server: str
    messages: tuple[Message, ...]
    system: str = ""
    max_tokens: int = 0


class SampledReply(Value, frozen=True):
    """The model's answer; `cut` is true if it reached the token limit."""

    text: str
    model: str
    cut: bool = False


Sample = Callable[[Wanted, str], Awaitable[SampledReply]]
"""Lets the task's model answer a server during the named call, after approval. Raises ToolFailure."""


class Caller(Value, frozen=True):
    """The caller of a tool: what a server can use while it serves the call. `call` and `task` are ids in the log.

    `traceparent` is the call's place in a trace; empty: in none.
    """

    call: str
    progress: Callable[[str], None]
    ask: Ask
    task: str = ""
    sample: Sample | None = None
    traceparent: str = ""


class PromptArgument(Value, frozen=True):
    """An argument of a server's prompt."""

    name: str
    description: str = ""
    required: bool = False


class McpPrompt(Value, frozen=True):
    """A prompt that a server offers to people."""

    server: str
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()

    @property
    def command(self) -> str:
        """Its slash command, without the slash."""
        return f"mcp:{self.server}:{self.name}"


class McpStanding(Value, frozen=True):
    """Status of a server: `state` is off, resting, starting, ready or failed; `error` says why it failed."""

    name: str
    state: str
    tools: int = 0
    error: str = ""


class Mcp(Protocol):
    """The servers of one task. They start in the background; only `news` waits for that, and only once."""

    def begin(self) -> None:
        """Start the servers that are needed, without waiting for them."""

    async def collect_changes(self, state: State) -> Sequence[Event]:
        """Return the servers' changes since the last call. Only the first call waits, as long as the settings allow."""

    def allow_sampling(self, sample: Sample) -> None:
        """Let servers use the task's model from now on."""

    async def call(self, tool: McpTool, arguments: JsonObject, caller: Caller) -> tuple[ResultPart, ...]:
        """Call a tool, as it was when it was offered to the model. Raises ToolFailure."""

    async def read(self, server: str, uri: str) -> tuple[ResultPart, ...]:
        """Read a resource; without a URI, list the resources of a server, or of all. Raises ToolFailure."""

    def found(self, query: str) -> list[McpTool]:
        """Return the tools that match a query, with their schemas, the best match first."""

    def standings(self) -> list[McpStanding]:
        """Return the status of each server."""

    async def known(self, server: str) -> None:
        """Wait until a server has started or failed; at most for its start timeout."""

    def prompts(self) -> list[McpPrompt]:
        """Return the prompts of all servers whose prompts were requested."""

    async def prompt(self, server: str, name: str, arguments: dict[str, str]) -> tuple[UserPart, ...]:
        """Return the content of a prompt. Raises UsageError."""

    async def close(self) -> None:
        """End all servers, and wait until they are gone."""
