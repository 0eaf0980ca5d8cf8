"""The output of a command: bounded in memory, spooled to a file when long, shown as plain text."""

import asyncio
import codecs
import os
from collections.abc import Callable
from functools import partial
from io import FileIO
from pathlib import Path

from halocline.protocol import secrets
from halocline.protocol.left_out import describe_gap
from halocline.protocol.patterns import compile_later
from halocline.protocol.private_files import make_private_folder
from halocline.protocol.terminal_text import colored_output, plain_output as plain_output, redact_colored

_PARTIAL = compile_later(
    rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2}"  # UTF-8
    rb"|\x1b(?:\[[0-?]*[ -/]*)?)\Z"  # a control sequence
)
_LONGEST_PARTIAL = 64
_LONGEST_LINE = 1 << 16
_PROGRESS = 4_096
_PROGRESS_EVERY = 0.05


class Spool:
    """A file with a copy of the output, at most `cap` bytes. A full disk ends the copy, not the command."""

    def __init__(self, folder: Path, cap: int) -> None:
        self.path = ""
        self._folder = folder
        self._room = cap
        self._cap = cap
        self._extent = "all of it"
        self._full = False
        self._file: FileIO | None = None

    def write(self, chunk: bytes) -> None:
        if self._full:
            return
        try:
            self._room -= self._open_file().write(chunk[: self._room]) if self._room else 0
        except OSError as error:
            self._full, self._extent = True, f"the beginning of it ({error.strerror})"
        else:
            self._full = not self._room
            self._extent = f"the first {self._cap:,} bytes" if self._full else "all of it"

    def _open_file(self) -> FileIO:
        if self._file is None:
            make_private_folder(self._folder)
            path = str(self._folder / f"output-{os.urandom(6).hex()}.txt")
            self._file, self.path = FileIO(path, "xb", opener=partial(os.open, mode=0o600)), path
        return self._file

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def where(self) -> str:
        """Describe where the copy is."""
        if not self.path:
            return "no copy could be saved"
        return f"{self.path} has {self._extent}; use read_file, search_files or commands on it"


