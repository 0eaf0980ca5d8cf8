"""The checkpoints of a workspace in their store: saving, upkeep, all stores of a home."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.checkpoints.repository import stores as stores
else:
    __getattr__ = load_modules_of(__name__)
