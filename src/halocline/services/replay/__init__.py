"""Replay recorded tasks."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.services.replay import replay as replay
else:
    __getattr__ = load_modules_of(__name__)
