"""The parts of a replay: a model, tools, hooks, rules and facts that answer from a recording.

A request that the recording does not answer was cut short there: they report that they are stuck, and wait to be cut
short too.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, Never

from msgspec.structs import replace

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.ports.hooks import Outcome, Shortening
from halocline.ports.model import ModelEvent, Request
from halocline.ports.shell_facts import LoggedFacts
from halocline.ports.tool import AnyTool, Overtaken, ToolContext, ToolOutput, Toolset, ToolSpec
from halocline.protocol import events as ev
from halocline.protocol.errors import ModelError, ModelErrorKind, ToolFailure
from halocline.protocol.events.hooks import HookPoint, HookStatus
from halocline.protocol.events.mcp import tool_named
from halocline.protocol.kinds import CallStatus, Diff, Grant
from halocline.protocol.messages import AssistantMessage, Note, Text, Thinking, ToolCall, UserPart
from halocline.protocol.permission_rules import Effect, RuleBook
from halocline.protocol.state.state import COMPACTION_CUT, State
from halocline.services.policy.audit import scripts_in
from halocline.services.replay.timeline import FACTS, FROM_ELSEWHERE, Course, is_of_model
from halocline.task.hooks.hooks import combine_outcomes, refused_turn

_OF_A_CALL = (ev.ApprovalRequested, ev.ApprovalResolved, ev.ToolCallStarted, ev.ToolCallEnded)
OF_SERVERS = ("find_tools", "access_mcp_resource")
"""Tools that ask MCP servers. Like the servers' own tools, they are always answered from the recording."""
EXTERNAL_NOTES = ("diagnostics", "formatter")
"""Sources of notes on a result that the loop cannot make again."""


class RecordedModel:
    """A model that gives the recorded replies, and compares its requests with the recorded ones."""

    name = "recorded"

    def __init__(self, course: Course, requests: Mapping[int, Request]) -> None:
        self.compared = 0
        self._course = course
        self._requests = requests

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        await asyncio.sleep(0)  # lets an interrupt right after the step's start arrive
        if request.summary:
            async for event in self._summary():
                yield event
            return
        self._compare(request)
        events = self._answer()
        message = next((event.message for event in events if isinstance(event, ev.AssistantMessageCompleted)), None)
        for delta in _split_deltas(message):
            yield delta
        for report in events:
            if isinstance(report, ev.UsageReported):
                yield report
        if error := next(filter(is_of_model, events), None):
            raise _recorded_error(error)
        made = next((event for event in events if isinstance(event, ev.Compacted)), None)
        if made and message is None:
            text = f"The recorded request was too long: maximum {made.limit} tokens."
            raise ModelError(ModelErrorKind.CONTEXT_EXCEEDED, text)
        if message is None or message.interrupted:
            await _wait_forever(self._course)
        else:
            yield ev.AssistantMessageCompleted(message=message)
        await asyncio.sleep(0)  # lets an interrupt right after the reply arrive

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _answer(self) -> list[ev.DurableEvent]:
        """Return the events of the step, without a compaction before the next one."""
        events = [self._course.events[position] for position in self._course.step_ahead()]
        return list(takewhile(lambda event: not isinstance(event, ev.CompactionStarted), events))

    async def _summary(self) -> AsyncGenerator[ModelEvent, None]:
        """Yield the recorded summary; one that failed then fails now."""
        for position in self._course.step_ahead():
            match event := self._course.events[position]:
                case ev.UsageReported():
                    yield event
                case ev.Compacted():
                    if not event.summary:
                        raise ModelError(ModelErrorKind.EMPTY, "The recorded model gave no summary.")
                    yield ev.AssistantMessageCompleted(message=AssistantMessage((Text(event.summary),)))
                    return
                case ev.ErrorRaised(code="compaction_failed"):
                    raise ModelError(ModelErrorKind.EMPTY, "The recorded model gave no summary.")
                case ev.ErrorRaised(code=code) if code == COMPACTION_CUT:
                    await asyncio.sleep(0)  # between two turns, lets what cuts it short arrive
                    break
        await _wait_forever(self._course)

    def _compare(self, request: Request) -> None:
        step = sum(isinstance(event, ev.StepStarted) for event in self._course.events[: self._course.at])
        if recorded := self._requests.get(step):
            self.compared += 1
            self._course.compare(f"request of step {step}", recorded, request)


