"""The live screen: one prompt_toolkit application that owns the terminal while a conversation lasts."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.cli.live import live_mode as live_mode
else:
    __getattr__ = load_modules_of(__name__)
