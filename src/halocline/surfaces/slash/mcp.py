"""`/mcp`: the MCP servers of a task, their tools, and turning one on or off."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from halocline.client.mcp import McpService
from halocline.client.tasks import Client
from halocline.protocol.waiting import wait_until
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.context import SlashAnswer, SlashContext

NONE = "No MCP servers. To add one: !halo mcp add NAME COMMAND"
ELSEWHERE = "Another process runs this task and its servers. Type /mcp there."
LONGEST_LINE = 160
OFF = "off"
PATIENCE, BEAT = 5.0, 0.1
"""Seconds in which a task should notice the changed file, and those between two looks."""
VERBS = {"tools": "list its tools", "on": "turn it on", "off": "turn it off"}
USAGE = """\
/mcp             list the servers
/mcp NAME        show one, with its tools
/mcp NAME on     turn it on
/mcp NAME off    turn it off, in every task that uses the same file"""


async def answer_mcp(context: SlashContext, rest: str) -> SlashAnswer:
    if not rest:
        return await _list_servers(context)
    name, _, verb = rest.rpartition(" ") if rest.rpartition(" ")[2] in VERBS else (rest, "", "tools")
    known = await _states_of(context.client, context.task)
    if name not in known:
        return f"No MCP server {name!r}. Servers: {', '.join(known) or 'none'}.\n{USAGE}"
    if verb == "tools":
        return _show_server(context, name, known[name])
    return await _switch_server(context, name, on=verb == "on")


async def complete_mcp(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    match given:
        case []:
            return {f"{name} ": state for name, state in (await _states_of(client, task)).items()}
        case [_]:
            return VERBS
    return {}


async def _states_of(client: Client, task: str) -> dict[str, str]:
    """Return the servers that this task runs or could run, with what is to be said of each."""
    listed = await asyncio.to_thread(McpService.open(Path(client.state(task).workspace)).listed)
    states = {one.name: one.problem or one.state for one in listed}
    return states | {
        one.name: f"{one.state}: {one.error}" if one.error else f"{one.state}, {format_plural(one.tools, 'tool')}"
        for one in client.mcp_standings(task)
    }


async def _list_servers(context: SlashContext) -> str:
    if context.client.is_attached(context.task):
        return ELSEWHERE
    lines = [
        f"{clean(name)}  {clean(state)}" for name, state in (await _states_of(context.client, context.task)).items()
    ]
    prompts = [f"/{clean(prompt.command)}" for prompt in context.client.mcp_prompts(context.task)]
    return "\n".join([*(lines or [NONE]), *([f"Prompts: {', '.join(prompts)}"] if prompts else [])])


def _show_server(context: SlashContext, name: str, state: str) -> str:
    servers = context.client.state(context.task).mcp.servers
    tools = [tool for server in servers if server.name == name for tool in server.tools]
    lines = [f"  {clean(tool.tool)}  {clean(' '.join(tool.description.split()))}"[:LONGEST_LINE] for tool in tools]
    return "\n".join([f"{clean(name)}  {clean(state)}", *lines])


async def _switch_server(context: SlashContext, name: str, *, on: bool) -> str:
    """Change the server's file, and wait until this task has taken the change in."""
    service = McpService.open(context.workspace)
    file = await asyncio.to_thread(service.switch, name, on=on)

    async def is_switched() -> bool:
        standings = context.client.mcp_standings(context.task)
        return all(one.name != name or (one.state != OFF) is on for one in standings)

    await wait_until(is_switched, PATIENCE, BEAT)
    return f"{clean(name)} is {'on' if on else 'off'} from the next request on ({clean(str(file))})."
