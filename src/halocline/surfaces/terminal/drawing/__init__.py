"""Draws rows, cards, diffs, Markdown and the status line with rich."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.terminal.drawing import markdown as markdown
else:
    __getattr__ = load_modules_of(__name__)
