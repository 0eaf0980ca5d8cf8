"""Rewind, fork and revert: everything about a task's past."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.runtime.history import (
        actions as actions,
        edit_conflicts as edit_conflicts,
        edits_ahead as edits_ahead,
        moved_workspace as moved_workspace,
        previews as previews,
    )
else:
    __getattr__ = load_modules_of(__name__)
