"""The prompt_toolkit application: it owns the terminal, draws lines around a composer and restores the terminal."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.terminal.application import (
        choice_list as choice_list,
        foreground as foreground,
        layout as layout,
    )
else:
    __getattr__ = load_modules_of(__name__)
