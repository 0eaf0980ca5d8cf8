"""Folders to choose from: those that tasks started in, those on the disk, and the git status of a project."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from halocline.checkpoints.guards import check_workspace
from halocline.checkpoints.store.git import CheckpointsOff
from halocline.context.file_walk import is_folder
from halocline.git.diffs import git_standing
from halocline.protocol.errors import UsageError
from halocline.protocol.queries.tasks import TaskInfo
from halocline.protocol.values import Value

MOST = 500
"""Folders to list at most in one folder."""


class Workspace(Value, frozen=True, omit_defaults=False):
    """A folder that tasks started in, with their number."""

    path: str
    name: str
    exists: bool
    tasks: int


class Inside(Value, frozen=True, omit_defaults=False):
    """A folder in a folder; `is_project` if it has its own git."""

    path: str
    name: str
    is_project: bool


class FolderListing(Value, frozen=True, omit_defaults=False):
    """A folder, its parent (empty for the root), and its folders; `cut` if there are more.

    `checkpoints_off` is why a task in it has no checkpoints; empty if it has.
    """

    path: str
    parent: str
    folders: tuple[Inside, ...]
    cut: bool
    read_only: bool
    checkpoints_off: str


class GitStatus(Value, frozen=True, omit_defaults=False):
    """Git status of a project: its branch (empty without git), and the number of uncommitted files."""

    branch: str
    dirty: int


def list_workspaces(tasks: Iterable[TaskInfo], known: Sequence[Path]) -> list[Workspace]:
    """Return the `known` folders, then those of the tasks, which must come newest first."""
    counts = Counter(info.workspace for info in tasks if info.workspace)
    names = dict.fromkeys([*map(str, known), *counts])
    return [Workspace(path, Path(path).name or path, os.path.isdir(path), counts[path]) for path in names]


def list_folder(path: Path, *, hidden: bool) -> FolderListing:
    """List the folders in a folder by name, `hidden` ones only on request. Raises UsageError."""
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name.lower())
    except OSError as error:
        raise UsageError(f"Cannot list {path}: {error.strerror}.", "Choose another folder.") from error
    folders = [entry for entry in entries if (hidden or not entry.name.startswith(".")) and is_folder(entry)]
    found = (Inside(entry.path, entry.name, os.path.exists(f"{entry.path}/.git")) for entry in folders[:MOST])
    parent = "" if path.parent == path else str(path.parent)
    is_cut, is_read_only = len(folders) > MOST, not os.access(path, os.W_OK)
    return FolderListing(str(path), parent, tuple(found), is_cut, is_read_only, _tell_checkpoints_off(path))


def _tell_checkpoints_off(path: Path) -> str:
    try:
        check_workspace(path, Path.home().resolve())
    except CheckpointsOff as off:
        return off.text
    return ""


async def inspect_git(path: Path) -> GitStatus:
    """Return the git status of a folder. Raises ToolFailure if git fails."""
    return GitStatus(*await git_standing(path))
