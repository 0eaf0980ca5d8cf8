"""Schedules: `halo run` and `halo batch` at set times. systemd or cron starts each run; nothing of ours waits for it.

What must stay true: runs of one schedule do not overlap, also those that a person starts.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from halocline.files.durable import write_whole
from halocline.files.regular import read_regular
from halocline.protocol import json_input
from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError
from halocline.protocol.file_locks import LockHeld, lock_file
from halocline.protocol.values import Value
from halocline.services.schedules.timers import Timers, choose_timers, lock_timers
from halocline.services.schedules.times import Times, parse_times
from halocline.services.user_units import OWN_PROGRAM
from halocline.store.paths import Home

COMMANDS = ("run", "batch")
"""Commands that a schedule may start."""
API_KEY, HIDDEN = "--api-key", "[hidden]"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")


class Schedule(Value, frozen=True):
    """One schedule: the words after `halo`, the folder to run them in, and when. `timers` starts it."""

    name: str
    words: tuple[str, ...]
    folder: str
    at: str
    zone: str = ""
    missed: Literal["run", "skip"] = "skip"
    paused: bool = False
    timers: str = ""

    @property
    def times(self) -> Times:
        """When it runs. Raises UsageError."""
        return parse_times(self.at, self.zone)


def hide_keys(schedule: Schedule) -> Schedule:
    """Return a schedule to show: keys are left out that its words hold, as those of earlier versions may."""
    words = [*schedule.words]
    for at, word in enumerate(schedule.words):
        if word.startswith(f"{API_KEY}="):
            words[at] = f"{API_KEY}={HIDDEN}"
        elif word == API_KEY and at + 1 < len(words):
            words[at + 1] = HIDDEN
    return replace(schedule, words=tuple(words))


class LastRun(Value, frozen=True):
    """The last run: when it began and ended, in Unix seconds, and its exit code; None while it runs, or was killed."""

    began: float = 0.0
    ended: float | None = None
    code: int | None = None


class ScheduleService:
    """The schedules of one home."""

    def __init__(self, home: Home, environment: Mapping[str, str]) -> None:
        self._home, self._folder = home.root, home.schedules
        self._environment = environment

    def listed(self) -> list[Schedule]:
        """Return all schedules by name."""
        return [*self._read_all()]

    def find(self, name: str) -> Schedule:
        """Return a schedule. Raises UsageError."""
        found = next((one for one in self._read_all() if one.name == name), None)
        if found is None:
            known = ", ".join(one.name for one in self._read_all())
            raise UsageError(f"There is no schedule {name!r}.", f"There are: {known}." if known else "There is none.")
        return found

    def add(self, wanted: Schedule) -> Schedule:
        """Start a new schedule. Raises UsageError, and then nothing is left of it."""
        if not _NAME.fullmatch(wanted.name):
            raise UsageError(f"{wanted.name!r} is no name of a schedule.", "Use small letters, digits, - and _.")
        if not wanted.words or wanted.words[0] not in COMMANDS:
            raise UsageError("A schedule starts halo run or halo batch.", 'Write it behind --: -- run "the prompt"')
        if hide_keys(wanted) != wanted:
            raise UsageError(f"A schedule keeps no key: leave out {API_KEY}.", "Store the key with: halo login")
        with lock_timers():
            return self._add_locked(wanted)

    def _add_locked(self, wanted: Schedule) -> Schedule:
        if (self._folder / f"{wanted.name}.json").exists():
            raise UsageError(f"There is a schedule {wanted.name!r}.", f"Remove it: halo schedule remove {wanted.name}")
        timers = self._choose_timers()
        schedule = replace(wanted, timers=timers.kind)
        timers.check(schedule.times, runs_missed=schedule.missed == "run")
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._write(schedule)
        try:
            timers.install(schedule.name, schedule.times, runs_missed=schedule.missed == "run")
        except UsageError:
            self._delete(schedule)
            raise
        return schedule

    def pause(self, name: str) -> Schedule:
        """Start no more runs until it is resumed. Raises UsageError."""
        with lock_timers():
            schedule = self.find(name)
            self._choose_timers(schedule.timers).remove(name)
            return self._write(replace(schedule, paused=True))

    def resume(self, name: str) -> Schedule:
        """Start runs again. Raises UsageError."""
        with lock_timers():
            schedule = self.find(name)
            timers = self._choose_timers(schedule.timers)
            timers.install(name, schedule.times, runs_missed=schedule.missed == "run")
            return self._write(replace(schedule, paused=False))

    def remove(self, name: str) -> Schedule:
        """Delete a schedule; its tasks stay. Raises UsageError."""
        with lock_timers():
            schedule = self.find(name)
            self._choose_timers(schedule.timers).remove(name)
            self._delete(schedule)
            return schedule

    def find_fault(self, schedule: Schedule) -> str:
        """Return why nothing starts a schedule that is not paused; empty if its timer is there."""
        if schedule.paused:
            return ""
        try:
            is_there = self._choose_timers(schedule.timers).has(schedule.name)
        except UsageError as error:
            return error.text.removesuffix(".")
        return "" if is_there else f"its timer is missing; to bring it back: halo schedule resume {schedule.name}"

    def find_next(self, schedule: Schedule) -> str:
        """Return when the next run is, as far as it is known."""
        if schedule.paused:
            return "paused"
        try:
            return self._choose_timers(schedule.timers).find_next(schedule.name)
        except UsageError:
            return ""

    def read_last(self, name: str) -> LastRun | None:
        """Return the last run; None before the first."""
        try:
            return json_input.decode(read_regular(self._folder / f"{name}.last"), type=LastRun)
        except (OSError, msgspec.DecodeError):
            return None

    def run(self, name: str) -> int:
        """Run a schedule now, to its end; return the exit code. Raises UsageError if a run of it has not ended."""
        schedule = self.find(name)
        if not Path(schedule.folder).is_dir():
            raise UsageError(f"The folder {schedule.folder} of the schedule {name} is gone.", "Nothing was run.")
        try:
            with lock_file(self._folder / f"{name}.lock", f"runs the schedule {name}", patience=0) as lock:
                return self._run_locked(schedule, lock)
        except LockHeld as error:
            raise UsageError(f"The schedule {name} is still running: {error}.", "No second run was started.") from error

    def _run_locked(self, schedule: Schedule, lock: int) -> int:
        """Run with the lock, which the run inherits: it is held until the end, also if this process is killed."""
        began = time.time()
        self._write_last(schedule.name, LastRun(began))
        sys.stdout.flush()
        code = subprocess.run(
            (*OWN_PROGRAM, *schedule.words),
            cwd=schedule.folder,
            stdin=subprocess.DEVNULL,
            check=False,
            pass_fds=(lock,),
            env=child_environment(os.environ),
        ).returncode
        self._write_last(schedule.name, LastRun(began, time.time(), code))
        return code

    def _choose_timers(self, kind: str = "") -> Timers:
        return choose_timers(self._environment, self._home, kind)

    def _write_last(self, name: str, last: LastRun) -> None:
        write_whole(self._folder / f"{name}.last", msgspec.json.encode(last), 0o600)

    def _read_all(self) -> Iterator[Schedule]:
        for file in sorted(self._folder.glob("*.json")):
            try:
                yield json_input.decode(read_regular(file), type=Schedule)
            except (OSError, msgspec.DecodeError) as error:
                raise UsageError(f"Cannot read {file}: {error}.", "Delete that file.") from error

    def _write(self, schedule: Schedule) -> Schedule:
        write_whole(self._folder / f"{schedule.name}.json", msgspec.json.encode(schedule), 0o600)
        return schedule

    def _delete(self, schedule: Schedule) -> None:
        for ending in ("json", "last", "lock"):
            (self._folder / f"{schedule.name}.{ending}").unlink(missing_ok=True)
