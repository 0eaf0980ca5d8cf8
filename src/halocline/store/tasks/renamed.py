"""Finds the folder of a task now: where the task says, or a folder here that it was renamed to.

The one owner of this question. A task starts with the mark of its folder (`files/folder_mark`). It belongs to a folder
with this mark if the place that the task names is gone, or is another folder by now; so a copy gets no tasks.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.files.folder_mark import is_renamed, read_mark
from halocline.files.regular import open_regular
from halocline.protocol import codec
from halocline.protocol.events import WorkspaceMoved
from halocline.protocol.queries.tasks import TaskInfo

_MOVED = b'{"type":"workspace_moved"'


class FoldersHere:
    """The folders in which a person works. They are looked at once, when the first task is looked up."""

    def __init__(self, folders: Iterable[str | os.PathLike[str]] = ()) -> None:
        self._folders = tuple(dict.fromkeys(os.fspath(folder) for folder in folders))

    def adding(self, *folders: str | os.PathLike[str]) -> "FoldersHere":
        """Return these folders and more, to be looked at again."""
        return FoldersHere((*self._folders, *folders))

    @cached_property
    def _by_mark(self) -> dict[str, str]:
        marks = {folder: read_mark(folder) for folder in self._folders}
        return {mark: os.path.realpath(folder) for folder, mark in marks.items() if mark}

    def has(self, mark: str) -> bool:
        """Return True if one of the folders has this mark."""
        return mark in self._by_mark

    def find(self, workspace: str, mark: str) -> str:
        """Return the folder here to which a workspace with this mark was renamed; the workspace itself if to none."""
        here = self._by_mark.get(mark, "") if mark else ""
        return here if here not in ("", workspace) and is_renamed(workspace, mark) else workspace

    def locate(self, info: TaskInfo) -> TaskInfo:
        """Return a task with its folder as it is now, and as `former` where that was."""
        now = self.find(info.workspace, info.folder_mark)
        return info if now == info.workspace else replace(info, workspace=now, former=info.workspace)

    def locate_logged(self, info: TaskInfo, log: Path) -> TaskInfo:
        """Do the same for a task of which only the start was read: its log may say that the folder moved before."""
        if info.folder_mark and read_mark(info.workspace) != info.folder_mark and (moved := _find_last_move(log)):
            info = replace(info, workspace=moved)
        return self.locate(info)


NOWHERE = FoldersHere()


def _find_last_move(log: Path) -> str:
    moved = b""
    with suppress(OSError), open_regular(log) as file:
        for line in file:
            if line.startswith(_MOVED):
                moved = line
    with suppress(msgspec.DecodeError):
        if moved and isinstance(event := codec.decode(moved), WorkspaceMoved):
            return event.workspace
    return ""
