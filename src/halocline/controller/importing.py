"""Takes over tasks of other tools: one log for each, made aside and put in its place whole.

A task's name follows from where it is from, so an import again finds it. One that went on here is never replaced.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from halocline._version import __version__
from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Usage
from halocline.protocol.values import Value
from halocline.store.history import ALPHABET
from halocline.store.importing import claude, cline, codex
from halocline.store.importing.finding import TOOLS as TOOLS, Found as Found, found, named
from halocline.store.importing.making import events
from halocline.store.importing.said import Beat, Unread
from halocline.store.paths import Home
from halocline.task.log import Log, read


class Standing(StrEnum):
    """How a task there stands to those here."""

    NEW = "new"
    SAME = "already here"
    GROWN = "grown"
    GOES_ON = "goes on here"


class Taken(Value, frozen=True, omit_defaults=False):
    """What became of one task: its name here, how much of it there is, and what could not be read."""

    task: str
    standing: Standing
    turns: int = 0
    steps: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    unread: tuple[str, ...] = ()


class Importer:
    """Reads what other tools wrote, and writes only below Halocline's own home."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def found(self, tool: str = "", path: str = "") -> list[Found]:
        """What is there, the newest first. Raises UsageError."""
        if tool and tool not in TOOLS:
            raise UsageError(f"Nothing is known of {tool!r}.", f"Name one of: {', '.join(TOOLS)}")
        if path:
            try:
                return [named(tool, Path(path).expanduser())]
            except OSError as error:
                raise UsageError(f"Cannot read {path}: {error.strerror}.", "Name a transcript.") from error
        every = (one for name in TOOLS if tool in ("", name) for one in found(name, Path.home(), os.environ))
        return sorted(every, key=lambda one: one.changed, reverse=True)

    def standing(self, there: Found) -> Standing:
        """Whether a task is here already."""
        log = read(self._home.log(task_of(there)))
        began = next(log, None)
        if not isinstance(began, ev.TaskStarted) or began.origin is None:
            return Standing.NEW
        if any(isinstance(event, ev.TaskAdopted) for event in log):
            return Standing.GOES_ON
        return Standing.SAME if began.origin.stamp == there.origin.stamp else Standing.GROWN

    def take(self, there: Found, workspace: str, *, dry: bool) -> Taken:
        """Take a task over; nothing is written when it is `dry`. Raises UsageError when it cannot be read."""
        task, standing = task_of(there), self.standing(there)
        if standing in (Standing.SAME, Standing.GOES_ON):
            return Taken(task, standing)
        unread: list[str] = []
        made = events(_heard(_beats(there), unread))
        tally = _Tally()
        try:
            if dry:
                for event in made:
                    tally.push(event)
            else:
                self._write(task, _began(there, workspace), made, tally)
        except (OSError, RecursionError) as error:
            raise UsageError(f"Cannot take over {there.origin.path}: {error}.", "The rest is not touched.") from error
        return Taken(task, standing, tally.turns, tally.steps, tally.usage, tally.cost, tuple(unread))

    def _write(self, task: str, began: ev.TaskStarted, made: Iterator[ev.DurableEvent], tally: "_Tally") -> None:
        aside = self._home.root / "importing" / task
        now = began.at
        with closing(Log(aside, task, clock=lambda: now)) as log:
            os.truncate(log.path, 0)  # what an import that was cut short left
            log.append(began)
            for event in made:
                now = max(now, event.at)
                log.append(event)
                tally.push(event)
            os.utime(log.path, (now, now))
            if not tally.turns:
                shutil.rmtree(aside)
                return
            place = self._home.task(task)
            if place.exists():
                with closing(Log(place, task)):  # nobody has it open
                    shutil.rmtree(place)
            aside.rename(place)


class _Tally:
    """Counts what is taken over."""

    def __init__(self) -> None:
        self.turns = self.steps = 0
        self.usage = Usage()
        self.cost: float | None = None

    def push(self, event: ev.DurableEvent) -> None:
        self.turns += isinstance(event, ev.TurnStarted)
        self.steps += isinstance(event, ev.StepStarted)
        if isinstance(event, ev.UsageReported):
            self.usage += event.usage
            self.cost = self.cost if event.cost is None else (self.cost or 0.0) + event.cost


def task_of(there: Found) -> str:
    """The name of a task here, the same each time."""
    digest = sha256(f"{there.origin.tool} {there.origin.id}".encode()).digest()
    return time.strftime("%y%m%d-%H%M%S-", time.gmtime(there.at)) + "".join(ALPHABET[b % 31] for b in digest[:8])


def _began(there: Found, workspace: str) -> ev.TaskStarted:
    return ev.TaskStarted(
        workspace=workspace or there.workspace or str(Path.home()),
        model="",
        mode=ev.Mode.ACT,
        approval_mode=ev.ApprovalMode.ASK,
        system_prompt="",
        version=__version__,
        origin=there.origin,
        at=there.at,
    )


def _beats(there: Found) -> Iterator[Beat]:
    with open(there.origin.path, "rb") as file:
        match there.origin.tool:
            case "claude":
                yield from claude.read(file)
            case "codex":
                yield from codex.read(file)
            case _:
                yield from cline.read(file.read(), there.at)


def _heard(beats: Iterator[Beat], unread: list[str]) -> Iterator[Beat]:
    for beat in beats:
        if isinstance(beat, Unread):
            unread.append(beat.text)
        yield beat