class RecordedGrants:
    """Empty rules: rules and grants are in the recording."""

    def book(self) -> RuleBook:
        return RuleBook()

    def keep(self, grant: Grant, workspace: Path | None, by: str = "") -> None:
        """Do nothing: it was stored then."""

    def is_kept(self, grant: Grant, workspace: Path | None) -> bool:
        """Return True: a removal is in the recording."""
        return True


class RecordedFacts(LocalShellFacts):
    """Facts about commands from the recording: from the running call, or the next one to be judged."""

    def __init__(self, course: Course, env: Mapping[str, str]) -> None:
        super().__init__(env)
        self._course = course

    def is_overwritten(self, path: str) -> bool:
        """True if the recorded request says that a file is overwritten. The disk cannot tell: the command has run."""
        asked = self._of_the_call
        if not isinstance(asked, ev.ApprovalRequested):
            return False
        targets = {target for part in asked.parts if part.effect is Effect.DESTRUCTIVE for target in part.targets}
        return bool(targets & {path, os.path.relpath(path, os.path.realpath(self._workspace))})

    @property
    def _workspace(self) -> str:
        started = self._course.events[0]
        return started.workspace if isinstance(started, ev.TaskStarted) else ""

    @property
    def _of_the_call(self) -> ev.DurableEvent | None:
        ahead = (self._course.events[position] for position in self._course.step_ahead())
        behind = reversed(self._course.events[: self._course.at])
        event = next((event for event in behind if isinstance(event, _OF_A_CALL)), None)
        if not isinstance(event, ev.ToolCallStarted):
            event = next((event for event in ahead if isinstance(event, _OF_A_CALL)), None)
        return event

    def fingerprint(self, path: str, script: str) -> str:
        event = self._of_the_call
        return LoggedFacts(scripts_in(event) if event else (), self._workspace).fingerprint(path, script)


class RecordedTools:
    """The tools in force, answered from the recording; `live` ones run, and end in the recorded order."""

    def __init__(self, tools: Toolset, course: Course, *, live: bool) -> None:
        self._tools = tools
        self._answers = Answers(course)
        self._live = live

    def find(self, name: str, state: State | None = None) -> AnyTool | None:
        tool = self._tools.find(name, state)
        if tool is None:
            return None
        if self._live and name not in OF_SERVERS and tool_named(state.mcp.servers if state else (), name) is None:
            return replace(tool, run=partial(self._answers.run_in_turn, tool))
        preview = self._answers.preview if tool.preview else None
        return replace(tool, run=self._answers.run, preview=preview)

    def specs(self, state: State) -> tuple[ToolSpec, ...]:
        return self._tools.specs(state)

    def batches(self, calls: Sequence[ToolCall], state: State | None = None) -> list[list[ToolCall]]:
        return self._tools.batches(calls, state)


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
            await _wait_forever(self._course)
        first = self._facts_before(position)
        await self._course.reaches(first)
        end = self._course.events[position]
        assert isinstance(end, ev.ToolCallEnded)
        given = self._attached_parts(ctx.call.id)
        own = (part for part in end.result.content if part not in given)
        content = tuple(part for part in own if not isinstance(part, Note) or _is_external(part))
        if end.status is CallStatus.FAILED:
            raise ToolFailure("".join(part.text for part in content if isinstance(part, Text)))
        facts = tuple(event for event in self._course.events[first:position] if isinstance(event, FACTS))
        return ToolOutput(content, end.diffs, facts, end.ends_turn, end.seen)

    async def run_in_turn(self, tool: AnyTool, input: Any, ctx: ToolContext) -> ToolOutput:
        """Run the tool itself; read-only tools that ran together end in the recorded order. Raises ToolFailure."""
        position = self._end_of(ctx.call.id)
        if position is None:
            await _wait_forever(self._course)
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
                case ev.ApprovalRequested(call=ctx.call.id) as asked:
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
        while isinstance(event := self._course.events[position - 1], (*FACTS, *FROM_ELSEWHERE)):
            position -= 1
            first = position if isinstance(event, FACTS) else first
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


