"""The tools of a replay: calls are answered from the recording, or run and end in the recorded order."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from halocline.ports.host import Shell
from halocline.ports.tool import AnyTool, Overtaken, ToolContext, ToolOutput, Toolset, ToolSpec
from halocline.protocol import events as ev
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.mcp import tool_named
from halocline.protocol.kinds import ApprovalMode, CallStatus, Diff
from halocline.protocol.messages import Note, Text, ToolCall, UserPart
from halocline.protocol.state.state import State
from halocline.services.replay.cuts import FACTS, is_beside_loop
from halocline.services.replay.timeline import Course, wait_forever

OF_SERVERS = ("find_tools", "access_mcp_resource")
"""Tools that ask MCP servers. Like the servers' own tools, they are always answered from the recording."""
EXTERNAL_NOTES = ("diagnostics", "formatter")
"""Sources of notes on a result that the loop cannot make again."""


class RecordedTools:
    """The tools in force, answered from the recording; `live` ones run, and end in the recorded order."""

    def __init__(self, tools: Toolset, course: Course, *, live: bool) -> None:
        self.live = live
        self._tools = tools
        self._answers = Answers(course)

    def find(self, name: str, state: State | None = None) -> AnyTool | None:
        tool = self._tools.find(name, state)
        if tool is None:
            return None
        if self.live and name not in OF_SERVERS and not _is_from_elsewhere(name, state):
            return replace(tool, run=partial(self._answers.run_in_turn, tool))
        preview = self._answers.preview if tool.preview else None
        return replace(tool, run=self._answers.run, preview=preview)

    def translate(self, call: ToolCall, state: State) -> ToolCall | None:
        return self._tools.translate(call, state)

    def specs(self, state: State) -> tuple[ToolSpec, ...]:
        return self._tools.specs(state)

    def batches(self, calls: Sequence[ToolCall], state: State | None = None) -> list[list[ToolCall]]:
        return self._tools.batches(calls, state)


def _is_from_elsewhere(name: str, state: State | None) -> bool:
    """True for a tool of a server or of the program that ran the task: neither is here."""
    if state is None:
        return False
    is_custom = any(tool.name == name for tool in state.prompt.custom_tools)
    return is_custom or tool_named(state.mcp.servers, name) is not None


class IdleShell:
    """The shell of a replay whose tools are recorded: it starts no process, and the log says what the sandbox is."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shell, name)

    async def sandbox(self, mode: ApprovalMode = ApprovalMode.AUTO) -> ev.SandboxChecked:
        return ev.SandboxChecked()


class Answers:
    """Recorded results of calls."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._shown: dict[str, tuple[Diff, ...]] = {}

    async def run(self, input: Any, ctx: ToolContext) -> ToolOutput:
        """Answer a call as recorded, in its turn. Raises ToolFailure if the tool did."""
        position = self._end_of(ctx.call.id)
        try:
            await self._ask_again(ctx)
        except Overtaken:
            if position is not None and self._status_at(position) is CallStatus.REJECTED:
                raise
        if position is None:
            await wait_forever(self._course)
        first = self._facts_before(position)
        await self._course.reaches(first)
        end = self._course.events[position]
        assert isinstance(end, ev.ToolCallEnded)
        given = self._attached_parts(ctx.call.id)
        own = (part for part in end.result.content if part not in given)
        content = tuple(part for part in own if not isinstance(part, Note) or _is_external(part))
        if end.status is CallStatus.FAILED:
            raise ToolFailure("".join(part.text for part in content if isinstance(part, Text)))
        facts = tuple(event for event in self._course.events[first:position] if type(event) in FACTS)
        return ToolOutput(content, end.diffs, facts, end.ends_turn, end.seen)

    async def run_in_turn(self, tool: AnyTool, input: Any, ctx: ToolContext) -> ToolOutput:
        """Run the tool itself; read-only tools that ran together end in the recorded order. Raises ToolFailure."""
        position = self._end_of(ctx.call.id)
        if position is None:
            await wait_forever(self._course)
        try:
            output = await tool.run(input, ctx)
            return replace(output, content=(*output.content, *self._notes(position)))
        finally:
            await self._course.reaches(self._facts_before(position))

    def _notes(self, position: int) -> tuple[Note, ...]:
        """Return the recorded notes on written files; no formatter or language server runs again."""
        end = self._course.events[position]
        parts = end.result.content if isinstance(end, ev.ToolCallEnded) else ()
        return tuple(part for part in parts if isinstance(part, Note) and _is_external(part))

    async def preview(self, input: Any, ctx: ToolContext) -> tuple[Diff, ...]:
        """Return the diff that was shown. Raises ToolFailure if the call failed before it was shown or run."""
        for position in self._course.step_ahead():
            match self._course.events[position]:
                case ev.ApprovalRequested(call=ctx.call.id, agent="") as asked:
                    self._shown[ctx.call.id] = asked.diffs
                    break
                case ev.ToolCallStarted(call=ctx.call.id):
                    break
                case ev.ToolCallEnded(call=ctx.call.id) as end:
                    raise ToolFailure("".join(part.text for part in end.result.content if isinstance(part, Text)))
        return self._shown.get(ctx.call.id, ())

    def _attached_parts(self, call: str) -> tuple[UserPart, ...]:
        """Return what the person attached to the approval of a call; the loop adds it to the result itself."""
        for at in reversed(range(self._course.at)):
            match self._course.events[at]:
                case ev.ApprovalResolved(call=id, content=content) if id == call:
                    return content
                case ev.StepStarted():
                    break
        return ()

    def _status_at(self, position: int) -> CallStatus | None:
        end = self._course.events[position]
        return end.status if isinstance(end, ev.ToolCallEnded) else None

    def _end_of(self, call: str) -> int | None:
        """Return the position of a call's own end; None if it was cut short."""
        for position in self._course.step_ahead():
            event = self._course.events[position]
            if isinstance(event, ev.ToolCallEnded) and event.call == call:
                return None if event.status is CallStatus.CANCELLED else position
        return None

    def _facts_before(self, position: int) -> int:
        """Return the position where a call's facts before its end begin; external events may be among them."""
        first = position
        while is_beside_loop(event := self._course.events[position - 1]):
            position -= 1
            first = position if type(event) in FACTS else first
        return first

    async def _ask_again(self, ctx: ToolContext) -> None:
        for position in self._course.step_ahead():
            event = self._course.events[position]
            if isinstance(event, ev.QuestionAsked) and event.call == ctx.call.id:
                await self._course.reaches(position)
                await _repeat_question(event, ctx)


async def _repeat_question(event: ev.QuestionAsked, ctx: ToolContext) -> None:
    """Ask a question again; one that was withdrawn then is withdrawn now."""
    this = asyncio.current_task()
    try:
        await ctx.ask(event.question, event.options, ctx.call.id)
    except asyncio.CancelledError:
        if this is None or this.cancelling():
            raise


def _is_external(note: Note) -> bool:
    return note.source in EXTERNAL_NOTES
