"""Places without checkpoints: folders that contain much more than one project, and machines without git."""

import os
from pathlib import Path

from halocline.checkpoints.store.git import CheckpointsOff
from halocline.git.environment import find_git

_WHOLE_LIVES = ("Desktop", "Documents", "Downloads")
_HINT = "Start Halocline in a project's folder."


def check_workspace(workspace: Path, home: Path) -> None:
    """Check that a workspace can have checkpoints. Both paths have links resolved.

    Raises:
        CheckpointsOff: the workspace is the home folder or above it, or a collection such as Documents; or no git.
    """
    if find_git(os.environ.get("PATH", os.defpath)) is None:
        raise CheckpointsOff("git was not found", "Install git.")
    if home.is_relative_to(workspace):
        raise CheckpointsOff(f"{workspace} contains your whole home folder", _HINT)
    if workspace == Path(workspace.anchor):
        raise CheckpointsOff(f"{workspace} is a whole file system", _HINT)
    if workspace.parent == home and workspace.name in _WHOLE_LIVES:
        raise CheckpointsOff(f"{workspace} is not a project", _HINT)
