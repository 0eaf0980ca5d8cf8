"""The approval gate: pure decisions with reasons."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.policy import mcp as mcp, rules as rules
else:
    __getattr__ = load_modules_of(__name__)
