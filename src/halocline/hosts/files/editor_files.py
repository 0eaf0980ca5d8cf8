"""This machine's files, with the unsaved changes of an editor. Nothing depends on it: if it fails, the disk is used.

A place is judged, resolved and read or checked on disk first; only then the editor is asked for the same place.
"""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from halocline.edits.text import EditError
from halocline.files.target import MayWrite, admit_path, hold_target
from halocline.hosts.files.local import LocalFiles
from halocline.hosts.files.unsaved_text import UnsavedText, read_text
from halocline.policy.paths import is_within
from halocline.ports.editor import Editor
from halocline.ports.host import FileChangedOutside, FileWrite, Mark, Scope
from halocline.protocol.values import Value

LARGEST = 4_000_000
"""Bytes of the largest file that an editor is asked for."""


class EditorScope(Value, frozen=True):
    """Folders whose files the editor is asked for, and Halocline's `own`, of which it is not. Without links."""

    folders: tuple[str, ...]
    own: str

    def has(self, place: str) -> bool:
        return any(is_within(place, folder) for folder in self.folders) and not is_within(place, self.own)


class EditorFiles:
    """Implements `ports.host.Files`. What is written goes through the editor, so that it shows it, and is then checked.

    `expected` content may have unsaved changes: they are on disk once the write is done.
    """

    def __init__(
        self,
        disk: LocalFiles,
        editor: Editor,
        unsaved: UnsavedText,
        places: EditorScope,
        may_write: MayWrite | None = None,
        scope: Scope | None = None,
    ) -> None:
        self._disk = disk
        self._editor = editor
        self._unsaved = unsaved
        self._places = places
        self._may_write = may_write
        self._scope = scope
        self.info, self.list, self.present, self.mend = disk.info, disk.list, disk.present, disk.mend
        self.declared_encoding, self.read_lines = disk.declared_encoding, disk.read_lines

    def only(self, may_write: MayWrite, scope: Scope | None = None) -> "EditorFiles":
        disk = self._disk.only(may_write, scope)
        return EditorFiles(disk, self._editor, self._unsaved, self._places, may_write, scope)

    async def read(self, path: Path, limit: int) -> bytes:
        place = self._find_place(path)
        mark = await self._find_mark(place)
        data = await self._disk.read(path, limit)
        if not place or len(data) >= limit:
            return data
        found = await self._with_unsaved(place, mark, data)
        self._unsaved.note_read(place, found, data)
        return found

    async def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        place, text = self._find_place(path), read_text(data, self.declared_encoding(path))
        if not place or text is None or not _are_small(data, expected):
            await self._disk.write(path, data, expected)
            return
        admit_path(place, self._may_write)
        before = await self._require(path, expected)
        is_told = await asyncio.to_thread(_is_free, place) and await self._editor.write(place, text)
        await self._finish(path, place, FileWrite(path, data, before), is_told=is_told)

    async def write_all(self, writes: Sequence[FileWrite]) -> None:
        """Write all or none on disk, then show the editor; if its text changed meanwhile, it asks when it saves."""
        await self._disk.write_all([await self._over_disk(write) for write in writes])
        for write in writes:
            place, text = self._find_place(write.path), read_text(write.data, self.declared_encoding(write.path))
            if place and text is not None and _are_small(write.data, write.expected):
                is_told = False
                with suppress(FileChangedOutside):
                    is_told = await self._editor.write(place, text)
                await self._finish(write.path, place, write, is_told=is_told)

    async def marks(self, folder: Path, names: Sequence[str]) -> list[Mark | None]:
        marks = await self._disk.marks(folder, names)
        return [self._unsaved.extend_mark(folder / name, mark) for name, mark in zip(names, marks, strict=True)]

    def _find_place(self, path: Path) -> str:
        """Return the path without links if the editor may be asked for it; empty otherwise."""
        with suppress(OSError):  # it is changing right now
            place = os.path.realpath(path)
            if self._places.has(place) and not self._unsaved.has_sandboxed_job:
                return place
        return ""

    async def _find_mark(self, place: str) -> Mark | None:
        return (await self._disk.marks(Path("/"), [place]))[0] if place else None

    async def _with_unsaved(self, place: str, mark: Mark | None, data: bytes, *, is_needed: bool = False) -> bytes:
        """Return what was read from disk with unsaved changes, if nothing changed it meanwhile.

        Raises FileChangedOutside if it `is_needed` and the file's encoding lacks them: they would be overwritten.
        """
        declared = self.declared_encoding(Path(place))
        is_text = b"\0" not in data and len(data) <= LARGEST and read_text(data, declared) is not None
        if not is_text or (self._scope and self._scope.refusal(place)):
            return data
        text = await self._editor.read(place)
        if text is None or mark is None or await self._find_mark(place) != mark:
            return data
        try:
            return self._unsaved.merge(place, mark, data, text, declared)
        except EditError:
            if is_needed:
                raise FileChangedOutside(place) from None
            return data

    async def _read_disk(self, path: Path) -> bytes | None:
        with suppress(FileNotFoundError):
            return await self._disk.read(path, 2 * LARGEST)
        return None

    async def _require(self, path: Path, expected: bytes | None) -> bytes | None:
        """Return what is on disk. Raises FileChangedOutside if that is not `expected`, with unsaved changes."""
        place = self._find_place(path)
        mark = await self._find_mark(place)
        before = await self._read_disk(path)
        current = before
        if place and before is not None:
            current = await self._with_unsaved(place, mark, before, is_needed=True)
        if current != expected:
            raise FileChangedOutside(str(path))
        return before

    async def _over_disk(self, write: FileWrite) -> FileWrite:
        """Return a write that expects what is on disk."""
        if write.expected is None or not self._find_place(write.path) or not _are_small(write.data, write.expected):
            return write
        before = await self._require(write.path, write.expected)
        return FileWrite(write.path, write.data, before, write.like)

    async def _finish(self, path: Path, place: str, write: FileWrite, *, is_told: bool) -> None:
        """Write what is not on disk yet: the editor failed, or changed the text when it saved it."""
        now = await self._read_disk(path)
        if now != write.data and write.data is not None:
            await self._disk.write(path, write.data, now)
        elif is_told:
            self._unsaved.note_same(place, await self._find_mark(place))
        with suppress(EditError):
            declared = self.declared_encoding(write.path)
            self._unsaved.note_old(place, write.expected, now, write.data, declared=declared)


def _are_small(*contents: bytes | None) -> bool:
    return all(len(data or b"") <= LARGEST for data in contents)


def _is_free(place: str) -> bool:
    """True if no link is on the way to a file, and it is not write-protected."""
    try:
        with hold_target(Path(place)) as target:
            target.writable()
    except FileNotFoundError:  # its folder will be created
        return True
    except OSError:
        return False
    return True
