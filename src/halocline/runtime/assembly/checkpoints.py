"""Builds the checkpoints of a task; loaded once its first request is out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from halocline import checkpoints
from halocline.ports.checkpoints import Checkpoints
from halocline.store.settings.settings import Settings

if TYPE_CHECKING:
    from halocline.checkpoints.shadow_git import ShadowGit


def build_checkpoints(
    settings: Settings, store: "Callable[[Path], ShadowGit]", workspace: Path, roots: Sequence[str]
) -> Checkpoints:
    """Build the checkpoints of a task."""
    if not settings.checkpoints:
        return checkpoints.off.Off()
    if not roots:
        return store(workspace)
    others = {root: store(Path(root)) for root in roots}
    return checkpoints.multi_root.RootedCheckpoints(workspace, store(workspace), others)
