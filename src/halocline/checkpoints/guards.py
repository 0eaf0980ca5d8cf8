"""Folders without checkpoints: those that contain much more than one project."""

from pathlib import Path

from halocline.checkpoints.store.git import CheckpointsOff

_WHOLE_LIVES = ("Desktop", "Documents", "Downloads")
_HINT = "Start Halocline in a project's folder."


def check_workspace(workspace: Path, home: Path) -> None:
    """Check that a workspace may have checkpoints. Both paths have links resolved.

    Raises:
        CheckpointsOff: the workspace is the home folder or above it, or a collection such as Documents.
    """
    if home.is_relative_to(workspace):
        raise CheckpointsOff(f"{workspace} contains your whole home folder", _HINT)
    if workspace == Path(workspace.anchor):
        raise CheckpointsOff(f"{workspace} is a whole file system", _HINT)
    if workspace.parent == home and workspace.name in _WHOLE_LIVES:
        raise CheckpointsOff(f"{workspace} is not a project", _HINT)
