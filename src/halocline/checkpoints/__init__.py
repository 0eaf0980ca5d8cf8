"""Checkpoints: saved states of a workspace's files, and restores. No start loads them: see `LazyCheckpoints`."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.checkpoints import (
        multi_root as multi_root,
        off as off,
        saved as saved,
        shadow_git as shadow_git,
        unkept as unkept,
    )
else:
    __getattr__ = load_modules_of(__name__)
