"""The front end without a screen: rows and questions as plain lines, and output for programs."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.cli.plain import (
        json_results as json_results,
        line_mode as line_mode,
        questions as questions,
    )
else:
    __getattr__ = load_modules_of(__name__)
