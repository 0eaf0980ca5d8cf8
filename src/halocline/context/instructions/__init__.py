"""Rules in files: where they are, when they apply, what they say."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.context.instructions import markdown_head as markdown_head
else:
    __getattr__ = load_modules_of(__name__)
