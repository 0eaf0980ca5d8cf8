"""The command line: line mode on a terminal, plain text and JSON elsewhere."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.cli import (
        background as background,
        live as live,
        pickers as pickers,
        stream_input as stream_input,
    )
else:
    __getattr__ = load_modules_of(__name__)
