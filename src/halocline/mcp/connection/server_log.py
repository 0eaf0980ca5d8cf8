"""A server's output and log messages, in a file of bounded size. Its last lines go into error messages."""

import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from halocline.protocol.private_files import make_private_folder, open_private

LARGEST = 512_000
"""Bytes of a file; then it replaces the `.old` one."""
MOST_A_RUN = 4_000_000
"""Bytes that one run of a server may log; the rest is dropped."""
_LAST_LINES = 12
_LONGEST_LINE = 2_000
_LONGEST_WORDS = 2_000
"""Characters of the last lines: the model reads them, and some servers log a page for each call."""


class ServerLog:
    """The log of one server. Never raises: a full disk must not end a server."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._left = MOST_A_RUN
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self._open = ""

    @property
    def last_words(self) -> str:
        """The newest lines of the server's stderr in this run; of long ones the end, where the error is."""
        words = "\n".join([*self._last, *([self._open] if self._open.strip() else [])][-_LAST_LINES:])
        return words if len(words) <= _LONGEST_WORDS else f"…{words[-_LONGEST_WORDS:]}"

    def begin(self, what: str) -> None:
        """Start a new run."""
        self._left = MOST_A_RUN
        self._last.clear()
        self._open = ""
        self.note(what)

    def printed(self, data: bytes) -> None:
        """Add stderr output."""
        *lines, self._open = (self._open + data.decode("utf-8", "replace")).split("\n")
        self._open = self._open[-_LONGEST_LINE:]
        self._last.extend(line[:_LONGEST_LINE] for line in lines if line.strip())
        self._write(data)

    def noise(self, line: bytes) -> None:
        """Add a line of stdout that is not a message."""
        self._last.append(line[:_LONGEST_LINE].decode("utf-8", "replace").strip())
        self._write(b"(stdout) " + line[:_LONGEST_LINE] + b"\n")

    def note(self, text: str) -> None:
        """Add a line by Halocline."""
        self._write(f"-- {time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode(errors="replace"))

    def _write(self, data: bytes) -> None:
        if self._left <= 0:
            return
        self._left -= len(data)
        with suppress(OSError):
            make_private_folder(self.file.parent)
            if self.file.exists() and self.file.stat().st_size > LARGEST:
                self.file.replace(self.file.with_suffix(".old"))
            with open(self.file, "ab", opener=open_private) as file:
                file.write(
                    data if self._left > 0 else data + b"\n-- too much output: the rest of this run is not logged\n"
                )
