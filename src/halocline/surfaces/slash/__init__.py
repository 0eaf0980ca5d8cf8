"""Slash commands that are answered here and not by the model."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.slash import context as context, login as login
else:
    __getattr__ = load_modules_of(__name__)
