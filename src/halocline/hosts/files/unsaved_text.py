"""Decides if a text that an editor has for a file is unsaved work, or only an older version that it did not read again.

Only the first may be read and changed instead of the file: the second would bring back what a command has changed.
Subscribes to the task's log to know when commands ran.
"""

import os
import time
from pathlib import Path

from msgspec.structs import replace

from halocline.edits.text import CRLF, EditError, decode_text, encode_text, to_lf
from halocline.ports.host import Mark
from halocline.protocol.events import Event, JobEnded, JobStarted, ToolCallEnded, ToolCallStarted
from halocline.protocol.kinds import ToolKind

_TICK = 20_000_000
"""Nanoseconds by which a file's time may lie before the clock's."""
_CHANGE_ANYTHING = (ToolKind.EXECUTE, ToolKind.OTHER)


class UnsavedText:
    """The facts of one task. Paths are absolute, without links."""

    def __init__(self) -> None:
        self._running: dict[str, int] = {}
        self._ran: list[tuple[int, int]] = []
        self._sandboxed: set[str] = set()
        self._sandboxed_jobs: set[str] = set()
        self._shown: dict[str, int] = {}
        self._same: dict[str, Mark | None] = {}
        self._old: dict[str, set[str]] = {}

    def push(self, event: Event) -> None:
        match event:
            case ToolCallStarted(call=name, kind=kind) if kind in _CHANGE_ANYTHING:
                self._running[name] = time.time_ns() - _TICK
                if event.sandbox.startswith("in "):
                    self._sandboxed.add(name)
            case JobStarted(job=name, call=call):
                self._running[name] = time.time_ns() - _TICK
                if call in self._sandboxed:
                    self._sandboxed_jobs.add(name)
            case ToolCallEnded(call=name) | JobEnded(job=name) if name in self._running:
                self._ran.append((self._running.pop(name), time.time_ns()))
                self._sandboxed_jobs.discard(name)

    def close(self) -> None:
        """Do nothing: no resources are held."""

    @property
    def has_sandboxed_job(self) -> bool:
        """True while a sandboxed job runs. An editor would follow a link that it puts in the place of a folder."""
        return bool(self._sandboxed_jobs)

    def note_read(self, path: str, data: bytes, on_disk: bytes) -> None:
        """Remember the content that was read, if it is not the one on disk."""
        self._shown.pop(path, None)
        if data != on_disk:
            self._shown[path] = hash(data)

    def extend_mark(self, path: Path, mark: Mark | None) -> Mark | None:
        """Return a file's mark, different for each unsaved content that was read: a hash is kept by its mark."""
        if mark is None or not self._shown:
            return mark
        shown = self._shown.get(os.path.realpath(path))
        return mark if shown is None else mark._replace(inode=shown)

    def note_same(self, path: str, mark: Mark | None) -> None:
        """Remember that the editor has what the file holds."""
        self._same[path] = mark

    def note_old(self, path: str, *contents: bytes | None, declared: str = "") -> None:
        """Remember contents that the file has or had: an editor that shows one later may not have read it again."""
        self._old.setdefault(path, set()).update(
            decode_text(data, declared).view for data in contents if data is not None
        )

    def merge(self, path: str, mark: Mark | None, data: bytes, text: str, declared: str = "") -> bytes:
        """Return the file's content with the editor's `text` if that is unsaved work, else `data`, what is on disk.

        Encoding, byte order mark and line endings stay those of the file. Raises EditError.
        """
        file = decode_text(data, declared)
        view = _restore_last_newline(to_lf(text).removeprefix("\ufeff"), file.view)
        if view == file.view:
            self.note_same(path, mark)
            self.note_old(path, data, declared=declared)
            return data
        if not self._is_newer(path, mark, view) or _is_damaged(view, file.view):
            return data
        return encode_text(replace(file, text=text) if CRLF in text else file.with_view(view))

    def _is_newer(self, path: str, mark: Mark | None, view: str) -> bool:
        """True if a differing text is newer than the file, by what happened since both were the same."""
        if mark and self._same.get(path) == mark:
            return True
        return view not in self._old.get(path, ()) and not (mark and self._is_by_command(mark.altered))

    def _is_by_command(self, at: int) -> bool:
        return any(at >= began for began in self._running.values()) or any(one <= at <= end for one, end in self._ran)


def _restore_last_newline(view: str, of_file: str) -> str:
    """Return a text that ends like the file: some editors leave the last newline out, others add one."""
    if of_file.endswith("\n") and not view.endswith("\n"):
        return f"{view}\n"
    return view[:-1] if view == f"{of_file}\n" else view


def _is_damaged(view: str, of_file: str) -> bool:
    """True if an editor may have cut the text, or could not decode the file."""
    return of_file.startswith(view.removesuffix("\n")) or ("\ufffd" in view and "\ufffd" not in of_file)


def read_text(data: bytes | None, declared: str = "") -> str | None:
    """Return the text to give to an editor; None for what is no text, and where an editor may read it otherwise."""
    try:
        file = None if data is None else decode_text(data, declared)
    except EditError:
        return None
    return file.text if file and file.is_certain else None
