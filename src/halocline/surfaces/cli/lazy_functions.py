"""Functions that tables name as `module:function`. They are imported when first used, so that a start is fast."""

from importlib import import_module
from typing import Any


def load_function(name: str) -> Any:
    """Load a function by its name, in which the module is relative to `surfaces.cli`."""
    module, _, function = name.partition(":")
    return getattr(import_module(f".{module}", __package__), function)
