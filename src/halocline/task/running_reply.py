"""The running reply of a task, kept beside its log while it streams: a killed process loses nothing that was shown.

Each piece is written before a client gets it, and not synced. The file names the event after which the reply began;
once the log has an event that ends the reply, the file is out of date, whether it is still there or not.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.files.regular import open_regular
from halocline.protocol import codec, events as ev, json_input, json_output
from halocline.protocol.messages import AssistantMessage
from halocline.protocol.state.draft import DRAFT_ENDS, Delta, begins_anew, interrupted_message, join_deltas
from halocline.protocol.values import Value

REPLY_NAME = "reply.jsonl"
_LOOKED_BACK = 4_096
"""Characters before a new piece in which a secret may have begun that the piece ends."""


class _Begun(Value, frozen=True):
    """The first line: the number of the newest event in the log when the reply began."""

    after: int


_begun = json_input.Decoder(_Begun)
_delta: json_input.Decoder[Delta] = json_input.Decoder(Delta)


class RunningReply:
    """Writes the running reply of one task, for the process that writes its log."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / REPLY_NAME
        self._file: int | None = None  # kept open from one reply to the next, as a new file costs more than a line
        self._is_empty = True
        self._deltas: list[Delta] = []
        self._recent = ""

    def keep(self, delta: Delta, after: int, redact: Callable[[str], str]) -> None:
        """Write a piece of the reply that began after event `after`. Raises OSError."""
        anew = not self._deltas or begins_anew(delta, self._deltas[-1])
        recent = delta.text if anew else self._recent + delta.text
        self._deltas.append(delta)
        if (clean := redact(recent)) != recent:
            self._write_anew(after, redact)
        else:
            self._file = _open_new(self._path) if self._file is None else self._file
            write_whole(
                self._file, _encode_lines(after, self._deltas) if self._is_empty else codec.encode(delta) + b"\n"
            )
        self._is_empty = False
        self._recent = clean if len(clean) < 2 * _LOOKED_BACK else clean[-_LOOKED_BACK:]

    def _write_anew(self, after: int, redact: Callable[[str], str]) -> None:
        """Replace the file: a piece has ended a secret whose beginning was written before."""
        self._deltas = [replace(delta, text=redact(delta.text)) for delta in join_deltas(self._deltas)]
        self._drop_file()
        new = self._path.with_name(f"{REPLY_NAME}.tmp")
        try:
            file = _write_lines(new, after, self._deltas)
            os.replace(new, self._path)
        except OSError:
            remove_reply(self._path.parent)  # rather nothing than the beginning of a secret
            raise
        self._file = file

    def forget(self) -> None:
        """Empty the file: the reply is in the log, or void."""
        self._deltas, self._recent = [], ""
        if self._file is not None and not self._is_empty:
            try:
                os.ftruncate(self._file, 0)
                self._is_empty = True
            except OSError:  # then it is out of date all the same
                self._drop_file()

    def close(self) -> None:
        """Close the file; a reply in it stays."""
        if self._file is not None and self._is_empty:
            remove_reply(self._path.parent)
        self._drop_file()

    def _drop_file(self) -> None:
        """Close the file; the next reply has a new one."""
        file, self._file, self._is_empty = self._file, None, True
        if file is not None:
            os.close(file)


def has_reply(folder: Path) -> bool:
    """True if a reply is running in a task, or was when its process was killed."""
    try:
        return os.stat(folder / REPLY_NAME).st_size > 0
    except OSError:
        return False


def remove_reply(folder: Path) -> None:
    """Remove what is left of a reply. If that is not possible, it is out of date all the same."""
    for name in (REPLY_NAME, f"{REPLY_NAME}.tmp"):
        with suppress(OSError):
            (folder / name).unlink()


def recover_reply(folder: Path, past: Sequence[ev.DurableEvent]) -> AssistantMessage | None:
    """Return what was shown of a reply when the writer of a log was killed; None if nothing, or if the log has it."""
    after, deltas = _read_reply(folder)
    begun = [event for event in past if event.seq <= after]
    if not deltas or any(isinstance(event, DRAFT_ENDS) for event in past[len(begun) :]):
        return None
    asked = next((event.model for event in reversed(begun) if isinstance(event, ev.StepStarted)), "")
    return interrupted_message(deltas, asked)


def _read_reply(folder: Path) -> tuple[int, list[Delta]]:
    """Read the file; a torn end, which no client was shown, is left out."""
    after, deltas = 0, list[Delta]()
    with suppress(OSError, msgspec.DecodeError), open_regular(folder / REPLY_NAME) as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            if after:
                deltas.append(_delta.decode(line))
            else:
                after = _begun.decode(line).after
    return after, deltas


def _write_lines(path: Path, after: int, deltas: Sequence[Delta]) -> int:
    """Write a new file, and return it open for more. Raises OSError."""
    file = _open_new(path)
    try:
        write_whole(file, _encode_lines(after, deltas))
    except OSError:
        os.close(file)
        raise
    return file


def _open_new(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)


def _encode_lines(after: int, deltas: Sequence[Delta]) -> bytes:
    lines = [json_output.encode(_Begun(after)), *map(codec.encode, deltas)]
    return b"".join(line + b"\n" for line in lines)


def write_whole(file: int, data: bytes) -> None:
    """Append to a file. Raises OSError; the file then ends as before."""
    written = 0
    try:
        written = os.write(file, data)
        if written < len(data):
            raise OSError("only part of a line was written")
    except OSError:
        with suppress(OSError):
            os.ftruncate(file, os.fstat(file).st_size - written)
        raise
