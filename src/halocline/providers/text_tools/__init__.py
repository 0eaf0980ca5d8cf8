"""Tool calls written as text, for models without native tool calls."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.providers.text_tools import (
        early_end as early_end,
        model as model,
        printed_calls as printed_calls,
        quotation as quotation,
    )
else:
    __getattr__ = load_modules_of(__name__)
