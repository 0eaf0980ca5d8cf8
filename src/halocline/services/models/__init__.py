"""Accounts at providers, and the models you can use."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.services.models import service as service
else:
    __getattr__ = load_modules_of(__name__)
