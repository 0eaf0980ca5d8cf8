"""Runs a recorded task again, with no network and no model: the real loop, with everything from elsewhere as recorded.

*Strict*: the first difference ends the replay. *Tolerant*: it goes on as long as the same kinds of things happen, and
collects the differences. Tools answer as recorded and touch nothing, unless a folder is given in which they run.
"""

import asyncio
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject, Value
from halocline.runtime.assembly.assembly import Assembly
from halocline.services.replay.parts import build_task, with_recorded_settings
from halocline.services.replay.recording import RecordedModel, RecordedTools
from halocline.services.replay.task import Replayed
from halocline.services.replay.timeline import Course, Difference
from halocline.store.tasks.recording import Recording, read_recording
from halocline.task.calls.tool_calls import UNKNOWN_TOOL
from halocline.task.log import Log

_SECONDS = re.compile(r" (in|after|for) \d+(?:\.\d)? s\b")
"""How long a command took or runs: the one thing in a tool's words that no repetition gives again."""
BROWSER = "browser_action"


class Replay(Value, frozen=True, omit_defaults=False):
    """How a replay went: how far it came, of how many events, and how many requests were compared on the way."""

    task: str
    steps: int
    events: int
    recorded_events: int
    requests: int
    differences: tuple[Difference, ...]

    @property
    def same(self) -> bool:
        return self.events == self.recorded_events and not self.differences


def recording_of(what: str, past: Callable[[str], list[ev.DurableEvent]]) -> Recording:
    """A recording by the name of its file, or of a task. Raises UsageError, TaskNotFound and RecordingDamaged."""
    return read_recording(Path(what)) if Path(what).is_file() else Recording(tuple(past(what)))


async def run_replay(recording: Recording, assembly: Assembly, *, strict: bool, folder: Path | None = None) -> Replay:
    """Run a recording. With `folder`, its tools run there; it should hold the files as they were at the beginning.

    Raises:
        UsageError: the recording has no beginning, or begins with what another program did.
    """
    if not recording.events or not isinstance(recording.events[0], ev.TaskStarted):
        raise UsageError("The recording has no beginning.", "Record the task again, from its start.")
    if origin := recording.events[0].origin:
        raise UsageError(
            f"This task was imported from {origin.tool}: it did not run here, so it cannot run again.",
            "Read it with: halo tasks show ID",
        )
    with tempfile.TemporaryDirectory(prefix="halocline-replay-") as place:
        return await _Stage(recording, assembly, recording.events[0], strict, folder).play(Path(place))


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
        self._course = Course((here, *recording.events[1:]), self._canonical, strict=strict)

    async def play(self, place: Path) -> Replay:
        course = self._course
        log = Log(place / "task", str(course.events[0].task), clock=course.clock)
        log.attach(course)
        state, model = State(), RecordedModel(course, self._requests)
        try:
            while course.next is not None and not course.over:
                state = await self._live(self._task(log, state, model))
        finally:
            log.close()
        return Replay(
            task=log.task,
            steps=state.steps,
            events=course.at,
            recorded_events=len(course.events),
            requests=model.compared,
            differences=tuple(course.differences),
        )

    def _task(self, log: Log, state: State, model: RecordedModel) -> Replayed:
        tools = RecordedTools(self._assembly.tools(), self._course, live=self._folder is not None)
        workspace = self._folder or Path(self._workspace)
        return build_task(self._assembly, log, state, workspace, model, tools, self._course)

    async def _live(self, task: Replayed) -> State:
        """From a process's beginning to its end."""
        serving = task.serving = asyncio.create_task(task.run())
        begin = self._course.at
        if task.state.turn is not None:
            task.inbox.go_on()
        try:
            with suppress(asyncio.CancelledError):  # it died before it did anything
                task.feed()
            await asyncio.wait([serving])
        finally:
            serving.cancel()
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


def _settings_of(recording: Recording, started: ev.TaskStarted) -> JsonObject:
    """The settings that the recording has, or else its log."""
    sandbox = {"sandbox": started.limits.sandbox} if started.limits and started.limits.sandbox else {}
    return sandbox | recording.settings


def _had_browser(recording: Recording) -> bool:
    """Whether the model was offered a browser: a recording says it, a log alone shows whether a call was understood."""
    ends = (event for event in recording.events if isinstance(event, ev.ToolCallEnded) and event.name == BROWSER)
    understood = any(UNKNOWN_TOOL not in end.result.text for end in ends)
    return bool(recording.settings.get("browser")) or understood
