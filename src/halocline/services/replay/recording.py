"""A model and tools that answer as a recording says, and ask nobody; and a model whose requests are recorded.

What the recording does not answer was cut short there: they say that they are stuck, and wait to be cut short too.
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
from halocline.ports.shell_facts import ToldFacts
from halocline.ports.tool import AnyTool, Overtaken, ToolContext, ToolOutput, Toolset, ToolSpec
from halocline.protocol import events as ev
from halocline.protocol.errors import ModelError, ModelErrorKind, ToolFailure
from halocline.protocol.hook_kinds import HookMoment, HookStatus
from halocline.protocol.mcp import tool_named
from halocline.protocol.messages import AssistantMessage, Note, Text, Thinking, ToolCall, UserPart
from halocline.protocol.permission_rules import Effect, RuleBook
from halocline.protocol.state.state import COMPACTION_CUT, State
from halocline.services.policy.audit import scripts_in
from halocline.services.replay.timeline import FACTS, FROM_ELSEWHERE, Course, is_of_model
from halocline.task.hooks.hooks import combine_outcomes, refused_turn

_OF_A_CALL = (ev.ApprovalRequested, ev.ApprovalResolved, ev.ToolCallStarted, ev.ToolCallEnded)
OF_SERVERS = ("find_tools", "access_mcp_resource")
"""Tools that ask MCP servers; with those of the servers themselves they are answered as recorded, whatever runs."""
TOLD_BY_THE_WORLD = ("diagnostics", "formatter")
"""Notes on a result that the loop cannot make again."""


class RecordedModel:
    """Says what the recorded model said, and compares what it is asked with what that one was asked."""

    name = "recorded"

    def __init__(self, course: Course, requests: Mapping[int, Request]) -> None:
        self.compared = 0
        self._course = course
        self._requests = requests

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        await asyncio.sleep(0)  # an interrupt right after the step's start arrives here
        if request.summary:
            async for said in self._summary():
                yield said
            return
        self._compare(request)
        events = self._answer()
        message = next((event.message for event in events if isinstance(event, ev.AssistantMessageCompleted)), None)
        for delta in _split_deltas(message):
            yield delta
        for event in events:
            if isinstance(event, ev.UsageReported):
                yield event
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
        await asyncio.sleep(0)  # and one right after its reply here

    async def close(self) -> None:
        """There is nothing to let go of."""

    def _answer(self) -> list[ev.DurableEvent]:
        """What the step holds, without a summary that was made before the next one."""
        events = [self._course.events[position] for position in self._course.step_ahead()]
        return list(takewhile(lambda event: not isinstance(event, ev.CompactionStarted), events))

    async def _summary(self) -> AsyncGenerator[ModelEvent, None]:
        """What was said when a summary was wanted; a summary that failed then fails now."""
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
                    await asyncio.sleep(0)  # between two turns, what cuts it short arrives here
                    break
        await _wait_forever(self._course)

    def _compare(self, request: Request) -> None:
        step = sum(isinstance(event, ev.StepStarted) for event in self._course.events[: self._course.at])
        if recorded := self._requests.get(step):
            self.compared += 1
            self._course.compare(f"the request of step {step}", recorded, request)


class RecordedGrants:
    """The rules are in the recording, and what was granted then is not granted anew."""

    def book(self) -> RuleBook:
        return RuleBook()

    def keep(self, grant: ev.Grant, workspace: Path | None, by: str = "") -> None:
        """It was kept then."""

    def is_kept(self, grant: ev.Grant, workspace: Path | None) -> bool:
        """That it was removed is in the recording."""
        return True


class RecordedFacts(LocalShellFacts):
    """Scripts of commands are as the recording tells of them: of the call that runs, or of the next that is judged."""

    def __init__(self, course: Course, env: Mapping[str, str]) -> None:
        super().__init__(env)
        self._course = course

    def is_overwritten(self, path: str) -> bool:
        """Whether it was there: what a command made is there now, and was written over then only if that was asked."""
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
        return ToldFacts(scripts_in(event) if event else (), self._workspace).fingerprint(path, script)


class RecordedTools:
    """The tools in force, answered from the recording; `live` ones run, and end when the recorded ones did."""

    def __init__(self, tools: Toolset, course: Course, *, live: bool) -> None:
        self._tools = tools
        self._answers = Answers(course)
        self._live = live

    def find(self, name: str, state: State | None = None) -> AnyTool | None:
        tool = self._tools.find(name, state)
        if tool is None:
            return None
        if self._live and name not in OF_SERVERS and tool_named(state.mcp if state else (), name) is None:
            return replace(tool, run=partial(self._answers.run_in_turn, tool))
        preview = self._answers.preview if tool.preview else None
        return replace(tool, run=self._answers.run, preview=preview)

    def specs(self, state: State) -> tuple[ToolSpec, ...]:
        return self._tools.specs(state)

    def batches(self, calls: Sequence[ToolCall], state: State | None = None) -> list[list[ToolCall]]:
        return self._tools.batches(calls, state)


class Answers:
    """What the recording says about calls."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._shown: dict[str, tuple[ev.Diff, ...]] = {}

    async def run(self, input: Any, ctx: ToolContext) -> ToolOutput:
        """Answer a call as it was answered, in its turn. Raises ToolFailure as the tool did."""
        position = self._end_of(ctx.call.id.id)
        try:
            await self._ask_again(ctx)
        except Overtaken:
            if position is not None and self._status_at(position) is ev.CallStatus.REJECTED:
                raise
        if position is None:
            await _wait_forever(self._course)
        first = self._facts_before(position)
        await self._course.reaches(first)
        end = self._course.events[position]
        assert isinstance(end, ev.ToolCallEnded)
        given = self._given(ctx.call.id.id)
        own = (part for part in end.result.content if part not in given)
        content = tuple(part for part in own if not isinstance(part, Note) or _is_of_the_world(part))
        if end.status is ev.CallStatus.FAILED:
            raise ToolFailure("".join(part.text for part in content if isinstance(part, Text)))
        facts = tuple(event for event in self._course.events[first:position] if isinstance(event, FACTS))
        return ToolOutput(content, end.diffs, facts, end.ends_turn, end.seen)

    async def run_in_turn(self, tool: AnyTool, input: Any, ctx: ToolContext) -> ToolOutput:
        """Run the tool itself; readers that ran together end in the recorded order. Raises ToolFailure."""
        position = self._end_of(ctx.call.id.id)
        if position is None:
            await _wait_forever(self._course)
        try:
            output = await tool.run(input, ctx)
            return replace(output, content=(*output.content, *self._notes(position)))
        finally:
            await self._course.reaches(self._facts_before(position))

    def _notes(self, position: int) -> tuple[Note, ...]:
        """What was said of files that were written; no formatter and no language server runs again."""
        end = self._course.events[position]
        parts = end.result.content if isinstance(end, ev.ToolCallEnded) else ()
        return tuple(part for part in parts if isinstance(part, Note) and _is_of_the_world(part))

    async def preview(self, input: Any, ctx: ToolContext) -> tuple[ev.Diff, ...]:
        """The diff that was shown. Raises ToolFailure when the call failed instead of being shown, or run."""
        for position in self._course.step_ahead():
            match self._course.events[position]:
                case ev.ApprovalRequested(call=ctx.call.id.id) as asked:
                    self._shown[ctx.call.id.id] = asked.diffs
                    break
                case ev.ToolCallStarted(call=ctx.call.id.id):
                    break
                case ev.ToolCallEnded(call=ctx.call.id.id) as end:
                    raise ToolFailure("".join(part.text for part in end.result.content if isinstance(part, Text)))
        return self._shown.get(ctx.call.id.id, ())

    def _given(self, call: str) -> tuple[UserPart, ...]:
        """Return what the person gave along with the approval of a call, which its result has anyway."""
        for at in reversed(range(self._course.at)):
            match self._course.events[at]:
                case ev.ApprovalResolved(call=id, content=content) if id == call:
                    return content
                case ev.StepStarted():
                    break
        return ()

    def _status_at(self, position: int) -> ev.CallStatus | None:
        end = self._course.events[position]
        return end.status if isinstance(end, ev.ToolCallEnded) else None

    def _end_of(self, call: str) -> int | None:
        """Where the call's own end stands; None when it was cut short."""
        for position in self._course.step_ahead():
            event = self._course.events[position]
            if isinstance(event, ev.ToolCallEnded) and event.call == call:
                return None if event.status is ev.CallStatus.CANCELLED else position
        return None

    def _facts_before(self, position: int) -> int:
        """Where the facts begin that the call told of before its end; what came from elsewhere may stand among them."""
        first = position
        while isinstance(event := self._course.events[position - 1], (*FACTS, *FROM_ELSEWHERE)):
            position -= 1
            first = position if isinstance(event, FACTS) else first
        return first

    async def _ask_again(self, ctx: ToolContext) -> None:
        for position in self._course.step_ahead():
            event = self._course.events[position]
            if isinstance(event, ev.QuestionAsked) and event.call == ctx.call.id.id:
                await self._course.reaches(position)
                await _asked_again(event, ctx)


