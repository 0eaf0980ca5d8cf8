"""Import transcripts of other programs as tasks (`halo import`).

What must stay true: the originals are only read. A task appears whole or not at all, and a transcript never becomes two
tasks: the task's id is derived from its origin. A task that was continued here is never replaced.
"""

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline._version import __version__
from halocline.files.folder_mark import read_mark
from halocline.importers.programs import THEIRS, load_program
from halocline.importers.to_events import to_events
from halocline.importers.transcript import FoundTranscript, Ground
from halocline.ports.blobs import blob_reference
from halocline.protocol import codec, events as ev
from halocline.protocol.errors import HaloclineError, TaskNotFound
from halocline.protocol.events.imports import Origin
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Note
from halocline.protocol.values import Value
from halocline.providers.catalog.models import cost_of
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.models.vendors import find_model_facts
from halocline.store.tasks.history import ALPHABET, TAIL
from halocline.task import lock
from halocline.task.log import Log, LogUnwritable, read_log

IMPORT_NOTE = (
    "The conversation so far took place in {program}, another coding agent, and was imported. Some of its tools had "
    "other names and parameters: use only the tools that you have now. Files may have changed since: read them before "
    "you edit."
)
SOURCE = "imported"
BESIDE = (ev.TaskLabelled, ev.TaskForked)
"""Events that do not count as continuing an imported task."""
LEFT_AFTER = 3600.0
"""Seconds after which a log without a writer counts as the remains of a killed import."""


class TranscriptStatus(StrEnum):
    """Status of a transcript in this home. `FAILED` is the result of an import that did not succeed."""

    NEW = "new"
    IMPORTED = "imported"
    GROWN = "grown"
    """Imported, and longer since."""
    MOVED = "moved"
    """Imported, and wanted in another folder."""
    CONTINUED = "continued here"
    FAILED = "failed"


class ImportResult(Value, frozen=True, omit_defaults=False):
    """The result for one transcript. `lost` lists what could not be imported, as text."""

    task: str
    standing: TranscriptStatus
    title: str
    workspace: str
    turns: int = 0
    cost: float | None = None
    lost: tuple[str, ...] = ()
    error: str = ""


