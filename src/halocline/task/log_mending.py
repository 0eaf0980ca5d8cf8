"""Repairs a damaged log without guessing: `seq` says where each line belongs.

Duplicate lines and lines out of order lose nothing. Events after a missing one cannot be trusted, so the log ends
before it. The damaged log is kept whole beside the new one: nothing is thrown away.
"""

import os
from collections.abc import Iterator
from contextlib import closing
from itertools import count, takewhile
from pathlib import Path
from typing import BinaryIO

import msgspec

from halocline.files.durable import sync_path
from halocline.protocol import codec
from halocline.protocol.events import LogRepaired, TaskStarted
from halocline.protocol.values import Value
from halocline.task.log import Log
from halocline.task.log_reading import check_format, is_whole


class LogDamage(Value, frozen=True):
    """The damage of a log. Events up to `kept` are whole; `lost` events after them cannot be used."""

    wrong: tuple[str, ...]
    kept: int
    lost: int

    @property
    def text(self) -> str:
        """Description for the user."""
        wrong = ", ".join(self.wrong)
        if not self.kept:
            return f"{wrong}; its beginning is missing, so it cannot be repaired."
        if self.lost:
            return f"{wrong}; events 1 to {self.kept} are intact, {self.lost} after them cannot be used."
        return f"{wrong}; all {self.kept} events are intact."


class _Lines(Value, frozen=True):
    """Offset of each event's line, number of unreadable lines, and duplicate and conflicting events."""

    places: dict[int, int]
    unreadable: int = 0
    doubled: tuple[int, ...] = ()
    contradicting: tuple[int, ...] = ()
    is_sorted: bool = True
    has_beginning: bool = False


def find_damage(path: Path) -> LogDamage | None:
    """Return the damage of a log; None if it is intact. Raises LogTooNew and OSError."""
    with open(path, "rb") as file:
        return _damage_of(_read_lines(file, path))


def mend_log(path: Path) -> tuple[LogDamage, Path] | None:
    """Rewrite a damaged log and return the path of the old one. None: it is intact, or cannot be repaired.

    Raises:
        TaskBusy: a process has the task open.
        TaskNotFound: it was deleted.
        LogTooNew, LogUnwritable, OSError
    """
    with closing(Log(path.parent, path.parent.name, goes_on=True)):
        size = path.stat().st_size
        with open(path, "rb") as file:
            lines = _read_lines(file, path)
            damage = _damage_of(lines)
            if damage is None or not damage.kept:
                return None
            new = path.with_name(f"{path.name}.tmp")
            _write_lines(new, (_line_at(file, lines.places[seq]) for seq in range(1, damage.kept + 1)))
        aside = next(name for number in count(1) if not (name := path.with_name(f"damaged-{number}.jsonl")).exists())
        os.link(path, aside)
        os.replace(new, path)
        sync_path(path.parent)
    if damage.lost:
        _record_repair(path, size - path.stat().st_size, aside.name)
    return damage, aside


def _record_repair(path: Path, bytes_cut: int, aside: str) -> None:
    with closing(Log(path.parent, path.parent.name, goes_on=True)) as log:
        log.load()
        log.append(LogRepaired(bytes_cut=bytes_cut, put_aside=aside))


def _write_lines(path: Path, lines: Iterator[bytes]) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())


def _line_at(file: BinaryIO, place: int) -> bytes:
    file.seek(place)
    return file.readline()


def _read_lines(file: BinaryIO, path: Path) -> _Lines:
    places: dict[int, int] = {}
    doubled: list[int] = []
    contradicting: list[int] = []
    unreadable, last, is_sorted, has_beginning = 0, 0, True, False
    place = 0
    for line in takewhile(is_whole, iter(file.readline, b"")):
        place, begins = place + len(line), place
        if line.isspace():
            continue
        check_format(line, path)
        try:
            event = codec.decode(line)
        except msgspec.DecodeError:
            unreadable += 1
            continue
        has_beginning |= event.seq == 1 and isinstance(event, TaskStarted)
        is_sorted &= event.seq >= last
        last = event.seq
        if (other := places.setdefault(event.seq, begins)) == begins:
            continue
        same = _line_at(file, other) == line
        file.seek(place)
        (doubled if same else contradicting).append(event.seq)
    return _Lines(places, unreadable, tuple(doubled), tuple(contradicting), is_sorted, has_beginning)


def _damage_of(lines: _Lines) -> LogDamage | None:
    last = max(lines.places, default=0)
    first_wrong = next(seq for seq in count(1) if seq not in lines.places or seq in lines.contradicting)
    wrong = list(_describe_damage(lines, last))
    kept = first_wrong - 1 if lines.has_beginning else 0
    return LogDamage(tuple(wrong), kept, sum(seq > kept for seq in lines.places)) if wrong else None


def _describe_damage(lines: _Lines, last: int) -> Iterator[str]:
    """Yield each kind of damage in words."""
    if lines.unreadable:
        yield f"{lines.unreadable} line{'s'[: lines.unreadable != 1]} cannot be read"
    if missing := [seq for seq in range(1, last) if seq not in lines.places]:
        yield f"{_count_events(missing)} missing"
    if lines.doubled:
        yield f"{_count_events(lines.doubled)} written twice"
    if lines.contradicting:
        yield f"{_count_events(lines.contradicting)} present in two versions"
    if not lines.is_sorted:
        yield "lines are out of order"


def _count_events(numbers: "list[int] | tuple[int, ...]") -> str:
    if len(numbers) == 1:
        return f"event {numbers[0]} is"
    return f"{len(numbers)} events (the first is {min(numbers)}) are"