async def _asked_again(event: ev.QuestionAsked, ctx: ToolContext) -> None:
    """Ask it; a question that was taken back then is taken back now."""
    this = asyncio.current_task()
    try:
        await ctx.ask(event.question, event.options, ctx.call.id.id)
    except asyncio.CancelledError:
        if this is None or this.cancelling():
            raise


def _is_of_the_world(note: Note) -> bool:
    return note.source in TOLD_BY_THE_WORLD


class RecordedHooks:
    """What hooks did, by their recorded events: these arrive by themselves, and are read here. Nothing is run."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._heard = 0

    def attach(self, emit: Callable[..., None], state: Callable[[], State]) -> None:
        """The events say it all."""

    async def begins(self) -> ev.TurnEnded | None:
        await asyncio.sleep(0)  # an interrupt while they ran arrives here
        return refused_turn(self._since(ev.TurnStarted))

    async def before(self, call: ToolCall) -> Outcome:
        return await self._of(HookMoment.PRE_TOOL_USE, call)

    async def after(self, call: ToolCall, said: str, seconds: float, *, failed: bool) -> Outcome:
        return await self._of(HookMoment.POST_TOOL_USE, call)

    async def before_compaction(self, what: Shortening) -> Outcome:
        await asyncio.sleep(0)  # an interrupt while they ran arrives here
        heard, self._heard = self._heard, self._course.at
        told = (event for event in self._course.events[heard : self._course.at] if isinstance(event, ev.HookRan))
        runs = [run for run in told if run.moment is HookMoment.PRE_COMPACT]
        if any(run.status is HookStatus.CANCELLED for run in runs):
            await _wait_forever(self._course)
        return combine_outcomes(runs)

    def waits(self, kind: str, message: str) -> None:
        """Nobody is told again."""

    async def holds(self) -> bool:
        """Their words are in the conversation already."""
        return False

    async def ends(self, end: ev.TurnEnded | None) -> tuple[ev.HookRan, ...]:
        ahead = self._course.events[self._course.at :]
        last = next((at for at, event in enumerate(ahead) if isinstance(event, ev.TurnEnded)), 0)
        return tuple(event for event in ahead[:last] if isinstance(event, ev.HookRan))

    async def _of(self, moment: HookMoment, call: ToolCall) -> Outcome:
        runs = [run for run in self._since(ev.StepStarted) if (run.moment, run.call) == (moment, call.id)]
        if not any(run.status is HookStatus.CANCELLED for run in runs):
            return combine_outcomes(runs)
        if moment is HookMoment.PRE_TOOL_USE:
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
    spoken = [part for part in parts if isinstance(part, Text | Thinking) and part.text]
    return [(ev.TextDelta if isinstance(part, Text) else ev.ThinkingDelta)(part.text) for part in spoken]


def _recorded_error(raised: ev.ErrorRaised) -> ModelError:
    name = raised.code.removeprefix("model_")
    kind = ModelErrorKind(name) if name in set(ModelErrorKind) else ModelErrorKind.SERVER
    return ModelError(kind, raised.text, raised.hint)
