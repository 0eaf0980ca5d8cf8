"""What `halo import` does: which transcripts of other programs are here, and making tasks of ours from them.

What must stay true: the originals are only read. A task is there whole or not at all, and a transcript never becomes
two: its task's name is made from where it came from. One that was gone on with here is never replaced.
"""

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline._version import __version__
from halocline.importers.programs import PROGRAMS as PROGRAMS, THEIRS, load_program
from halocline.importers.to_events import to_events
from halocline.importers.transcript import Found as Found, Ground
from halocline.ports.blobs import blob_reference
from halocline.protocol import codec
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import (
    ApprovalMode,
    DurableEvent,
    Imported,
    Mode,
    Origin,
    TaskForked,
    TaskLabelled,
    TaskStarted,
    TurnStarted,
    UsageReported,
)
from halocline.protocol.messages import Note
from halocline.protocol.values import Value
from halocline.providers.catalog.models import cost_of
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.prompts.system_prompt import find_model_facts
from halocline.store.tasks.history import ALPHABET, TAIL
from halocline.task import lock
from halocline.task.log import Log, LogUnwritable, read_log

NEW, HERE, GROWN, MOVED, GONE_ON = "new", "imported", "grown", "moved", "continued here"
"""How a transcript stands: not imported, as it was imported, longer than that, wanted in another folder, gone on
with as a task of ours."""
TOLD = (
    "The conversation up to here was led with {program}, another coding agent, and was imported. Some of its tools had "
    "other names and inputs: use only the tools that you have now. Files may have changed since: read before you edit."
)
SOURCE = "imported"
BESIDE = (TaskLabelled, TaskForked)
"""What happens to an imported task without going on with it."""
LEFT_AFTER = 3600.0
"""Seconds after which a log that nobody writes is what a killed import left."""


class Done(Value, frozen=True, omit_defaults=False):
    """What came of one transcript. `lost` is what could not be taken over, in words."""

    task: str
    standing: str
    title: str
    workspace: str
    turns: int = 0
    cost: float | None = None
    lost: tuple[str, ...] = ()
    error: str = ""


class ImportService:
    """The transcripts of one person, and the home that they are taken into."""

    def __init__(self, assembly: Assembly, user: Path, env: Mapping[str, str]) -> None:
        self._assembly = assembly
        self._home = assembly.home
        self._user = user
        self._env = env
        self.remarks: list[str] = []
        """Where it could not be looked."""

    @classmethod
    def open(cls, env: Mapping[str, str] = os.environ) -> "ImportService":
        """Raises UsageError and SettingsError."""
        return cls(Assembly.of(Choices()), Path(env.get("HOME") or Path.home()), env)

    def found(self, programs: Sequence[str], path: Path | None = None, since: float = 0.0) -> list[Found]:
        """The transcripts that are here, or at `path`; the newest first. Of copies, the one that changed last."""
        each = self._at(programs, path) if path else self._here(programs)
        newest = {(one.tool, one.id): one for one in sorted(each, key=lambda one: one.changed)}
        return sorted((one for one in newest.values() if one.changed >= since), key=lambda one: -one.changed)

    def title(self, name: str) -> str:
        """How people call a program."""
        return load_program(name).TITLE

    def _here(self, programs: Sequence[str]) -> Iterator[Found]:
        for name in programs:
            try:
                yield from load_program(name).found(self._user, self._env)
            except OSError as error:
                self.remarks.append(f"Cannot look for conversations with {load_program(name).TITLE}: {error}.")

    def _at(self, programs: Sequence[str], path: Path) -> list[Found]:
        """A file is of the first program that can read it."""
        found = (list(load_program(name).found_at(path)) for name in programs)
        return next(filter(None, found), []) if path.is_file() else [one for each in found for one in each]

    def standing(self, found: Found) -> str:
        """How a transcript stands to the tasks of this home."""
        log = self._home.log(task_of(found))
        if not log.exists():
            return NEW
        match _closing_events(log):
            case [Imported(origin=origin), *_]:
                return HERE if origin.stamp == found.stamp else GROWN
        return GONE_ON

    def take(self, found: Found, workspace: Path, *, always: bool = False, dry: bool = False) -> Done:
        """Make a task of a transcript. `workspace` is for one that names none, or for any when it is `always`.

        Raises:
            HaloclineError: the task cannot be written.
        """
        standing, before = self.standing(found), self._workspace(found)
        place = str(workspace) if always else before or _usable_folder(found.workspace) or str(workspace)
        if standing == HERE and place != before:
            standing = MOVED
        done = Done(task_of(found), standing, found.title, place)
        if standing in (HERE, GONE_ON):
            return done
        put = blob_reference if dry else self._assembly.blobs.put
        ground = Ground(put=put, redact=self._assembly.secrets.redact)
        events = self._events(found, place, ground)
        told = ImportStats()
        if dry:
            told.count(events)
        else:
            self._write(task_of(found), told.counted(events), fresh=standing == NEW)
        return replace(done, turns=told.turns, cost=told.cost, lost=_text_words(ground))

    def _workspace(self, found: Found) -> str:
        """The folder of the task that a transcript is here; nothing when it is not."""
        began = next(read_log(self._home.log(task_of(found))), None)
        return began.workspace if isinstance(began, TaskStarted) else ""

    def _events(self, found: Found, workspace: str, ground: Ground) -> Iterator[DurableEvent]:
        at = found.started
        origin = Origin(found.tool, found.id, found.path, found.stamp)
        yield _start_event(found, workspace, origin)
        module = load_program(found.tool)
        for event in to_events(module.said(found, ground), at, THEIRS.get(found.tool, {}), ground):
            at = event.at
            yield self._priced(event, found.model) if isinstance(event, UsageReported) else event
        note = Note(TOLD.format(program=module.TITLE), SOURCE)
        yield Imported(origin=origin, lost=_text_words(ground), content=(note,), at=at)

    def _priced(self, event: UsageReported, model: str) -> UsageReported:
        """With what it cost by our prices, where nobody wrote that down."""
        if event.cost is not None:
            return event
        known = find_model_facts(model, self._assembly.settings, self._assembly.catalogue)
        return replace(event, cost=cost_of(known, event.usage))

    def _write(self, task: str, events: Iterable[DurableEvent], *, fresh: bool) -> None:
        """The whole log beside the tasks first, then into its place, with what was noted on an earlier import."""
        notes = () if fresh else _closing_events(self._home.log(task))[1:]
        making = self._home.importing / f"{task}-{os.getpid()}"
        making.parent.mkdir(exist_ok=True, mode=0o700)
        try:
            _clear_leftovers(making.parent)
            last = self._log(making, task, events, notes)
            os.utime(making / codec.LOG_NAME, (last, last))
            if fresh:
                making.rename(self._home.task(task))
            else:
                self._replace(making / codec.LOG_NAME, task)
        except (OSError, LogUnwritable) as error:
            raise HaloclineError(f"The task cannot be written: {error}.", "Make room, then import it again.") from error
        finally:
            shutil.rmtree(making, ignore_errors=True)

    def _log(self, folder: Path, task: str, events: Iterable[DurableEvent], notes: Iterable[DurableEvent]) -> float:
        """When the last thing happened in it."""
        now = today = time.time()
        with closing(Log(folder, task, clock=lambda: now)) as log:
            for event in events:
                now = min(event.at, today)  # a task from the future would be the newest one for ever
                log.append(event)
            for note in notes:
                log.append(note)
        return now

    def _replace(self, made: Path, task: str) -> None:
        held = lock.take_lock(self._home.task(task), task)
        try:
            if _closing_events(self._home.log(task)):
                made.replace(self._home.log(task))
        finally:
            lock.give_back(held)


