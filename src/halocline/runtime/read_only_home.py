"""Refuse commands that write if the home is read-only: on a read-only disk, or another user's copy.

Commands that only read keep working there, so you can always get your history out.
"""

from collections.abc import Mapping

from halocline.protocol.errors import UsageError
from halocline.store.paths import Home, home_folder

READING: dict[str, tuple[str, ...]] = {
    "checkpoints": ("list", "diff"),
    "completion": ("",),
    "config": ("list", "get"),
    "context": ("",),
    "doctor": ("",),
    "export": ("",),
    "hooks": ("list",),
    "logs": ("logs",),
    "mcp": ("list",),
    "memory": ("show",),
    "models": ("",),
    "plugins": ("list", "show"),
    "policy": ("explain", "rules", "test", "simulate", "audit"),
    "replay": ("",),
    "rules": ("list", "why"),
    "schedule": ("list", "show"),
    "stats": ("",),
    "storage": ("",),
    "tasks": ("list", "show"),
    "trust": ("list",),
}
"""Commands that work with a read-only home, each with the actions that do; an empty string means no action."""
CHANGING = ("fix", "refresh")
"""Flags that make one of them write."""


def refuse_unwritable_home(command: str, chosen: Mapping[str, object], environment: Mapping[str, str]) -> None:
    """Raise UsageError if a command would write to a read-only home."""
    root = home_folder(environment)
    if not root.is_dir() or Home(root).is_writable or is_reading(command, chosen):
        return
    raise UsageError(
        f"Halocline's home {root} is read-only.",
        "Set HALOCLINE_HOME to another folder. Commands that only read still work here: halo tasks list, tasks show, "
        "export, checkpoints list, checkpoints diff, storage.",
    )


def is_reading(command: str, chosen: Mapping[str, object]) -> bool:
    """True if a command with these options only reads the home."""
    action = chosen.get("action") or ""
    return action in READING.get(command, ()) and not any(chosen.get(flag) for flag in CHANGING)
