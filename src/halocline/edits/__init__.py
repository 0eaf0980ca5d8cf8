"""The edit engine: locate, plan, apply, report. Pure functions on text."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.edits import formats as formats, large_texts as large_texts, plan as plan
else:
    __getattr__ = load_modules_of(__name__)
