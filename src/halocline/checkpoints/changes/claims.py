"""Records who is changing files: a line before each change and one after it, in one file for all stores.

Checkpoints attribute changes by it. The first line is written before the files change, so that it is also known what a
process that died was doing, and tasks in one folder know of each other. Lines are only appended: there is no lock.
"""

import os
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.checkpoints.changes.claim_lines import Line, LineReader
from halocline.checkpoints.store.entries import Entry
from halocline.protocol.processes import is_running, read_own_start
from halocline.protocol.values import Value

NAME = "claims"
LARGEST = 1 << 20
"""Size of the file in bytes above which its older half is dropped."""
AFTER_DEATH = 60.0
"""Seconds after which changes no longer count as those of a process that died during a change."""
MOST_UNWRITTEN = 1_000
"""Lines that are kept for a disk that takes nothing at the moment."""
FOR_EVER = float("inf")
"""The end of a claim that has not ended."""


class Claim(Value, frozen=True):
    """A time span in which a task may have changed these files, or with None any file in its folder.

    `wrote` are the contents before and after each edit of a file, oldest first. `is_cut`: its process died.
    """

    task: str
    root: bytes
    at: float
    until: float
    paths: frozenset[bytes] | None
    ran: bool = False
    wrote: tuple[tuple[bytes, str, str], ...] = ()
    is_cut: bool = False

    def concerns(self, folder: bytes) -> bool:
        """True if it may be about files in this folder."""
        return any(_do_overlap(place, folder) for place in ((self.root,) if self.paths is None else self.paths))

    def names(self, place: bytes) -> bool:
        """True if the claim names the file or a folder above it."""
        if self.paths is None:
            return False
        while len(place) > 1:
            if place in self.paths:
                return True
            place = os.path.dirname(place)
        return False


class Claims:
    """The claims of one task in one folder. `folder` is that of all stores."""

    def __init__(self, folder: Path, workspace: Path, task: str) -> None:
        self._file = folder / NAME
        self.root = os.fsencode(workspace)
        self.task = task
        self._began = time.time()
        self._has_saved = False
        """True once a scan of this object is recorded: what was kept before it is saved."""
        self._reader = LineReader(self._file, task, _place_as_text(self.root))
        self._open: set[tuple[str, ...] | None] = set()
        self._unwritten: list[bytes] = []
        self._writing = threading.Lock()

    def begin(self, paths: Sequence[str | bytes] | None, at: float | None = None, *, ran: bool = False) -> None:
        """Record that these entries, or any, may change from now on; `ran`: by a command."""
        named = self._named(paths)
        self._add(
            Line("begun", self.task, _place_as_text(self.root), time.time() if at is None else at, named, ran=ran)
        )
        self._open.add(named)

    def wrote(self, path: str | bytes, before: str, after: str) -> None:
        """Record what an announced edit did to a file."""
        named = self._named([path])
        self._add(Line("wrote", self.task, _place_as_text(self.root), time.time(), named, before=before, after=after))

    def end(self, paths: Sequence[str | bytes] | None = None) -> None:
        """Record that an announced change is done; does nothing if it was not announced."""
        if (named := self._named(paths)) in self._open:
            self._add(Line("ended", self.task, _place_as_text(self.root), time.time(), named))
            self._open.discard(named)

    @property
    def is_any_open(self) -> bool:
        """True while a command that may change any file is running."""
        return None in self._open

    def looked(self, at: float) -> None:
        """Record that everything claimed and done before this time is saved."""
        self._add(Line("looked", self.task, _place_as_text(self.root), at))
        self._has_saved = self._has_saved or at >= self._began

    def kept(self, path: bytes, entry: Entry | None, asked: float) -> None:
        """Record a file's state before an edit changes it, for the checkpoint requested at `asked`."""
        place = _place_as_text(os.path.join(self.root, path))
        mode, sha = (entry.mode.decode(), entry.sha) if entry else ("", "")
        self._add(Line("kept", self.task, _place_as_text(self.root), asked, (place,), before=sha, mode=mode))

    def read_unsaved(self) -> dict[bytes, Entry | None]:
        """Return file states that the task kept, before this object was created, for checkpoints never saved."""
        if self._has_saved:
            return {}
        mine = [line for line in self._reader.read(0.0) if self._is_mine(line) and line.at < self._began]
        saved = max((line.at for line in mine if line.what == "looked"), default=0.0)
        found: dict[bytes, Entry | None] = {}
        for line in (line for line in mine if line.what == "kept" and line.at > saved):
            if line.pid != os.getpid() and _is_held(line):
                continue  # that process still runs and saves it
            entry = Entry(line.mode.encode(), line.before) if line.before else None
            for place in line.paths or ():
                found.setdefault(os.path.relpath(_place_as_bytes(place), self.root), entry)
        return found

    def note_known(self, checkpoint: str) -> None:
        """Record that the task knows a checkpoint."""
        self._add(Line("told", self.task, _place_as_text(self.root), time.time(), after=checkpoint))

    def is_known(self, checkpoint: str) -> bool:
        """True if the task knows a checkpoint."""
        lines = self._reader.read(0.0)
        return any(line.what == "told" and line.after == checkpoint for line in lines if self._is_mine(line))

    def last_look(self) -> float:
        """Unix time of the task's last scan of its folder; 0 if there was none."""
        return max((line.at for line in self._reader.read() if self._is_look(line)), default=0.0)

    def since(self, moment: float) -> list[Claim]:
        """Return the claims of this task, and of all tasks in this folder, that held at that time or later."""
        lines = self._reader.read(moment)
        held = _pair_claims(lines, moment)
        begun = {(claim.task, claim.at) for claim in held}
        is_needed = (line.at >= moment or (line.task, line.at) in begun for line in lines)
        settled = next((number for number, needed in enumerate(is_needed) if needed), len(lines))
        newest = max((line for line in lines[:settled] if self._is_look(line)), key=lambda line: line.at, default=None)
        self._reader.forget(settled, [newest] if newest else [], moment)
        return held

    def looks_of_others(self, since: float) -> list[float]:
        """Unix times at which other open tasks scanned this folder, one above it or one below it."""
        found = [line for line in self._reader.read(since) if line.what == "looked" and line.at >= since]
        near = [line for line in found if line.task != self.task and _do_overlap(_place_as_bytes(line.root), self.root)]
        running = {one for one in set(map(_writer_of, near)) if is_running(*one)}
        return [line.at for line in near if _writer_of(line) in running]

    def _is_look(self, line: Line) -> bool:
        return line.what == "looked" and self._is_mine(line)

    def _is_mine(self, line: Line) -> bool:
        return line.task == self.task and _place_as_bytes(line.root) == self.root

    def _named(self, paths: Sequence[str | bytes] | None) -> tuple[str, ...] | None:
        """The places of entries, whatever is there: those of a claim are the same when it ends as when it began."""
        if paths is None:
            return None
        found = set()
        for path in paths:
            with suppress(ValueError):  # no file can have such a name
                found.add(_place_as_text(os.path.join(self.root, os.fsencode(path))))
        return tuple(sorted(found))

    def _add(self, line: Line) -> None:
        """Write a line; what the disk refuses is written with the next one.

        Without a line, a change counts as somebody else's, which a restore leaves alone.
        """
        line = replace(line, pid=os.getpid(), started=read_own_start(os.getpid()))
        with self._writing:
            self._unwritten.append(b"\n" + msgspec.json.encode(line))  # a torn line damages no other
            del self._unwritten[:-MOST_UNWRITTEN]
            with suppress(OSError):
                fd = self._open_file()
                try:
                    os.write(fd, b"".join(self._unwritten))
                    self._unwritten = []
                finally:
                    os.close(fd)

    def _open_file(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            return os.open(self._file, flags, 0o600)
        except FileNotFoundError:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self._file, flags, 0o600)


