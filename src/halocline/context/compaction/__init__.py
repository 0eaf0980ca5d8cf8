"""Fitting a conversation into what a model can read."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.context.compaction import plan as plan
else:
    __getattr__ = load_modules_of(__name__)