class ImportStats:
    """Counts events on their way."""

    def __init__(self) -> None:
        self.turns = 0
        self.cost: float | None = 0.0

    def counted(self, events: Iterable[DurableEvent]) -> Iterator[DurableEvent]:
        """The same events."""
        for event in events:
            self.turns += isinstance(event, TurnStarted)
            if isinstance(event, UsageReported):
                self.cost = None if self.cost is None or event.cost is None else self.cost + event.cost
            yield event

    def count(self, events: Iterable[DurableEvent]) -> None:
        for _ in self.counted(events):
            pass


def _start_event(found: Found, workspace: str, origin: Origin) -> TaskStarted:
    """Without a system prompt: it gets that of the day when it is gone on with."""
    return TaskStarted(
        workspace=workspace,
        model=found.model,
        mode=Mode.ACT,
        approval_mode=ApprovalMode.ASK,
        system_prompt="",
        version=__version__,
        origin=origin,
        at=found.started,
    )


def _closing_events(log: Path) -> list[DurableEvent]:
    """The `Imported` of a log, and what was noted on it since; nothing when the task was gone on with."""
    end: list[DurableEvent] = []
    with open(log, "rb") as file:
        file.seek(max(0, log.stat().st_size - TAIL))
        lines = file.read().splitlines()
    for line in reversed(lines):
        try:
            event = codec.decode(line)
        except msgspec.DecodeError:
            return []
        end.insert(0, event)
        if isinstance(event, Imported):
            return end
        if not isinstance(event, BESIDE):
            return []
    return []


def _clear_leftovers(folder: Path) -> None:
    """Remove what imports that were killed have left."""
    for left in folder.iterdir():
        if time.time() - left.stat().st_mtime > LEFT_AFTER and not lock.read_owner(left):
            shutil.rmtree(left, ignore_errors=True)


def task_of(found: Found) -> str:
    """The name of a transcript's task: always the same one."""
    digest = sha256(f"{found.tool}\n{found.id}".encode()).digest()
    began = time.strftime("%y%m%d-%H%M%S-", time.gmtime(found.started))
    return began + "".join(ALPHABET[byte % len(ALPHABET)] for byte in digest[:4])


def _usable_folder(workspace: str) -> str:
    """The folder that a transcript names, if it can be one."""
    return workspace if Path(workspace).is_absolute() and workspace.isprintable() and len(workspace) < 4_000 else ""


def _text_words(ground: Ground) -> tuple[str, ...]:
    return tuple(f"{number:,} × {what}" for what, number in sorted(ground.lost.items()))
