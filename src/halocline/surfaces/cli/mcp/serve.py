"""`halo mcp serve`: Halocline as an MCP server over standard input and output, for other agents.

What must stay true: standard output carries the protocol alone; a client's task runs in the folder and with the
approval mode of the command line, and ends when its call is canceled. Questions go to the client's user, if the client
can ask: during the call, or, where the protocol has no requests to the client, through another call.
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
from halocline.client.options import TaskOptions
from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import ApprovalRequested, Durable, QuestionAsked, ToolCallStarted, TurnEnded
from halocline.protocol.messages import Text
from halocline.protocol.state.evidence.findings import find_evidence
from halocline.protocol.state.final_answer import final_text
from halocline.surfaces import event_loop
from halocline.surfaces.cli.mcp.serve_forms import QUESTION, Asked, answer_to, form_of, is_open
from halocline.surfaces.export.markdown import to_markdown
from halocline.surfaces.figures import format_plural
from halocline.surfaces.rows.fold import rows_of

MOST_TASKS = 50
LONGEST = 100_000
"""Most characters of a task returned; of a longer one, its end."""
PATIENCE = 600.0
"""Seconds that a task waits for the call with the answer."""
ABOUT = "Halocline is a coding agent. run_task runs a task in the folder {folder}; list_tasks and read_task show tasks."

Prompt = Annotated[str, Field(description="What to do, with all the context it needs.")]
TaskId = Annotated[str, Field(description="Task ID from run_task or list_tasks.")]
Resumed = Annotated[str, Field(description="ID of a task to continue instead of starting a new one.")]


def serve_stdio(client: Client, folder: Path, options: TaskOptions) -> None:
    """Serve until the client closes standard input."""
    event_loop.run_loop(_serve_client(client, folder, options))


async def _serve_client(client: Client, folder: Path, options: TaskOptions) -> None:
    try:
        await build_server(client, folder, options).run_stdio_async()
    finally:
        await client.close()


def build_server(client: Client, folder: Path, options: TaskOptions) -> MCPServer:
    """Build the server with its three tools."""
    server = MCPServer("halocline", version=__version__, instructions=ABOUT.format(folder=folder))
    desk = _Server(client, folder, options)

    @server.tool(description="Run a task with Halocline, a coding agent, in its folder. Returns the final answer.")
    async def run_task(prompt: Prompt, ctx: Context, task: Resumed = "") -> str | types.InputRequiredResult:
        return await desk.run(prompt, task, ctx)

    @server.tool(description="List Halocline's tasks, newest first: ID, state, folder, title.")
    async def list_tasks() -> str:
        found = client.tasks.search()[:MOST_TASKS]
        return "\n".join(f"{one.task}  {one.status}  {one.workspace}  {one.title}" for one in found) or "No tasks."

    @server.tool(description="Read the transcript of a task as Markdown.")
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
    """A running task: the last event read, and its open question to the client's user."""

    task: str
    after: int
    calls: int = 0
    asked: Asked | None = None
    since: float = 0.0


class _Server:
    """The tasks of one client. Those that wait for its next call are kept for a while, then ended."""

    def __init__(self, client: Client, folder: Path, options: TaskOptions) -> None:
        self._client = client
        self._folder = folder
        self._options = options
        self._waiting: dict[str, _Work] = {}

    async def run(self, prompt: str, task: str, ctx: Context) -> str | types.InputRequiredResult:
        """Return the final answer, or a question whose answer comes with the client's next call."""
        await self._give_up()
        work = self._resume_waiting(ctx) or await self._start_task(prompt, task, ctx)
        try:
            while asked := await self._follow_task(work, ctx):
                if not ctx.session.can_send_request:
                    work.asked, work.since = asked, time.monotonic()
                    self._waiting[work.task] = work
                    request = types.ElicitRequest(params=form_of(asked))
                    return types.InputRequiredResult(input_requests={QUESTION: request}, request_state=work.task)
                self._client.send(answer_to(asked, await _elicit(asked, ctx)))
            return self._format_answer(work)
        finally:
            if work.task not in self._waiting:
                await self._end(work)

    async def _start_task(self, prompt: str, task: str, ctx: Context) -> _Work:
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
                self._client.tasks.forget(name)
            raise ToolError(f"{error.text} {error.hint}".strip()) from error
        return work

    def _resume_waiting(self, ctx: Context) -> _Work | None:
        """Return the task that waited for this call, after passing on the answer."""
        if not ctx.request_state:
            return None
        work = self._waiting.pop(ctx.request_state, None)
        if work is None or work.asked is None:
            raise ToolError("That task no longer waits. To continue it, call run_task with its ID as `task`.")
        given = (ctx.input_responses or {}).get(QUESTION)
        self._client.send(answer_to(work.asked, given if isinstance(given, types.ElicitResult) else None))
        return work

    async def _follow_task(self, work: _Work, ctx: Context) -> Asked | None:
        """Follow the task to its end or next question, and report each tool call as progress."""
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

    def _format_answer(self, work: _Work) -> str:
        state = self._client.state(work.task)
        end = state.last_end
        answer = final_text(state) or (end.text if end else "")
        refused = " Some calls needed approval and no one could give it." if state.pending.nobody_answered else ""
        evidence = " ".join(find_evidence(state.evidence).text.split("\n"))
        failed = f" {end.remark}" if end and end.failed else ""
        facts = f"{end.reason.value if end else 'open'}, {format_plural(work.calls, 'tool call')}"
        return f"{answer}\n\n[task {work.task}: {facts}.{failed}{refused}{f' {evidence}' if evidence else ''}]"

    async def _give_up(self) -> None:
        """End tasks that have waited too long for their client."""
        late = [work for work in self._waiting.values() if time.monotonic() - work.since > PATIENCE]
        for work in late:
            await self._end(self._waiting.pop(work.task))

    async def _end(self, work: _Work) -> None:
        self._client.send(cmd.Interrupt(task=work.task))
        await self._client.let_go(work.task)


async def _elicit(asked: Asked, ctx: Context) -> types.ElicitResult | None:
    """Ask the client's user; None when the client could not ask."""
    form = form_of(asked)
    try:
        given: types.ElicitResult = await ctx.session.elicit_form(form.message, form.requested_schema, ctx.request_id)
    except MCPError:
        return None
    return given
