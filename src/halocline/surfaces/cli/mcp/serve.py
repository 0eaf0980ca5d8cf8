"""`halo mcp serve`: Halocline as an MCP server over standard input and output, for other agents.

What must stay true: standard output belongs to the protocol alone; a task of a client runs in the folder that was
named here, with the approvals that were named here, and ends when its call is called off. What needs a person is put
to the client's, if it can ask one: in the middle of the call, or, where the protocol has no way back, by a call anew.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import mcp_types as types
from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from msgspec.structs import replace
from pydantic import Field

from halocline._version import __version__
from halocline.client import Client
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import ApprovalRequested, Durable, QuestionAsked, ToolCallStarted, TurnEnded
from halocline.protocol.messages import Text
from halocline.protocol.state.final_answer import final_text
from halocline.runtime.controller import TaskOptions
from halocline.surfaces import event_loop
from halocline.surfaces.cli.mcp.serve_forms import QUESTION, Asked, answer_to, form_of, is_open
from halocline.surfaces.export import to_markdown
from halocline.surfaces.figures import format_plural
from halocline.surfaces.rows import rows_of

MOST_TASKS = 50
LONGEST = 100_000
"""Characters of a task that is read; of a longer one the end."""
PATIENCE = 600.0
"""Seconds for which a task waits for the call that brings an answer."""
ABOUT = "Halocline is a coding agent. run_task gives it work in the folder {folder}; its tasks can be listed and read."

Prompt = Annotated[str, Field(description="What to do, with all that it has to know.")]
TaskId = Annotated[str, Field(description="The task, as run_task and list_tasks name it.")]
Resumed = Annotated[str, Field(description="A task to go on with, instead of a new one.")]


def serve_stdio(client: Client, folder: Path, options: TaskOptions) -> None:
    """Until the client closes our input."""
    event_loop.run_loop(_serve_client(client, folder, options))


async def _serve_client(client: Client, folder: Path, options: TaskOptions) -> None:
    try:
        await build_server(client, folder, options).run_stdio_async()
    finally:
        await client.close()


def build_server(client: Client, folder: Path, options: TaskOptions) -> MCPServer:
    """The server with its three tools."""
    server = MCPServer("halocline", version=__version__, instructions=ABOUT.format(folder=folder))
    desk = _Server(client, folder, options)

    @server.tool(description="Let Halocline, a coding agent, do a task in its folder, and give its final answer.")
    async def run_task(prompt: Prompt, ctx: Context, task: Resumed = "") -> str | types.InputRequiredResult:
        return await desk.run(prompt, task, ctx)

    @server.tool(description="The tasks of Halocline, the newest first: id, state, folder, title.")
    async def list_tasks() -> str:
        found = client.history()[:MOST_TASKS]
        return "\n".join(f"{one.task}  {one.status}  {one.workspace}  {one.title}" for one in found) or "No tasks."

    @server.tool(description="What was said and done in a task, as Markdown.")
    async def read_task(task: TaskId) -> str:
        try:
            rows = rows_of(client.past(client.find(task)))
        except HaloclineError as error:
            raise ToolError(f"{error.text} {error.hint}".strip()) from error
        text = to_markdown(rows)
        return text if len(text) <= LONGEST else f"[the beginning is left out]\n{text[-LONGEST:]}"

    return server


@dataclass(slots=True)
class _Work:
    """A task under way: what was heard of it, and what it asks its client's person."""

    task: str
    after: int
    calls: int = 0
    asked: Asked | None = None
    since: float = 0.0


class _Server:
    """The tasks of one client. Those that wait for its next call are kept, and given up after a while."""

    def __init__(self, client: Client, folder: Path, options: TaskOptions) -> None:
        self._client = client
        self._folder = folder
        self._options = options
        self._waiting: dict[str, _Work] = {}

    async def run(self, prompt: str, task: str, ctx: Context) -> str | types.InputRequiredResult:
        """The final answer, or what has to be asked first where only the client's next call can bring the answer."""
        await self._give_up()
        work = self._taken_up(ctx) or await self._begun(prompt, task, ctx)
        try:
            while asked := await self._further(work, ctx):
                if not ctx.session.can_send_request:
                    work.asked, work.since = asked, time.monotonic()
                    self._waiting[work.task] = work
                    request = types.ElicitRequest(params=form_of(asked))
                    return types.InputRequiredResult(input_requests={QUESTION: request}, request_state=work.task)
                self._client.send(answer_to(asked, await _elicit(asked, ctx)))
            return self._answer(work)
        finally:
            if work.task not in self._waiting:
                await self._end(work)

    async def _begun(self, prompt: str, task: str, ctx: Context) -> _Work:
        can = ctx.client_capabilities
        options = replace(self._options, attended=bool(can and can.elicitation))
        try:
            name = await (self._client.resume(task, options) if task else self._client.start(self._folder, options))
        except HaloclineError as error:
            raise ToolError(f"{error.text} {error.hint}".strip()) from error
        work = _Work(name, self._client.state(name).seq)
        try:
            await self._client.pass_on(cmd.SubmitPrompt(task=name, content=(Text(prompt),)))
        except HaloclineError as error:
            await self._end(work)
            if not task:
                self._client.forget(name)
            raise ToolError(f"{error.text} {error.hint}".strip()) from error
        return work

    def _taken_up(self, ctx: Context) -> _Work | None:
        """The task that waited for this call, with its answer."""
        if not ctx.request_state:
            return None
        work = self._waiting.pop(ctx.request_state, None)
        if work is None or work.asked is None:
            raise ToolError("That task does not wait any more. Go on with it: run_task with its id as `task`.")
        given = (ctx.input_responses or {}).get(QUESTION)
        self._client.send(answer_to(work.asked, given if isinstance(given, types.ElicitResult) else None))
        return work

    async def _further(self, work: _Work, ctx: Context) -> Asked | None:
        """Follow the task to its end, or to what it asks; tell of each tool call."""
        async for event in self._client.events(work.task, work.after):
            work.after = event.seq if isinstance(event, Durable) else work.after
            match event:
                case ToolCallStarted():
                    work.calls += 1
                    await ctx.report_progress(work.calls, message=event.title)
                case ApprovalRequested() | QuestionAsked() if is_open(event, self._client.state(work.task)):
                    return event
                case TurnEnded():
                    return None
        return None

    def _answer(self, work: _Work) -> str:
        state = self._client.state(work.task)
        end = state.last_end
        said = final_text(state) or (end.text if end else "")
        refused = " Some calls needed an approval, which nobody could give." if state.nobody_answered else ""
        facts = f"{end.reason.value if end else 'open'}, {format_plural(work.calls, 'tool call')}"
        return f"{said}\n\n[task {work.task}: {facts}.{refused}]"

    async def _give_up(self) -> None:
        """End what has waited too long for a client that did not come back."""
        late = [work for work in self._waiting.values() if time.monotonic() - work.since > PATIENCE]
        for work in late:
            await self._end(self._waiting.pop(work.task))

    async def _end(self, work: _Work) -> None:
        self._client.send(cmd.Interrupt(task=work.task))
        await self._client.let_go(work.task)


async def _elicit(asked: Asked, ctx: Context) -> types.ElicitResult | None:
    """What the client's person says; None when the client could not ask."""
    form = form_of(asked)
    try:
        given: types.ElicitResult = await ctx.session.elicit_form(form.message, form.requested_schema, ctx.request_id)
    except MCPError:
        return None
    return given
