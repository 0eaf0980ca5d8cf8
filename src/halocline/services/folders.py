"""Folders, for somebody who picks one: those that tasks began in, those of the disk, how a project's git stands."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from halocline.protocol.errors import UsageError
from halocline.protocol.queries.tasks import TaskInfo
from halocline.protocol.values import Value

MOST = 500
"""Folders of one folder that are told."""


class Workspace(Value, frozen=True, omit_defaults=False):
    """A folder that tasks began in, with how many."""

    path: str
    name: str
    exists: bool
    tasks: int


class Inside(Value, frozen=True, omit_defaults=False):
    """A folder in a folder; `is_project`: it has a git of its own."""

    path: str
    name: str
    is_project: bool


class Looked(Value, frozen=True, omit_defaults=False):
    """A folder, the one above it (empty for the root), and those in it; `cut`: there are more."""

    path: str
    parent: str
    folders: tuple[Inside, ...]
    cut: bool
    read_only: bool


class Standing(Value, frozen=True, omit_defaults=False):
    """How a project's git stands: its branch (empty: there is no git), and how many files are not committed."""

    branch: str
    dirty: int


def list_workspaces(tasks: Iterable[TaskInfo], known: Sequence[Path]) -> list[Workspace]:
    """Those that were named at the start, then those of the tasks, which come the newest first."""
    counts = Counter(info.workspace for info in tasks if info.workspace)
    names = dict.fromkeys([*map(str, known), *counts])
    return [Workspace(path, Path(path).name or path, os.path.isdir(path), counts[path]) for path in names]


def list_folder(path: Path, *, hidden: bool) -> Looked:
    """The folders in a folder by name; `hidden` ones only when they are wanted. Raises UsageError."""
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name.lower())
    except OSError as error:
        raise UsageError(f"Cannot look into {path}: {error.strerror}.", "Choose another folder.") from error
    folders = [entry for entry in entries if (hidden or not entry.name.startswith(".")) and _is_folder(entry)]
    found = (Inside(entry.path, entry.name, os.path.exists(f"{entry.path}/.git")) for entry in folders[:MOST])
    parent = "" if path.parent == path else str(path.parent)
    return Looked(str(path), parent, tuple(found), len(folders) > MOST, not os.access(path, os.W_OK))


async def inspect_git(path: Path) -> Standing:
    """How the git of a folder stands. Raises ToolFailure when git cannot tell."""
    from halocline.git.diffs import git_standing

    return Standing(*await git_standing(path))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