def trim_file(folder: Path, largest: int = LARGEST) -> None:
    """Drop the older half of a file above `largest` bytes. Some store's lock must be held."""
    file = folder / NAME
    with suppress(OSError):
        if file.stat().st_size > largest:
            data = file.read_bytes()
            new = file.with_suffix(".new")
            new.write_bytes(data[data.find(b"\n", len(data) // 2) :])
            new.replace(file)


def _pair_claims(lines: Iterable[Line], moment: float) -> list[Claim]:
    """The claims that held at that time or later, each with its end: as recorded, or soon after its process died."""
    begun: dict[tuple[str, str], list[tuple[Line, list[Line]]]] = {}
    found: list[Claim] = []
    for line in lines:
        mine = begun.setdefault((line.task, line.root), [])
        match line.what:
            case "begun":
                mine.append((line, []))
            case "wrote":
                for _, wrote in mine:
                    wrote.append(line)
            case "ended":
                if line.at >= moment:
                    found += [_make_claim(one, wrote, line.at) for one, wrote in mine if one.paths == line.paths]
                mine[:] = [both for both in mine if both[0].paths != line.paths]
            case "looked":
                lost = [both for both in mine if _writer_of(both[0]) != _writer_of(line) and not _is_held(both[0])]
                found += [_cut_claim(one, wrote, line.at) for one, wrote in lost]
                mine[:] = [both for both in mine if both not in lost]
    left = (both for few in begun.values() for both in few)
    for one, wrote in sorted(left, key=lambda both: both[0].at):
        found.append(_make_claim(one, wrote, FOR_EVER) if _is_held(one) else _cut_claim(one, wrote, FOR_EVER))
    return [claim for claim in found if claim.until >= moment]


def _cut_claim(line: Line, wrote: Iterable[Line], until: float) -> Claim:
    return replace(_make_claim(line, wrote, min(until, line.at + AFTER_DEATH)), is_cut=True)


def _make_claim(line: Line, wrote: Iterable[Line], until: float) -> Claim:
    named = None if line.paths is None else frozenset(map(_place_as_bytes, line.paths))
    facts = tuple((_place_as_bytes(path), one.before, one.after) for one in wrote for path in one.paths or ())
    return Claim(line.task, _place_as_bytes(line.root), line.at, until, named, line.ran, facts)


def _do_overlap(one: bytes, other: bytes) -> bool:
    one, other = one.rstrip(b"/") + b"/", other.rstrip(b"/") + b"/"
    return one.startswith(other) or other.startswith(one)


def _writer_of(line: Line) -> tuple[int, str]:
    return line.pid, line.started


def _is_held(line: Line) -> bool:
    return is_running(*_writer_of(line))


def _place_as_text(place: bytes) -> str:
    return place.decode("latin-1")


def _place_as_bytes(text: str) -> bytes:
    return text.encode("latin-1")
