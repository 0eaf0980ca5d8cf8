"""Logs of tasks from a node to the driver: bounded pieces of whole lines there, a copy of the whole here."""

import os
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock

from halocline.batch.fleet.messages import Piece
from halocline.files.durable import sync_path
from halocline.protocol import codec
from halocline.protocol.codec import LOG_NAME
from halocline.protocol.errors import HaloclineError
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from halocline.task.lock import give_back, take_lock

MOST = 1 << 20
"""Bytes of an answer, after which nothing is added; one line more may be in it."""
MOST_OF_ONE = 256 << 10
"""Bytes of a log in one answer."""
_BLOB = re.compile(rb"sha256:[0-9a-f]{64}")


class Shipment:
    """Pieces of logs for one answer, and the contents that they refer to. `blobs` is the folder of these."""

    def __init__(self, blobs: Path) -> None:
        self._blobs = DiskBlobs(blobs)
        self._size = 0
        self.pieces = list[Piece]()
        self.blobs = dict[str, bytes]()

    def add(self, name: str, log: Path, offset: int) -> bool:
        """Add what a log has from an offset on, as far as there is room. True if that is all of it. Blocks."""
        if not log.exists() or log.stat().st_size <= offset:
            return True
        lines, size = list[bytes](), 0
        with log.open("rb") as file:
            file.seek(offset)
            for line in file:
                if not line.endswith(b"\n"):  # it is being written
                    break
                if self._size >= MOST or size >= MOST_OF_ONE:
                    self._note(name, offset, lines)
                    return False
                lines.append(line)
                size += len(line)
                self._size += len(line) + self._add_blobs(line)
        self._note(name, offset, lines)
        return True

    def _note(self, name: str, offset: int, lines: list[bytes]) -> None:
        if lines:
            self.pieces.append(Piece(name, offset, b"".join(lines)))

    def _add_blobs(self, line: bytes) -> int:
        added = 0
        for found in {found.decode() for found in _BLOB.findall(line)} - self.blobs.keys():
            try:
                self.blobs[found] = self._blobs.get(found)
            except KeyError:  # it is the hash of something else
                continue
            added += len(self.blobs[found])
        return added


class LogCopy:
    """The copy of a log in the driver's home, which no other process writes while it is open.

    Raises TaskBusy if another process has the task open.
    """

    def __init__(self, home: Home, task: str) -> None:
        folder = home.task(task)
        folder.mkdir(mode=0o700, exist_ok=True)
        self._path = folder / LOG_NAME
        self._lock = take_lock(folder, task)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        data = self._path.read_bytes()
        self.size = data.rfind(b"\n") + 1
        os.ftruncate(self._file, self.size)  # a line that was cut short comes again
        self._hash = sha256(data[: self.size])
        self._turn = Lock()
        self._folded = 0
        self._state = State()

    @property
    def digest(self) -> str:
        """The sha256 of the copy."""
        return self._hash.hexdigest()

    def add(self, piece: Piece) -> None:
        """Append what is new in a piece. Raises OSError. Blocks."""
        with self._turn:
            is_next = piece.offset <= self.size and self._file >= 0
            new = piece.lines[self.size - piece.offset :] if is_next else b""
            while new:
                written = os.write(self._file, new)
                self._hash.update(new[:written])
                self.size += written
                new = new[written:]

    def read_state(self) -> State | None:
        """Return the state of the task as far as its log is here and can be read; None if nothing is. Blocks."""
        with self._turn:
            new = os.pread(self._file, self.size - self._folded, self._folded) if self._file >= 0 else b""
        whole = new[: new.rfind(b"\n") + 1]
        with suppress(HaloclineError):
            for line in whole.splitlines():
                self._state = reduce_event(self._state, codec.decode(line))
        self._folded += len(whole)
        return self._state if self._folded else None

    def close(self) -> None:
        """Let the copy survive a power loss, and others open the task. Blocks."""
        with self._turn:
            os.fsync(self._file)
            os.close(self._file)
            self._file = -1  # what comes late is not written
        sync_path(self._path.parent)
        give_back(self._lock)