class ImportService:
    """Imports one person's transcripts into a home."""

    def __init__(self, assembly: Assembly, user: Path, env: Mapping[str, str]) -> None:
        self._assembly = assembly
        self._home = assembly.home
        self._user = user
        self._env = env
        self.remarks: list[str] = []
        """Places that could not be searched."""

    @classmethod
    def open(cls, env: Mapping[str, str] = os.environ) -> "ImportService":
        """Read the home and the settings. Raises UsageError and SettingsError."""
        return cls(Assembly.of(Choices()), Path(env.get("HOME") or Path.home()), env)

    def found(self, programs: Sequence[str], path: Path | None = None, since: float = 0.0) -> list[FoundTranscript]:
        """Return the transcripts on this machine, or at `path`, newest first; of copies, the one changed last.

        Their titles are words of prompts, so keys in them are redacted here, for all who show them.
        """
        each = self._at(programs, path) if path else self._here(programs)
        newest = {(one.tool, one.id): one for one in sorted(each, key=lambda one: one.changed)}
        redact = self._assembly.secrets.redact
        shown = (replace(one, title=redact(one.title)) for one in newest.values() if one.changed >= since)
        return sorted(shown, key=lambda one: -one.changed)

    def title(self, name: str) -> str:
        """Return the display name of a program."""
        return load_program(name).TITLE

    def _here(self, programs: Sequence[str]) -> Iterator[FoundTranscript]:
        for name in programs:
            try:
                yield from load_program(name).find_transcripts(self._user, self._env)
            except OSError as error:
                self.remarks.append(f"Cannot search for conversations of {load_program(name).TITLE}: {error}.")

    def _at(self, programs: Sequence[str], path: Path) -> list[FoundTranscript]:
        """Return the transcripts at a path; a file belongs to the first program that can read it."""
        found = (list(load_program(name).open_transcripts(path)) for name in programs)
        return next(filter(None, found), []) if path.is_file() else [one for each in found for one in each]

    def standing(self, found: FoundTranscript) -> TranscriptStatus:
        """Return the status of a transcript in this home."""
        log = self._home.log(task_of(found))
        if not log.exists():
            return TranscriptStatus.NEW
        match _closing_events(log):
            case [ev.Imported(origin=origin), *_]:
                return TranscriptStatus.IMPORTED if origin.stamp == found.stamp else TranscriptStatus.GROWN
        return TranscriptStatus.CONTINUED

    def take(self, found: FoundTranscript, workspace: Path, *, always: bool = False, dry: bool = False) -> ImportResult:
        """Import a transcript as a task. `workspace` applies if the transcript names none, or `always`.

        `dry` writes nothing.

        Raises:
            HaloclineError: the task cannot be written.
        """
        standing, before = self.standing(found), self._workspace(found)
        place = str(workspace) if always else before or _usable_folder(found.workspace) or str(workspace)
        if standing is TranscriptStatus.IMPORTED and place != before:
            standing = TranscriptStatus.MOVED
        done = ImportResult(task_of(found), standing, found.title, place)
        if standing in (TranscriptStatus.IMPORTED, TranscriptStatus.CONTINUED):
            return done
        put = blob_reference if dry else self._assembly.blobs.put
        ground = Ground(put=put, redact=self._assembly.secrets.redact, folder=found.workspace)
        events = self._events(found, place, ground)
        stats = ImportStats()
        if dry:
            stats.count(events)
        else:
            self._write(task_of(found), stats.count_each(events), fresh=standing is TranscriptStatus.NEW)
        return replace(done, turns=stats.turns, cost=stats.cost, lost=_text_words(ground))

    def _workspace(self, found: FoundTranscript) -> str:
        """Return the workspace of a transcript's task; empty if it was not imported."""
        with suppress(TaskNotFound):
            began = next(read_log(self._home.log(task_of(found))), None)
            return began.workspace if isinstance(began, ev.TaskStarted) else ""
        return ""

    def _events(self, found: FoundTranscript, workspace: str, ground: Ground) -> Iterator[ev.DurableEvent]:
        at = found.started
        origin = Origin(found.tool, found.id, found.path, found.stamp)
        yield _start_event(found, workspace, origin)
        module = load_program(found.tool)
        for event in to_events(module.read_entries(found, ground), at, THEIRS.get(found.tool, {}), ground):
            at = event.at
            yield self._add_price(event, found.model) if isinstance(event, ev.UsageReported) else event
        note = Note(IMPORT_NOTE.format(program=module.TITLE), SOURCE)
        yield ev.Imported(origin=origin, lost=_text_words(ground), content=(note,), at=at)

    def _add_price(self, event: ev.UsageReported, model: str) -> ev.UsageReported:
        """Add the cost by our prices, unless the transcript recorded one."""
        if event.cost is not None:
            return event
        known = find_model_facts(model, self._assembly.settings, self._assembly.catalogue)
        return replace(event, cost=cost_of(known, event.usage))

    def _write(self, task: str, events: Iterable[ev.DurableEvent], *, fresh: bool) -> None:
        """Write the log outside the tasks folder, then move it in, with the labels of an earlier import."""
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
            raise HaloclineError(
                f"Cannot write the task: {error}.", "Free disk space, then import it again."
            ) from error
        finally:
            shutil.rmtree(making, ignore_errors=True)

    def _log(
        self, folder: Path, task: str, events: Iterable[ev.DurableEvent], notes: Iterable[ev.DurableEvent]
    ) -> float:
        """Write a log and return the time of its last event (Unix seconds)."""
        now = today = time.time()
        with closing(Log(folder, task, clock=lambda: now)) as log:
            for event in events:
                now = min(event.at, today)  # a task from the future would stay the newest one
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
    """Counts turns and cost of events as they pass."""

    def __init__(self) -> None:
        self.turns = 0
        self.cost: float | None = 0.0

    def count_each(self, events: Iterable[ev.DurableEvent]) -> Iterator[ev.DurableEvent]:
        """Yield the events unchanged."""
        for event in events:
            self.turns += isinstance(event, ev.TurnStarted)
            if isinstance(event, ev.UsageReported):
                self.cost = None if self.cost is None or event.cost is None else self.cost + event.cost
            yield event

    def count(self, events: Iterable[ev.DurableEvent]) -> None:
        for _ in self.count_each(events):
            pass


def _start_event(found: FoundTranscript, workspace: str, origin: Origin) -> ev.TaskStarted:
    """Build the first event. It has no system prompt: the task gets the current one when it is resumed."""
    return ev.TaskStarted(
        workspace=workspace,
        model=found.model,
        mode=Mode.ACT,
        approval_mode=ApprovalMode.ASK,
        system_prompt="",
        version=__version__,
        origin=origin,
        folder_mark=read_mark(workspace),
        at=found.started,
    )


def _closing_events(log: Path) -> list[ev.DurableEvent]:
    """Return the `Imported` event of a log and the labels after it; empty if the task was continued."""
    end: list[ev.DurableEvent] = []
    with open(log, "rb") as file:
        file.seek(max(0, log.stat().st_size - TAIL))
        lines = file.read().splitlines()
    for line in reversed(lines):
        try:
            event = codec.decode(line)
        except msgspec.DecodeError:
            return []
        end.insert(0, event)
        if isinstance(event, ev.Imported):
            return end
        if not isinstance(event, BESIDE):
            return []
    return []


def _clear_leftovers(folder: Path) -> None:
    """Remove the remains of killed imports."""
    for left in folder.iterdir():
        if time.time() - left.stat().st_mtime > LEFT_AFTER and not lock.read_owner(left):
            shutil.rmtree(left, ignore_errors=True)


def task_of(found: FoundTranscript) -> str:
    """Return the id of a transcript's task, which is always the same."""
    digest = sha256(f"{found.tool}\n{found.id}".encode()).digest()
    began = time.strftime("%y%m%d-%H%M%S-", time.gmtime(found.started))
    return began + "".join(ALPHABET[byte % len(ALPHABET)] for byte in digest[:4])


def _usable_folder(workspace: str) -> str:
    """Return the folder that a transcript names, or an empty string if it cannot be one."""
    return workspace if Path(workspace).is_absolute() and workspace.isprintable() and len(workspace) < 4_000 else ""


def _text_words(ground: Ground) -> tuple[str, ...]:
    return tuple(f"{number:,} × {what}" for what, number in sorted(ground.lost.items()))
