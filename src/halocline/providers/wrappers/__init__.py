"""Models that wrap others: retries, fallbacks, one model per mode."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.providers.wrappers import fallback as fallback, own_usage as own_usage
else:
    __getattr__ = load_modules_of(__name__)
