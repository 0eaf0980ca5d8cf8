"""A store of checkpoints: a bare git repository of our own."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.checkpoints.store import stores as stores
else:
    __getattr__ = load_modules_of(__name__)
