"""The MCP servers of a task."""

from msgspec.structs import replace

from halocline.protocol.events.mcp import McpSampled, McpServer, Sampled
from halocline.protocol.values import Value


class McpState(Value, frozen=True):
    """Servers, as last offered, and their requests to the model."""

    servers: tuple[McpServer, ...] = ()
    sampled: Sampled = Sampled()

    def with_server(self, server: McpServer) -> "McpState":
        kept = tuple(known for known in self.servers if known.name != server.name)
        return replace(self, servers=(*kept, server))

    def after_sampling(self, event: McpSampled) -> "McpState":
        return replace(self, sampled=self.sampled.after(event))
