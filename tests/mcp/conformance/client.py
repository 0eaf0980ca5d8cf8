"""Our MCP client as the conformance suite runs it: `python -m tests.mcp.conformance.client URL`.

It signs in if it has to, with a browser that follows where it is sent, lists what the server offers, and calls each
tool once with the least that its schema wants.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

import httpx2

from halocline.mcp.connection.supervisor import Supervisor
from halocline.ports.mcp import Caller
from halocline.protocol.errors import ToolFailure
from halocline.runtime.assembly.assembly import Assembly
from halocline.services.mcp.servers import McpService
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

EXAMPLES = {"string": "text", "number": 2, "integer": 2, "boolean": True, "array": [], "object": {}}


class Browser:
    """Opens pages as a person would."""

    def __init__(self):
        self.visits = []

    def show(self, url):
        self.visits.append(asyncio.create_task(self._visit(url)))

    async def _visit(self, url):
        async with httpx2.AsyncClient(follow_redirects=True) as client:
            return await client.get(url)


async def main(url: str) -> int:
    folder = Path(tempfile.mkdtemp())
    home = Home.of({"HALOCLINE_HOME": str(folder / "home")})
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    oauth = (
        {"clientId": context["client_id"], "clientSecret": context["client_secret"]} if "client_id" in context else {}
    )
    entry = {"url": url, "type": "streamableHttp", "oauth": oauth, "startTimeout": 30}
    home.mcp.write_text(json.dumps({"mcpServers": {"suite": entry}}))
    servers = Assembly(home, Settings(), {}).mcp_of(folder)
    signed = await McpService(servers).signed_in("suite", Browser().show, limit=30)
    if not signed.ok:
        sys.stderr.write(f"{signed.error}\n")
        return 1
    each = Supervisor(servers.servers().servers[0], servers.setup())
    try:
        return await call_all(each)
    finally:
        await each.close()


async def call_all(each: Supervisor) -> int:
    each.begin(anyway=True)
    await each.settled.wait()
    for tool in each.tools:
        fields = tool.schema["properties"]
        given = {name: EXAMPLES[fields[name].get("type", "string")] for name in tool.schema.get("required", fields)}
        try:
            await each.call_tool(tool, given, Caller("suite", lambda text: None, answer))
        except ToolFailure as failure:
            sys.stderr.write(f"{failure.text}\n")
    return 0


async def answer(question, options):
    """Nobody is there."""


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
