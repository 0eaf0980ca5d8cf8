"""The output of a command: bounded while it is read, spooled to a file when long, plain when it is shown."""

import asyncio
import codecs
import os
import re
from collections.abc import Callable
from io import FileIO
from pathlib import Path

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movement
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC and other strings: titles, links
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"  # every control character but tab, LF and CR
)
_PROGRESS = 4_096
_PROGRESS_EVERY = 0.05


def plain(text: str) -> str:
    """What a terminal would have shown last: no control sequences, and of a line redrawn after CR its last state."""
    text = _SEQUENCE.sub("", text)
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


class Spool:
    """A file that takes a copy of the output, at most `cap` bytes of it. A full disk ends the copy, not the command."""

    def __init__(self, folder: Path, cap: int) -> None:
        self.path = ""
        self._folder = folder
        self._room = cap
        self._cap = cap
        self._missing = ""
        self._file: FileIO | None = None

    def write(self, chunk: bytes) -> None:
        if self._missing:
            return
        try:
            self._room -= self._opened().write(chunk[: self._room]) if self._room else 0
        except OSError as error:
            self._missing = f", incomplete: {error.strerror}"
        else:
            self._missing = "" if self._room else f" of the first {self._cap:,} bytes"

    def _opened(self) -> FileIO:
        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = str(self._folder / f"output-{os.urandom(6).hex()}.txt")
            self._file, self.path = FileIO(path, "xb"), path
        return self._file

    def close(self) -> str:
        """Ends the copy and says where it is."""
        if self._file is not None:
            self._file.close()
        return f"a copy{self._missing} is in {self.path}" if self.path else "no copy could be kept"


class Capture:
    """Holds the head and the tail of what is fed, and spools all of it once that is more than it holds.

    Memory stays below about six times `budget` (in characters) however much comes.
    """

    def __init__(self, budget: int, spool: Spool) -> None:
        self.total = 0
        self.binary = False
        self._budget = budget
        self._spool = spool
        self._spooling = False
        self._room = 2 * budget
        self._head = bytearray()
        self._tail = bytearray()

    def feed(self, chunk: bytes) -> None:
        self.total += len(chunk)
        self.binary = self.binary or b"\0" in chunk
        if self._spooling or self.total > 2 * self._room:
            self._spool_held()
            self._spool.write(chunk)
        room = self._room - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk[-self._room :]
        if len(self._tail) > 2 * self._room:
            del self._tail[: -self._room]

    def _spool_held(self) -> None:
        """Begin the copy with what came before it was needed; until then everything is held."""
        if not self._spooling:
            self._spooling = True
            self._spool.write(bytes(self._head + self._tail))

    def finish(self) -> str:
        """What to show; the spool has a path when that is not everything. Ends the capture."""
        whole = None if self._spooling else plain(_decoded(self._head + self._tail))
        if whole is not None and len(whole) <= self._budget and not self.binary:
            return whole
        self._spool_held()
        where = self._spool.close()
        if self.binary:
            return f"[binary output, {self.total:,} bytes, not shown; {where}]\n"
        half = self._budget // 2
        head, tail = plain(_decoded(self._head)), plain(_decoded(self._tail))
        if whole is not None:
            head = tail = whole
        return f"{head[:half]}\n[… the middle of {self.total:,} bytes is cut; {where} …]\n{tail[-half:]}"

    def close(self) -> None:
        self._spool.close()


def _decoded(data: bytearray) -> str:
    return data.decode("utf-8", "replace")


class Progress:
    """Passes output on as text while it comes, a few times a second; of a burst only the last part."""

    def __init__(self, on_output: Callable[[str], None]) -> None:
        self._on_output = on_output
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = b""
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, chunk: bytes) -> None:
        self._pending = (self._pending + chunk[-_PROGRESS:])[-_PROGRESS:]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PROGRESS_EVERY, self.flush)

    def flush(self) -> None:
        """Pass on now what is waiting."""
        self.close()
        pending, self._pending = self._pending, b""
        if text := plain(self._decoder.decode(pending)):
            self._on_output(text)

    def close(self) -> None:
        """Pass on nothing more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