class RecordedHooks:
    """Outcomes of hooks, read from their recorded events, which arrive by themselves. Nothing is run."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._read_to = 0

    def attach(self, emit: Callable[..., None], state: Callable[[], State]) -> None:
        """Do nothing: the recorded events are enough."""

    async def begins(self) -> ev.TurnEnded | None:
        await asyncio.sleep(0)  # lets an interrupt while they ran arrive
        return refused_turn(self._since(ev.TurnStarted))

    async def before(self, call: ToolCall) -> Outcome:
        return await self._of(HookPoint.PRE_TOOL_USE, call)

    async def after(self, call: ToolCall, said: str, seconds: float, *, failed: bool) -> Outcome:
        return await self._of(HookPoint.POST_TOOL_USE, call)

    async def before_compaction(self, what: Shortening) -> Outcome:
        await asyncio.sleep(0)  # lets an interrupt while they ran arrive
        start, self._read_to = self._read_to, self._course.at
        ran = (event for event in self._course.events[start : self._course.at] if isinstance(event, ev.HookRan))
        runs = [run for run in ran if run.moment is HookPoint.PRE_COMPACT]
        if any(run.status is HookStatus.CANCELLED for run in runs):
            await _wait_forever(self._course)
        return combine_outcomes(runs)

    def waits(self, kind: str, message: str) -> None:
        """Do nothing: no notification is sent again."""

    async def holds(self) -> bool:
        """Return False: what they said is already in the conversation."""
        return False

    async def ends(self, end: ev.TurnEnded | None) -> tuple[ev.HookRan, ...]:
        ahead = self._course.events[self._course.at :]
        last = next((at for at, event in enumerate(ahead) if isinstance(event, ev.TurnEnded)), 0)
        return tuple(event for event in ahead[:last] if isinstance(event, ev.HookRan))

    async def _of(self, moment: HookPoint, call: ToolCall) -> Outcome:
        runs = [run for run in self._since(ev.StepStarted) if (run.moment, run.call) == (moment, call.id)]
        if not any(run.status is HookStatus.CANCELLED for run in runs):
            return combine_outcomes(runs)
        if moment is HookPoint.PRE_TOOL_USE:
            await _wait_forever(self._course)
        return Outcome()  # the call had run, and ended as if there were no hooks

    def _since(self, begin: type[ev.Durable]) -> list[ev.HookRan]:
        runs: list[ev.HookRan] = []
        for event in reversed(self._course.events[: self._course.at]):
            if isinstance(event, begin):
                break
            if isinstance(event, ev.HookRan):
                runs.append(event)
        return runs


async def _wait_forever(course: Course) -> Never:
    await course.reaches_cut()
    course.stuck()
    await asyncio.Event().wait()
    raise AssertionError("nothing sets it")


def _split_deltas(message: AssistantMessage | None) -> list[ev.TextDelta | ev.ThinkingDelta]:
    parts = message.content if message else ()
    texts = [part for part in parts if isinstance(part, Text | Thinking) and part.text]
    return [(ev.TextDelta if isinstance(part, Text) else ev.ThinkingDelta)(part.text) for part in texts]


def _recorded_error(raised: ev.ErrorRaised) -> ModelError:
    name = raised.code.removeprefix("model_")
    kind = ModelErrorKind(name) if name in set(ModelErrorKind) else ModelErrorKind.SERVER
    return ModelError(kind, raised.text, raised.hint)
