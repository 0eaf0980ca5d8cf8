"""Decisions on the tools of MCP servers, as offered when each server last ran. Starts no server."""

from collections.abc import Iterator

from msgspec.structs import replace

from halocline.mcp.connection.supervisor import Supervisor
from halocline.policy.gate import Decision, PolicyContext, decide_call
from halocline.policy.mcp import tool_name
from halocline.protocol.errors import UsageError
from halocline.protocol.events.mcp import McpTool
from halocline.runtime.mcp import FolderServers, rules_of_servers
from halocline.tools.mcp_tool import summary


class JudgedTools:
    """The tools of one folder's servers, judged in a policy context plus the servers' own settings."""

    def __init__(self, folder: FolderServers, posture: PolicyContext) -> None:
        self._setup = folder.setup()
        self._servers = folder.servers()
        book = replace(posture.book, rules=(*posture.book.rules, *rules_of_servers(self._servers)))
        self._posture = replace(posture, book=book)

    def all(self) -> dict[str, dict[str, str]]:
        """Return allow, ask or deny by server and tool."""
        found: dict[str, dict[str, str]] = {server.name: {} for server in self._servers.servers}
        for tool in self._tools():
            found[tool.server][tool.tool] = self._decide(tool).verdict.value
        return found

    def one(self, subject: str) -> Decision:
        """Return the decision on `server/tool`. Raises UsageError if there is no such server."""
        for tool in self._tools():
            if subject in (tool.subject, tool_name(tool.server, tool.tool)):
                return self._decide(tool)
        server, _, name = subject.rpartition("/")
        known = [each.name for each in self._servers.servers]
        if server not in known or not name:
            hint = f"The servers are: {', '.join(known)}." if known else "Add a server first: halo mcp add"
            raise UsageError(f"There is no MCP server for {subject!r}.", f"Write it as server/tool. {hint}")
        decision = self._decide(McpTool("", server, name))
        unknown = f"{server} is not known to offer it, so it may not be read-only"
        return replace(decision, reason=f"{decision.reason}; {unknown} (halo mcp test {server})")

    def _tools(self) -> Iterator[McpTool]:
        for server in self._servers.servers:
            for tool in Supervisor(server, self._setup).tools:
                yield replace(tool, changed=self._setup.pins.changed(tool))

    def _decide(self, tool: McpTool) -> Decision:
        return decide_call(summary(tool, {}), self._posture)
