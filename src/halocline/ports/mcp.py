"""The door to other people's tools: the MCP servers of one task."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from halocline.protocol.events import Event
from halocline.protocol.mcp import McpTool
from halocline.protocol.messages import Message, ResultPart, UserPart
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject, Value

Ask = Callable[[str, Sequence[str]], Awaitable[str | None]]
"""Puts a question of a server to the person; None when nobody can answer."""


class Wanted(Value, frozen=True):
    """What a server wants the task's model to answer."""

    server: str
    messages: tuple[Message, ...]
    system: str = ""
    max_tokens: int = 0


class Spoken(Value, frozen=True):
    """What the model said; `cut`: it had to stop at the limit."""

    text: str
    model: str
    cut: bool = False


Sample = Callable[[Wanted, str], Awaitable[Spoken]]
"""Lets the task's model answer while a call runs, which is named; a person agrees first. Raises ToolFailure."""


class Caller(Value, frozen=True):
    """Who calls: where a server can turn to while it serves the call, which is named as in the log, and its task."""

    call: str
    progress: Callable[[str], None]
    ask: Ask
    task: str = ""
    sample: Sample | None = None


class PromptArgument(Value, frozen=True):
    name: str
    description: str = ""
    required: bool = False


class McpPrompt(Value, frozen=True):
    """A prompt that a server keeps ready for people."""

    server: str
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()

    @property
    def command(self) -> str:
        """How a person asks for it, behind a slash."""
        return f"mcp:{self.server}:{self.name}"


class McpStanding(Value, frozen=True):
    """How it stands with a server: `state` is off, resting, starting, ready or failed; `error` says why it failed."""

    name: str
    state: str
    tools: int = 0
    error: str = ""


class Mcp(Protocol):
    """The servers of one task. They live in the background; nobody but `news` waits for their start, and once."""

    def begin(self) -> None:
        """Start what has to be started. Returns at once."""

    async def news(self, state: State) -> Sequence[Event]:
        """What became of the servers since the task last heard. Only the first time it may wait, as long as is set."""

    def lend(self, sample: Sample) -> None:
        """From now on servers may have the task's model answer."""

    async def call(self, tool: McpTool, arguments: JsonObject, caller: Caller) -> tuple[ResultPart, ...]:
        """Call a tool, as it was when the model was told of it. Raises ToolFailure."""

    async def read(self, server: str, uri: str) -> tuple[ResultPart, ...]:
        """Read a resource; without a URI, list those of a server, or of all. Raises ToolFailure."""

    def found(self, query: str) -> list[McpTool]:
        """The tools that fit a query, the best first, with their schemas."""

    def standings(self) -> list[McpStanding]:
        """How it stands with each server."""

    async def known(self, server: str) -> None:
        """Wait until it is known what a server offers, or that it failed; at most as long as a start may take."""

    def prompts(self) -> list[McpPrompt]:
        """The prompts of all servers that were asked for them."""

    async def prompt(self, server: str, name: str, arguments: dict[str, str]) -> tuple[UserPart, ...]:
        """What a prompt says. Raises UsageError."""

    async def close(self) -> None:
        """End all servers, and wait until they are gone."""
