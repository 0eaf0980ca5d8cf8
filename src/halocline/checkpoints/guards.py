"""Where checkpoints are not kept: folders that hold a person's whole life instead of one project."""

from pathlib import Path

from halocline.checkpoints.store.git import CheckpointsOff

_WHOLE_LIVES = ("Desktop", "Documents", "Downloads")
_HINT = "Start in the folder of a project."


def check_workspace(workspace: Path, home: Path) -> None:
    """Both paths are real (links followed).

    Raises:
        CheckpointsOff: the workspace is the home folder or lies above it, or is one of its great collections.
    """
    if home.is_relative_to(workspace):
        raise CheckpointsOff(f"{workspace} holds the whole home folder", _HINT)
    if workspace == Path(workspace.anchor):
        raise CheckpointsOff(f"{workspace} is a whole file system", _HINT)
    if workspace.parent == home and workspace.name in _WHOLE_LIVES:
        raise CheckpointsOff(f"{workspace} is not a project", _HINT)
