"""Replay a recorded task without network or model: the real loop runs, and all external input is as recorded.

*Strict*: the first difference ends the replay. *Tolerant*: it continues as long as the same kinds of events follow, and
collects the differences. Tools return recorded results and touch nothing, unless a folder is given to run them in.
"""

import asyncio
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject, Value
from halocline.protocol.waiting import end_tasks
from halocline.runtime.assembly.assembly import Assembly
from halocline.services.replay.cuts import ends_in_turn
from halocline.services.replay.differences import Difference
from halocline.services.replay.parts import build_task, with_recorded_settings
from halocline.services.replay.recorded_tools import RecordedTools
from halocline.services.replay.recording import RecordedModel
from halocline.services.replay.task import Replayed
from halocline.services.replay.timeline import Course
from halocline.store.tasks.recording import Recording, read_recording
from halocline.task.calls.admission import UNKNOWN_TOOL
from halocline.task.log import D, Log
from halocline.task.stream import E

_SECONDS = re.compile(r" (in|after|for) \d+(?:\.\d)? s\b")
"""Durations of commands: the one part of a tool's output that differs on every run."""
BROWSER = "browser_action"


class Replay(Value, frozen=True, omit_defaults=False):
    """Result of a replay: events reached, events recorded, and the number of requests compared.

    An `unfinished` recording ends in the middle of a turn: that it is the same so far says nothing of its end.
    """

    task: str
    steps: int
    events: int
    recorded_events: int
    requests: int
    differences: tuple[Difference, ...]
    unfinished: bool = False

    @property
    def same(self) -> bool:
        """True if every recorded event came again."""
        return self.events == self.recorded_events and not self.differences


def recording_of(what: str, past: Callable[[str], list[ev.DurableEvent]]) -> Recording:
    """Load a recording from a file, or from a task's log. Raises UsageError, TaskNotFound and RecordingDamaged."""
    return read_recording(Path(what)) if Path(what).is_file() else Recording(tuple(past(what)))


async def run_replay(recording: Recording, assembly: Assembly, *, strict: bool, folder: Path | None = None) -> Replay:
    """Replay a recording. With `folder`, its tools run there; it should contain the files as they were at the start.

    Raises:
        UsageError: the recording does not begin with the start of a task, or the task was imported.
    """
    if not recording.events or not isinstance(recording.events[0], ev.TaskStarted):
        raise UsageError("The recording does not begin with the start of a task.", "Record the task from its start.")
    if origin := recording.events[0].origin:
        raise UsageError(
            f"This task was imported from {origin.tool}; tasks that did not run here cannot be replayed.",
            "Read it with: halo tasks show ID",
        )
    with tempfile.TemporaryDirectory(prefix="halocline-replay-") as place:
        return await _Stage(recording, assembly, recording.events[0], strict, folder).play(Path(place))


class _PassingLog(Log):
    """A log that goes with the replay: no loss of power and no reader but the course comes to it.

    What equals the recorded event is that event: it is neither encoded nor compared again.
    """

    def __init__(self, folder: Path, course: Course) -> None:
        super().__init__(folder, str(course.events[0].task), clock=course.clock)
        self._course = course

    def append(self, event: D) -> D:
        recorded = self._course.next
        if recorded is None or not (event is recorded or self._stamp(event, recorded) == recorded):
            return super().append(event)
        self.seq += 1
        return self.show(cast(D, recorded))

    def _stamp(self, event: D, recorded: ev.DurableEvent) -> D:
        return replace(event, seq=self.seq + 1, at=recorded.at, task=self.task)

    def show(self, event: E) -> E:
        self._course.push(event)
        return event

    def _write(self, line: bytes) -> None:
        pass

    async def sync(self) -> None:
        pass

    def sync_ahead(self) -> None:
        pass


class _Stage:
    """One replay while it runs."""

    def __init__(
        self, recording: Recording, assembly: Assembly, started: ev.TaskStarted, strict: bool, folder: Path | None
    ) -> None:
        self._requests = recording.requests
        self._assembly = with_recorded_settings(
            assembly, _settings_of(recording, started), had_browser=_had_browser(recording)
        )
        self._folder = folder
        self._workspace = started.workspace
        here = replace(started, workspace=str(folder or started.workspace))
        later = (_stay_in(here.workspace, event) if folder else event for event in recording.events[1:])
        self._course = Course((here, *later), self._canonical, strict=strict)

    async def play(self, place: Path) -> Replay:
        course = self._course
        log = _PassingLog(place / "task", course)
        state, model = State(), RecordedModel(course, self._requests)
        try:
            while course.next is not None and not course.over:
                state = await self._live(self._task(log, state, model))
        finally:
            log.close()
        return Replay(
            task=log.task,
            steps=state.budget.steps,
            events=course.at,
            recorded_events=len(course.events),
            requests=model.compared,
            differences=tuple(course.differences),
            unfinished=ends_in_turn(course.events),
        )

    def _task(self, log: Log, state: State, model: RecordedModel) -> Replayed:
        tools = RecordedTools(self._assembly.tools(), self._course, live=self._folder is not None)
        workspace = self._folder or Path(self._workspace)
        return build_task(self._assembly, log, state, workspace, model, tools, self._course)

    async def _live(self, task: Replayed) -> State:
        """Replay one process from start to end."""
        serving = task.serving = asyncio.create_task(task.run())
        begin = self._course.at
        if task.state.turn is not None:
            task.inbox.go_on()
        try:
            with suppress(asyncio.CancelledError):  # the process died before it did anything
                task.feed()
            await asyncio.wait([serving])
        finally:
            await end_tasks(serving)
            await task.host.close()
        if not serving.cancelled():
            serving.result()
        task.bury()
        if self._course.at == begin:
            self._course.stuck()
        return task.state

    def _canonical(self, text: str) -> str:
        if self._folder is None:
            return text
        return _SECONDS.sub(r" \1 <time> s", text.replace(str(self._folder), self._workspace))


def _stay_in(folder: str, event: ev.DurableEvent) -> ev.DurableEvent:
    return replace(event, workspace=folder) if isinstance(event, ev.WorkspaceMoved) else event


def _settings_of(recording: Recording, started: ev.TaskStarted) -> JsonObject:
    """Return the recorded settings, with the sandbox setting from the log as a fallback."""
    sandbox = {"sandbox": started.limits.sandbox} if started.limits and started.limits.sandbox else {}
    return sandbox | recording.settings


def _had_browser(recording: Recording) -> bool:
    """True if the model was offered a browser: by the recorded settings, or by a browser call that was understood."""
    ends = (event for event in recording.events if isinstance(event, ev.ToolCallEnded) and event.name == BROWSER)
    understood = any(UNKNOWN_TOOL not in end.result.text for end in ends)
    return bool(recording.settings.get("browser")) or understood
