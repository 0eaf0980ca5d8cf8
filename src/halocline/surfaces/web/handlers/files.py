"""The files of a task for the viewer: lines, folders, and which names in a text are files."""

from typing import Annotated

import msgspec

from halocline.client.folders import FileLines, FolderEntries, FoundFile
from halocline.surfaces.web.handlers.handler import OfTask, query
from halocline.surfaces.web.open_tasks import OpenTasks

MOST_NAMES = 200
"""Names that are looked up at a time."""


class OfLines(OfTask, frozen=True):
    """A file, relative to the task's folder or absolute, from line `first` to `last`; without one to its end."""

    path: str
    first: int = 1
    last: int = 0


class OfTaskFolder(OfTask, frozen=True):
    """A folder of a task; empty: the one it works in."""

    path: str = ""


class FileNames(OfTask, frozen=True):
    names: Annotated[tuple[str, ...], msgspec.Meta(max_length=MOST_NAMES)]


@query("file")
async def read_file(tasks: OpenTasks, which: OfLines) -> FileLines:
    """Return lines of a file in a task's folders, keys replaced."""
    return await tasks.client.file_reader(tasks.known(which.task)).lines(which.path, which.first, which.last)


@query("files_named")
async def find_files(tasks: OpenTasks, which: FileNames) -> list[FoundFile]:
    """Return those of the names that are files or folders of the task."""
    return await tasks.client.file_reader(tasks.known(which.task)).find(which.names)


@query("tree")
async def list_task_folder(tasks: OpenTasks, which: OfTaskFolder) -> FolderEntries:
    """List a folder of a task."""
    return await tasks.client.file_reader(tasks.known(which.task)).list_folder(which.path)
