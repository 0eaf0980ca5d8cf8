"""MCP servers and their tools in a task's log.

What must stay true: every tool that the model may call is in the log, with its name and definition. Names are looked
up in that table, never parsed.
"""

from collections.abc import Iterable
from typing import Literal

from halocline.protocol.events.durable import Durable
from halocline.protocol.messages import Usage, UserPart
from halocline.protocol.values import JsonObject, Value

SEPARATOR = "__"
"""Separates server and tool in a name; no built-in tool's name contains it."""

Order = Literal["name", "newest", "stars", "downloads"]
"""Sort orders for a registry's servers."""


class McpTool(Value, frozen=True):
    """One tool of a server. `name` is its name for the model, `tool` its name on the server.

    `read_only` is the server's claim. `digest` is the hash of the whole definition; `changed` is a unified diff to the
    definition that a person approved, empty if they are the same. `renamed` leads from names of arguments that every
    vendor takes, as in `schema`, to the server's.
    """

    name: str
    server: str
    tool: str
    description: str = ""
    schema: JsonObject = {}
    read_only: bool = False
    digest: str = ""
    changed: str = ""
    renamed: dict[str, str] = {}

    @property
    def subject(self) -> str:
        """Name of the tool in rules and for people."""
        return f"{self.server}/{self.tool}"

    def is_offered_as(self, other: "McpTool") -> bool:
        """True if a model reads the same of both."""
        return (self.description, self.schema) == (other.description, other.schema)


class McpServer(Value, frozen=True):
    """A server's offer to a task. If it is `searched`, the model finds and calls its tools through two built-in ones.

    `resources` is true if it has resources to read.
    """

    name: str
    tools: tuple[McpTool, ...] = ()
    searched: bool = False
    resources: bool = False


def tool_named(servers: Iterable[McpServer], name: str) -> McpTool | None:
    """Find the tool with this name for the model, or None."""
    return next((tool for server in servers for tool in server.tools if tool.name == name), None)


class McpOffered(Durable, frozen=True):
    """The tools and resources of an MCP server changed to these."""

    server: McpServer


class McpToolRefused(Durable, frozen=True):
    """The server of `model` refused a request because of this tool: that model is not offered it, as it is now, again.

    `tool` is as in a call, `why` are the server's words. Without a model, as in older logs, it is left out for all.
    """

    tool: str
    why: str = ""
    model: str = ""


class McpReported(Durable, frozen=True):
    """The model was told about changes of MCP servers."""

    content: tuple[UserPart, ...]


class McpSampled(Durable, frozen=True):
    """An MCP server used the task's model (sampling) during `call`. `always`: no approval needed again in this task.

    `cost` is in US dollars; None if the price is unknown.
    """

    server: str
    call: str
    model: str
    usage: Usage = Usage()
    cost: float | None = None
    always: bool = False


class Sampled(Value, frozen=True):
    """Usage of sampling so far, and the servers that need no further approval."""

    requests: int = 0
    tokens: int = 0
    allowed: frozenset[str] = frozenset()

    def after(self, event: McpSampled) -> "Sampled":
        allowed = self.allowed | {event.server} if event.always else self.allowed
        return Sampled(self.requests + 1, self.tokens + event.usage.total, allowed)


McpEvent = McpOffered | McpToolRefused | McpReported | McpSampled
