"""Build a task that follows a recording from the parts of a live one. Its hooks answer from the recording."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import structs

from halocline.ports.hooks import Outcome, Shortening
from halocline.ports.host import Shell
from halocline.ports.model import Model
from halocline.protocol import events as ev
from halocline.protocol.events.hooks import HookPoint, HookStatus
from halocline.protocol.messages import ToolCall
from halocline.protocol.state.state import State
from halocline.runtime.assembly.assembly import Assembly
from halocline.services.replay.recorded_tools import IdleShell, RecordedTools
from halocline.services.replay.recording import RecordedFacts, RecordedGovernor, RecordedGrants, RecordedSpending
from halocline.services.replay.task import Replayed
from halocline.services.replay.timeline import Course, wait_forever
from halocline.store.settings.load import with_overrides
from halocline.store.settings.sections import JudgeSettings, LanguageServerSettings
from halocline.store.settings.settings import Settings
from halocline.store.tasks.recording import RECORDED_SETTINGS
from halocline.task.governor import Governor
from halocline.task.hooks.hooks import combine_outcomes, refused_turn
from halocline.task.inbox import Inbox
from halocline.task.log import Log

_SWITCHED_OFF = {
    "checkpoints": False,
    "rules": False,
    "language_servers": LanguageServerSettings(enabled=False),
    "encodings": {},
    "formatters": {},
    "memory": False,
    "judge": JudgeSettings(),
    "hide_keys": False,  # recordings contain no keys
}


def with_recorded_settings(assembly: Assembly, recorded: Mapping[str, Any], *, had_browser: bool) -> Assembly:
    """Return an assembly with a recording's settings, without checkpoints and anything that acts on files by itself."""
    known = {name: recorded[name] for name in (*RECORDED_SETTINGS, "browser_viewport") if name in recorded}
    then = msgspec.convert(known, Settings)
    chosen = {name: getattr(then, name) for name in known} | _SWITCHED_OFF
    return Assembly(assembly.home, with_overrides(assembly.settings, chosen), assembly.env, had_browser=had_browser)


def build_task(
    assembly: Assembly, log: Log, state: State, workspace: Path, model: Model, tools: RecordedTools, course: Course
) -> Replayed:
    """Build a task that follows the course and clock of a recording."""
    inbox = Inbox(attended=True)
    hooks = RecordedHooks(course) if any(isinstance(event, ev.HookRan) for event in course.events) else None
    parts = assembly.parts(log, state, workspace, model, inbox, hooks)
    sources = structs.replace(parts.host.sources, changes=None, mentions=None)
    facts = RecordedFacts(course, assembly.env, live=tools.live)
    shell = parts.host.tools.shell if tools.live else cast(Shell, IdleShell(parts.host.tools.shell))
    hands = structs.replace(parts.host.tools, shell=shell)
    host = structs.replace(parts.host, tools=hands, permissions=RecordedGrants(), shell_facts=facts, sources=sources)
    has_limits = isinstance(started := course.events[0], ev.TaskStarted) and started.limits is not None
    governor = Governor(RecordedSpending(course), course.seconds) if has_limits else RecordedGovernor(course)
    return Replayed(structs.replace(parts, model=model, toolset=tools, governor=governor, host=host), course)


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

    def stop(self, run: str) -> bool:
        """Return False: none is running."""
        return False

    async def before_compaction(self, what: Shortening) -> Outcome:
        await asyncio.sleep(0)  # lets an interrupt while they ran arrive
        start, self._read_to = self._read_to, self._course.at
        ran = (event for event in self._course.events[start : self._course.at] if isinstance(event, ev.HookRan))
        runs = [run for run in ran if run.moment is HookPoint.PRE_COMPACT]
        if any(run.status is HookStatus.CANCELLED for run in runs):
            await wait_forever(self._course)
        return combine_outcomes(runs)

    def waits(self, kind: str, message: str) -> None:
        """Do nothing: no notification is sent again."""

    async def holds(self) -> bool:
        """Return False: what they said is already in the conversation."""
        return False

    async def ends(self, end: ev.TurnEnded | None) -> tuple[ev.HookRan, ...]:
        runs: list[ev.HookRan] = []
        for event in self._course.ahead():
            if isinstance(event, ev.TurnEnded):
                return tuple(runs)
            if isinstance(event, ev.HookRan):
                runs.append(event)
        return ()

    async def _of(self, moment: HookPoint, call: ToolCall) -> Outcome:
        runs = [run for run in self._since(ev.StepStarted) if (run.moment, run.call) == (moment, call.id)]
        if not any(run.status is HookStatus.CANCELLED for run in runs):
            return combine_outcomes(runs)
        if moment is HookPoint.PRE_TOOL_USE:
            await wait_forever(self._course)
        return Outcome()  # the call had run, and ended as if there were no hooks

    def _since(self, begin: type[ev.Durable]) -> list[ev.HookRan]:
        runs: list[ev.HookRan] = []
        for event in self._course.behind():
            if isinstance(event, begin):
                break
            if isinstance(event, ev.HookRan):
                runs.append(event)
        return runs
