"""Functions that tables name as `module:function`. They are imported when first used, so that a start is fast."""

from importlib import import_module
from typing import Any

COMMANDS, SLASH_ANSWERS = "halocline.surfaces.cli", "halocline.surfaces.slash"
"""Packages to which the modules in tables are relative."""


def load_function(name: str, package: str = COMMANDS) -> Any:
    """Load a function by its name, in which the module is relative to the package."""
    module, _, function = name.partition(":")
    return getattr(import_module(f".{module}", package), function)
