"""The lines of the file of claims, and a reader that decodes each line once: the file only grows, for months.

What must stay true: what a reader forgot is read again when an earlier moment is asked for. One thread at a time reads:
the one that holds the store's lock. All tasks of a home write into the file, so a reader decodes only what its task
wrote and what names its folder, one above it or a place below it: else a thousand tasks would decode a million lines.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from halocline.protocol import json_input
from halocline.protocol.values import Value


class Line(Value, frozen=True):
    """One line. `paths` are absolute, decoded as latin-1 because names need not be text; None: any file in `root`.

    `what` is begun, wrote, ended, kept, looked (the task's claims up to then are saved), or told (the task knows the
    checkpoint in `after`). `at` is in Unix seconds. `before` and `after` are git's hashes of a written file's old and
    new content, empty for no file. `ran`: a command does the writing, so that it is unknown what it wrote. For a kept
    file, `before` and `mode` are its state when the checkpoint that should show it was requested. `started` is the
    start of the process, so that another one that gets its number later is not taken for it.
    """

    what: str
    task: str
    root: str
    at: float
    paths: tuple[str, ...] | None = None
    pid: int = 0
    before: str = ""
    after: str = ""
    ran: bool = False
    mode: str = ""
    started: str = ""


class LineReader:
    """Reads the lines of one file that concern a task or its folder; those that it forgot cost nothing any more."""

    def __init__(self, file: Path, task: str, root: str) -> None:
        self._file = file
        above = ["/", *(root[:end] for end in range(1, len(root)) if root[end] == "/")]
        places = [*map(msgspec.json.encode, (*above, root)), msgspec.json.encode(root + "/")[:-1]]
        self._concerning = (b'"task":' + msgspec.json.encode(task), *places)
        """One of these is in a line of this task, or about this folder, one above it or a place below it."""
        self._inode = 0
        self._restart()

    def read(self, since: float = float("inf")) -> list[Line]:
        """Return the lines, without those forgotten; with them if some may matter from the Unix time `since` on."""
        if since < self._needed_from:
            self._restart()
        try:
            data = self._read_on()
        except OSError:
            return []
        whole, _, last = data.rpartition(b"\n")
        self._lines += self._decode_lines(whole)
        self._offset += len(whole)
        return [*self._lines, *self._decode_lines(last)]  # the last line may still be being written

    def forget(self, count: int, but: Sequence[Line], needed_from: float) -> None:
        """Forget the first lines but these, because no others of them matter from the Unix time `needed_from` on."""
        self._lines[:count] = but
        self._needed_from = needed_from

    def _read_on(self) -> bytes:
        with self._file.open("rb") as file:
            found = os.fstat(file.fileno())
            if found.st_ino != self._inode or found.st_size < self._offset:  # its older half was dropped
                self._restart()
                self._inode = found.st_ino
            file.seek(self._offset)
            return file.read()

    def _restart(self) -> None:
        self._lines: list[Line] = []
        self._offset = 0
        self._needed_from = 0.0

    def _decode_lines(self, data: bytes) -> list[Line]:
        """Decode the lines that concern the reader. No others are looked at: tasks may have written thousands."""
        ends: dict[int, int] = {}
        for one in self._concerning:
            at = data.find(one)
            while at >= 0:
                end = data.find(b"\n", at)
                ends[data.rfind(b"\n", 0, at) + 1] = end = len(data) if end < 0 else end
                at = data.find(one, end)
        found = []
        for start in sorted(ends):
            with suppress(msgspec.DecodeError):
                found.append(json_input.decode(data[start : ends[start]], type=Line))
        return found
