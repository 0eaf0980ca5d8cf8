"""The outcome of a restore, kept in the store until a person is told: a process may be killed before it says it.

What must stay true: it is written before the journal of the restore is removed, and removed once it was said or logged.
"""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from halocline.files.durable import write_whole
from halocline.protocol import json_input
from halocline.protocol.processes import is_running, read_start
from halocline.protocol.values import Value

_UNDONE = "undone.json"


class Outcome(Value, frozen=True):
    """Text for a person, and the process that is about to tell it, with its start; 0: the next one that can."""

    text: str
    pid: int = 0
    started: str = ""


def note_undone(store: Path, text: str) -> None:
    """Keep what became of a restore that was interrupted, beside what was kept before. Raises OSError."""
    earlier = _read(store, _UNDONE)
    texts = dict.fromkeys([earlier.text, text] if earlier else [text])
    write_whole(store / _UNDONE, msgspec.json.encode(Outcome(" ".join(texts))))


def note_made(store: Path, text: str) -> None:
    """Keep what a restore by this process does, in case that it is killed before its log says so. Raises OSError."""
    write_whole(store / _own_name(), msgspec.json.encode(Outcome(text, os.getpid(), read_start(os.getpid()))))


def forget_made(store: Path) -> None:
    """Forget it: the log says it, or nothing was done."""
    with suppress(OSError):
        (store / _own_name()).unlink(missing_ok=True)


def read_untold(store: Path) -> str:
    """Return all that must still be told; usually empty. What a process that runs is about to tell is left to it."""
    found = (_read(store, name) for name in _list_names(store))
    return " ".join(one.text for one in found if one and not _has_writer(one))


def _has_writer(one: Outcome) -> bool:
    """Return True if the process that wrote this still runs."""
    return bool(one.pid) and is_running(one.pid, one.started)


def forget_untold(store: Path) -> None:
    """Forget it: it was told."""
    for name in _list_names(store):
        if (found := _read(store, name)) and not _has_writer(found):
            with suppress(OSError):
                (store / name).unlink(missing_ok=True)


def _own_name() -> str:
    """Return the name of this process's note: several may restore in one store."""
    return f"made-{os.getpid()}.json"


def _list_names(store: Path) -> list[str]:
    return [_UNDONE, *sorted(path.name for path in store.glob("made-*.json"))]


def _read(store: Path, name: str) -> Outcome | None:
    with suppress(OSError, msgspec.DecodeError):
        return json_input.decode((store / name).read_bytes(), type=Outcome)
    return None
