"""Restores, compares and exports checkpoints. Each name loads its module when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from halocline.checkpoints.restore.compare import (
        Comparison as Comparison,
        compare_checkpoints as compare_checkpoints,
        diff_checkpoints as diff_checkpoints,
    )
    from halocline.checkpoints.restore.export import export_checkpoint as export_checkpoint
    from halocline.checkpoints.restore.restore import (
        Restored as Restored,
        RestorePlan as RestorePlan,
        Target as Target,
        plan_restore as plan_restore,
        restore_files as restore_files,
    )

_PLACES = {
    "compare": "Comparison compare_checkpoints diff_checkpoints",
    "export": "export_checkpoint",
    "restore": "Restored RestorePlan Target plan_restore restore_files",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}

if not TYPE_CHECKING:  # so that type checkers report names that are not there

    def __getattr__(name: str) -> object:
        """Load a name. Raises AttributeError if there is none."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
