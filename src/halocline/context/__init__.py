"""The context: everything the model reads."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.context import instructions as instructions, other_tools as other_tools, text_files as text_files
else:
    __getattr__ = load_modules_of(__name__)
