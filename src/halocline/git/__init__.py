"""Runs the user's git, without running programs a repository names and without passing it keys."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.git import diffs as diffs, doubts as doubts
else:
    __getattr__ = load_modules_of(__name__)
