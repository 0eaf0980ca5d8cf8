"""What would be decided of the tools of MCP servers, as they were when the servers last ran. No server is started."""

from collections.abc import Iterator

from msgspec.structs import replace

from halocline.mcp.connection.supervisor import Supervisor
from halocline.policy.gate import Decision, PolicyContext, decide_call
from halocline.policy.mcp import tool_name
from halocline.protocol.errors import UsageError
from halocline.protocol.mcp import McpTool
from halocline.runtime.mcp import FolderServers, rules_of_servers
from halocline.tools.mcp_tool import summary


class JudgedTools:
    """The tools of one folder's servers under a posture, to which the servers' own settings are added."""

    def __init__(self, folder: FolderServers, posture: PolicyContext) -> None:
        self._setup = folder.setup()
        self._servers = folder.servers()
        book = replace(posture.book, rules=(*posture.book.rules, *rules_of_servers(self._servers)))
        self._posture = replace(posture, book=book)

    def all(self) -> dict[str, dict[str, str]]:
        """By server and tool: allow, ask or deny."""
        found: dict[str, dict[str, str]] = {server.name: {} for server in self._servers.servers}
        for tool in self._tools():
            found[tool.server][tool.tool] = self._decided(tool).verdict.value
        return found

    def one(self, subject: str) -> Decision:
        """The decision on `server/tool`. Raises UsageError when there is no such server."""
        for tool in self._tools():
            if subject in (tool.subject, tool_name(tool.server, tool.tool)):
                return self._decided(tool)
        server, _, name = subject.rpartition("/")
        known = [each.name for each in self._servers.servers]
        if server not in known or not name:
            hint = f"The servers are: {', '.join(known)}." if known else "None is set up: halo mcp add"
            raise UsageError(f"There is no MCP server for {subject!r}.", f"Write it as server/tool. {hint}")
        decision = self._decided(McpTool("", server, name))
        unknown = f"whether it only reads is not known, as it is none that {server} is known to offer"
        return replace(decision, reason=f"{decision.reason}; {unknown} (halo mcp test {server})")

    def _tools(self) -> Iterator[McpTool]:
        for server in self._servers.servers:
            for tool in Supervisor(server, self._setup).tools:
                yield replace(tool, changed=self._setup.pins.changed(tool))

    def _decided(self, tool: McpTool) -> Decision:
        return decide_call(summary(tool, {}), self._posture)
