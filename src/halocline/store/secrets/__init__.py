"""Keys that a person stored."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.store.secrets import salt as salt, store as store
else:
    __getattr__ = load_modules_of(__name__)
