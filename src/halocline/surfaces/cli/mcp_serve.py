"""`halo mcp serve`: Halocline as an MCP server over standard input and output, for other agents.

What must stay true: standard output belongs to the protocol alone; a task of a client runs in the folder that was
named here, with the approvals that were named here, and ends when its call is called off.
"""

import asyncio
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from pydantic import Field

from halocline._version import __version__
from halocline.controller.client import Client
from halocline.controller.controller import TaskOptions
from halocline.protocol import commands as cmd
from halocline.protocol.answer import final_text
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import ToolCallStarted, TurnEnded
from halocline.protocol.messages import Text
from halocline.surfaces.export import to_markdown
from halocline.surfaces.figures import plural
from halocline.surfaces.rows import rows_of

MOST_TASKS = 50
LONGEST = 100_000
"""Characters of a task that is read; of a longer one the end."""
ABOUT = "Halocline is a coding agent. run_task gives it work in the folder {folder}; its tasks can be listed and read."

Prompt = Annotated[str, Field(description="What to do, with all that it has to know.")]
TaskId = Annotated[str, Field(description="The task, as run_task and list_tasks name it.")]
Resumed = Annotated[str, Field(description="A task to go on with, instead of a new one.")]


def serve(client: Client, folder: Path, options: TaskOptions) -> None:
    """Until the client closes our input."""
    asyncio.run(_serving(client, folder, options))


async def _serving(client: Client, folder: Path, options: TaskOptions) -> None:
    try:
        await made(client, folder, options).run_stdio_async()
    finally:
        await client.close()


def made(client: Client, folder: Path, options: TaskOptions) -> MCPServer:
    """The server with its three tools."""
    server = MCPServer("halocline", version=__version__, instructions=ABOUT.format(folder=folder))

    @server.tool(description="Let Halocline, a coding agent, do a task in its folder, and give its final answer.")
    async def run_task(prompt: Prompt, ctx: Context, task: Resumed = "") -> str:
        return await _run(client, folder, options, prompt, task, ctx)

    @server.tool(description="The tasks of Halocline, the newest first: id, state, folder, title.")
    async def list_tasks() -> str:
        found = client.history()[:MOST_TASKS]
        return "\n".join(f"{one.task}  {one.status}  {one.workspace}  {one.title}" for one in found) or "No tasks."

    @server.tool(description="What was said and done in a task, as Markdown.")
    async def read_task(task: TaskId) -> str:
        try:
            rows = rows_of(client.past(client.find(task)))
        except HaloclineError as error:
            raise ValueError(f"{error.text} {error.hint}".strip()) from error
        text = to_markdown(rows)
        return text if len(text) <= LONGEST else f"[the beginning is left out]\n{text[-LONGEST:]}"

    return server


async def _run(client: Client, folder: Path, options: TaskOptions, prompt: str, task: str, ctx: Context) -> str:
    try:
        name = await (client.resume(task, options) if task else client.start(folder, options))
    except HaloclineError as error:
        raise ValueError(f"{error.text} {error.hint}".strip()) from error
    try:
        return await _answer(client, name, prompt, ctx)
    finally:
        client.send(cmd.Interrupt(task=name))
        await client.let_go(name)


async def _answer(client: Client, name: str, prompt: str, ctx: Context) -> str:
    """Send the prompt, tell of each tool call, and give the final words."""
    after, calls = client.state(name).seq, 0
    client.send(cmd.SubmitPrompt(task=name, content=(Text(prompt),)))
    async for event in client.events(name, after):
        if isinstance(event, ToolCallStarted):
            calls += 1
            await ctx.report_progress(calls, message=event.title)
        if isinstance(event, TurnEnded):
            break
    state = client.state(name)
    end = state.last_end
    said = final_text(state) or (end.text if end else "")
    refused = " Some calls needed an approval, which nobody could give." if state.nobody_answered else ""
    return f"{said}\n\n[task {name}: {end.reason.value if end else 'open'}, {plural(calls, 'tool call')}.{refused}]"
