"""One trial: the story in a folder of its own, killed as often as its seed says, and then ridden to its end."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from tests.crashes import judge
from tests.crashes.faults import Fault
from tests.crashes.rider import SETTINGS, Ridden, Ride, Storied
from tests.crashes.story import PROJECT

from halocline.protocol import events as ev
from halocline.services.replay.replay import run_replay
from halocline.store.paths import Home
from halocline.store.tasks.recording import Recording
from halocline.task.log import read_log

KILLED = 9
LONGEST_REPLAY = 120
MOST_KILLS = 3


class Stable:
    """A process that has imported everything and lets riders out, one after the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crashes.rider"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ride(self, ride: Ride) -> Ridden:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(msgspec.json.encode(ride) + b"\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._process.stdout.readline(), type=Ridden)

    def close(self) -> None:
        self._process.communicate()


class Trial:
    """The story in a folder. What must hold is looked at after every process."""

    def __init__(self, stable: Stable, folder: Path) -> None:
        self._stable = stable
        self.folder = folder
        self.workspace = folder / "project"
        self._shown = folder / "shown"
        for name, text in PROJECT.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    @property
    def events(self) -> list[ev.DurableEvent]:
        return [event for log in judge.logs_of(self.folder) for event in read_log(log)]

    @property
    def is_over(self) -> bool:
        return bool(self.events) and self._last.status == 0

    def ride(self, fault: Fault | None = None, seconds: float | None = None) -> Ridden:
        """Go on with the story in a new process, and judge what it left."""
        logs = judge.logs_of(self.folder)
        before = logs[0].read_bytes() if logs else b""
        task = logs[0].parent.name if before.count(b"\n") else ""
        if logs and not task:
            logs[0].unlink()  # a task that had not begun: nothing was shown of it
        ride = Ride(str(self.folder), str(self._shown), task, fault or Fault(), seconds)
        self._last = self._stable.ride(ride)
        self._judge(before)
        return self._last

    def _judge(self, before: bytes) -> None:
        logs = judge.logs_of(self.folder)
        assert len(logs) <= 1
        log = logs[0].read_bytes() if logs else b""
        whole = before[: before.rfind(b"\n") + 1]
        assert log.startswith(whole)
        shown = self._shown.read_bytes() if self._shown.exists() else b""
        judge.assert_nothing_shown_is_lost(log, shown)
        if logs:
            judge.assert_every_text_shown_is_kept(logs[0], shown)
        judge.assert_forks_are_whole(self.folder, self.events)
        judge.assert_files_fit(self.events, self.folder, restored=b"restoring\n" in shown)
        judge.assert_commands_ran_at_most_once(self.events, self.folder)
        judge.assert_no_job_runs(self.folder)

    def finish(self) -> None:
        """The last process comes to the story's end, and what is left is whole."""
        if self._last.status:
            done = self.ride()
            assert done.points, done.said
        judge.assert_patches_are_whole(self.events, self.folder)
        judge.assert_came_to_its_end(self.events)
        judge.assert_nothing_is_left_behind(self.folder)
        for log in (*judge.logs_of(self.folder), *judge.forks_of(self.folder)):
            assert asyncio.run(self._replay(tuple(read_log(log)))) == ()

    async def _replay(self, events: tuple[ev.DurableEvent, ...]) -> Sequence[object]:
        home = Home.of({"HALOCLINE_HOME": str(self.folder / "home")})
        async with asyncio.timeout(LONGEST_REPLAY):
            done = await run_replay(Recording(events), Storied(home, SETTINGS, {}), strict=True)
        return done.differences
