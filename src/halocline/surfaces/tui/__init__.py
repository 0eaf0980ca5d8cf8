"""The board: all tasks on one full screen, drawn with Textual. Only `command` may be imported without it."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.tui import running as running
else:
    __getattr__ = load_modules_of(__name__)
