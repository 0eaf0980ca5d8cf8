"""Restores, compares and exports checkpoints."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.checkpoints.restore import (
        compare as compare,
        export as export,
        remainder as remainder,
        restore as restore,
    )
else:
    __getattr__ = load_modules_of(__name__)
