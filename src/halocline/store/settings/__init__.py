"""Settings files."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.store.settings import invalid as invalid
else:
    __getattr__ = load_modules_of(__name__)