class Redraws:
    """Keeps of a line that is redrawn after CR only what can still be seen: what is longer than all that follows it."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """Return what is final. A redrawn line is held until it ends."""
        if not self._held and b"\r" not in chunk:
            return chunk
        whole, newline, last = (self._held + chunk).rpartition(b"\n")
        self._held = b""
        settled = b"\n".join(map(_keep_seen, whole.split(b"\n"))) + newline
        if b"\r" not in last:
            return settled + last
        self._held = _keep_seen(last)
        return settled + self.flush() if len(self._held) > _LONGEST_LINE else settled

    def flush(self) -> bytes:
        """Return what is held."""
        held, self._held = self._held, b""
        return held


def _keep_seen(line: bytes) -> bytes:
    """Return a line without the redraws that later ones cover; its start may follow what was passed on before."""
    if line.count(b"\r") < 2:
        return line
    first, *parts = line.split(b"\r")
    kept: list[bytes] = []
    for part in filter(None, parts):
        while kept and len(kept[-1]) <= len(part):
            kept.pop()
        kept.append(part)
    return b"\r".join([first, *kept]) + b"\r" * line.endswith(b"\r")


class Capture:
    """Keeps the head and the tail of what is fed; once that is not all of it, everything goes to the spool.

    Each `take` returns only what is new. Memory stays below about ten times `budget` (in characters) for any amount.
    """

    def __init__(
        self, budget: int, spool: Spool, *, terminal: bool = False, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        """Output of a `terminal` never counts as binary. `redact` removes secrets from a text."""
        self.total = 0
        self.unread = 0
        self.binary = False
        self._budget = budget
        self._spool = spool
        self._terminal = terminal
        self._redact = redact
        self._spooling = False
        self._room = 2 * budget
        self._begin()

    def _begin(self) -> None:
        self._whole = bytearray()
        self._head = bytearray()
        self._tail = bytearray()
        self._redraws = Redraws()
        self._over = False
        self.binary = False

    def feed(self, chunk: bytes) -> None:
        self.total += len(chunk)
        self.unread += len(chunk)
        self.binary = self.binary or (b"\0" in chunk and not self._terminal)
        if self._spooling:
            self._spool.write(chunk)
        if not self._over:
            self._whole += chunk
            if len(self._whole) <= 2 * self._room:
                return
            chunk = self._overflow()
        self._keep(self._redraws.feed(chunk))

    def take(self) -> str:
        """Take what is new; an incomplete character or control sequence stays for the next call."""
        partial = _PARTIAL.search(self._whole, max(0, len(self._whole) - _LONGEST_PARTIAL))
        rest = bytes(self._whole[partial.start() :]) if partial else b""
        del self._whole[len(self._whole) - len(rest) :]
        text = self._shown()
        self._begin()
        self._whole += rest
        self.unread = len(rest)
        return text

    def finish(self) -> str:
        """Take what is new and end the capture; the spool has a path if something was left out."""
        text = self._shown()
        self._begin()
        self.unread = 0
        self._spool.close()
        return text

    def newest(self, characters: int) -> str:
        """Return the end of what is new, without taking it."""
        return self._text((self._tail or self._head or self._whole)[-4 * characters :]).strip()[-characters:]

    def color(self, data: bytes) -> str:
        """Return output as text with its colors, without keys."""
        return redact_colored(colored_output(_decode_output(data)), self._redact)

    def close(self) -> None:
        self._spool.close()

    def _shown(self) -> str:
        whole = None if self._over else self._text(self._whole)
        if whole is not None and len(whole) <= self._budget and not self.binary:
            return whole
        if self._over:
            self._keep(self._redraws.flush())
        else:
            self._begin_spool()
        where = self._spool.where()
        if self.binary:
            return f"[binary output, {self.unread:,} bytes, not shown; {where}]\n"
        half = self._budget // 2
        head, tail = self._text(self._head), self._text(self._tail)
        if whole is not None:
            head = tail = whole
        elif not self._tail and len(head) <= self._budget:
            return head  # the rest was overwritten by redraws
        return head[:half] + describe_gap(f"the middle of {self.unread:,} bytes is", where) + tail[-half:]

    def _text(self, data: bytes | bytearray) -> str:
        return self._redact(plain_output(_decode_output(data)))

    def _overflow(self) -> bytes:
        """Switch to keeping only head and tail, with a full copy in the spool."""
        self._over = True
        self._begin_spool()
        held = bytes(self._whole)
        self._whole.clear()
        return held

    def _begin_spool(self) -> None:
        if not self._spooling:
            self._spooling = True
            self._spool.write(bytes(self._whole))

    def _keep(self, chunk: bytes) -> None:
        room = self._room - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk[-self._room :]
        if len(self._tail) > 2 * self._room:
            del self._tail[: -self._room]


def _decode_output(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace")


class Progress:
    """Passes output on as text with its colors as it arrives, a few times a second; only the last part of a burst.

    It passes whole lines, so that `redact` finds a key that arrived in two pieces. An unfinished line follows a little
    later, without a last word that may be the beginning of a key.
    """

    def __init__(self, on_output: Callable[[str], None], redact: Callable[[str], str] = lambda text: text) -> None:
        self._on_output = on_output
        self._redact = redact
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = b""
        self._is_cut = self._is_quiet = False
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, chunk: bytes) -> None:
        self._is_cut |= len(self._pending) + len(chunk) > _PROGRESS
        self._is_quiet = False
        self._pending = (self._pending + chunk[-_PROGRESS:])[-_PROGRESS:]
        self._wait()

    def flush(self) -> None:
        """Pass on pending output now."""
        self.close()
        self._mend_cut()
        self._pass_on(len(self._pending))

    def close(self) -> None:
        """Discard pending output."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PROGRESS_EVERY, self._look)

    def _look(self) -> None:
        self._timer = None
        was_quiet, self._is_quiet = self._is_quiet, True
        self._mend_cut()
        self._pass_on(_unfinished_length(self._pending) if was_quiet else _whole_length(self._pending))
        if self._pending and not was_quiet:
            self._wait()

    def _mend_cut(self) -> None:
        if self._is_cut:
            self._pending, self._is_cut = _from_whole(self._pending), False

    def _pass_on(self, end: int) -> None:
        ready, self._pending = self._pending[:end], self._pending[end:]
        if text := redact_colored(colored_output(self._decoder.decode(ready)), self._redact):
            self._on_output(text)


def _from_whole(data: bytes) -> bytes:
    """Drop what the cut beginning left incomplete: the rest of a line, a word or a private key."""
    data = data[(data.find(b"\n") + 1 or data.find(b" ") + 1 or len(data)) :]
    end = data.find(b"PRIVATE KEY-----")
    is_rest = data[: max(0, end)].rpartition(b"\n")[2].startswith(b"-----END ")
    return data[end:].partition(b"\n")[2] if is_rest else data


def _whole_length(data: bytes) -> int:
    """Length of the part that is complete: whole lines, and no private key that has not ended."""
    end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    begin = data.rfind(b"-----BEGIN ")
    is_open = begin >= 0 and b"PRIVATE KEY" in data[begin:] and b"-----END " not in data[begin:]
    return min(begin, end) if is_open else end


def _unfinished_length(data: bytes) -> int:
    """The same including the unfinished line, without a last word that may be half a key."""
    if (end := _whole_length(data)) < data.rfind(b"\n"):
        return end
    last = max(data.rfind(b" "), end - 1) + 1
    return last if secrets.redaction.may_hold_keys(data[last:].decode("utf-8", "replace")) else len(data)
