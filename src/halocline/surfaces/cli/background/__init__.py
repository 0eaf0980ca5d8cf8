"""Tasks without a terminal: handing one over, the process that runs them, and several attempts side by side."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.cli.background import best_of as best_of, cut_short as cut_short, hand_over as hand_over
else:
    __getattr__ = load_modules_of(__name__)
