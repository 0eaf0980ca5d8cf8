"""The forms in which models write edits. Each parser turns one form into edits."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.edits.formats import blocks as blocks, exact as exact, patch as patch, shell_patch as shell_patch
else:
    __getattr__ = load_modules_of(__name__)
