"""The settings of a folder, for those folders alone that have some: the file, the trust in it, and what it changes."""

import os
from collections.abc import Callable
from pathlib import Path

from halocline.store.paths import PROJECT_SETTINGS
from halocline.store.settings.load import ProjectLayer
from halocline.store.settings.project import apply_project as apply_project


def find_layer(workspace: Path, own: Path, is_trusted: Callable[[], bool]) -> ProjectLayer | None:
    """Return a folder's settings file; None if there is none, or if it is `own`, the person's (in their home)."""
    file = workspace / PROJECT_SETTINGS
    if not os.path.lexists(file) or os.path.realpath(file) == os.path.realpath(own):
        return None
    return ProjectLayer(file, is_trusted())
