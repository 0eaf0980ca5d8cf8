"""Front matter of other programs' agents, in the terms of Claude Code's."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from halocline.protocol.config_locations import Dialect

_NAMED_BY_FILE: frozenset[Dialect] = frozenset({"opencode", "cursor", "copilot"})
_OWN_MODELS: frozenset[Dialect] = frozenset({"cursor", "copilot"})
"""Programs whose names of models mean nothing elsewhere."""


def fit_head(dialect: Dialect, given: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Return front matter with the keys of Claude Code. A model that only its own program knows is `othermodel`."""
    fitted = dict(given)
    if dialect in _NAMED_BY_FILE and (dialect == "opencode" or not fitted.get("name")):
        fitted["name"] = file.stem.removesuffix(".agent")
    if dialect in _OWN_MODELS and fitted.get("model") not in (None, "", "inherit"):
        fitted["othermodel"] = fitted.pop("model")
    if isinstance(tools := fitted.get("tools"), Mapping):
        fitted.pop("tools")
        fitted["disallowedtools"] = [str(name) for name, allowed in tools.items() if allowed is False]
    if dialect == "opencode" and "steps" in fitted:
        fitted["maxturns"] = fitted.pop("steps")
    return fitted
