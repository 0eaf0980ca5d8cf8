"""The command line's arguments."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.cli.args import foreign_words as foreign_words
else:
    __getattr__ = load_modules_of(__name__)
