"""Assemble tasks from their parts: most concrete classes are named here."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.runtime.assembly import (
        browser as browser,
        checkpoints as checkpoints,
        optional_tools as optional_tools,
        sandbox as sandbox,
        search_engine as search_engine,
    )
else:
    __getattr__ = load_modules_of(__name__)
