"""Refuses what writes where the home cannot be written: a disk mounted to be read only, or the copy of somebody else.

What only reads goes on working there, so that the history can always be got out.
"""

from collections.abc import Mapping

from halocline.protocol.errors import UsageError

READING: dict[str, tuple[str, ...]] = {
    "checkpoints": ("list", "diff"),
    "context": ("",),
    "doctor": ("",),
    "export": ("",),
    "hooks": ("list",),
    "mcp": ("list",),
    "memory": ("show",),
    "models": ("",),
    "policy": ("explain", "rules", "test", "simulate", "audit"),
    "replay": ("",),
    "rules": ("list", "why"),
    "storage": ("",),
    "tasks": ("list", "show"),
    "trust": ("list",),
}
"""Commands that need no home that can be written, each with those of its actions that do not; empty: no action."""
CHANGING = ("fix", "refresh")
"""Flags with which one of them writes."""


def refuse_unwritable_home(command: str, chosen: Mapping[str, object], environment: Mapping[str, str]) -> None:
    """Raise UsageError when a command would write to a home that cannot be written."""
    from halocline.store.paths import Home, home_folder

    root = home_folder(environment)
    if not root.is_dir() or Home(root).is_writable or is_reading(command, chosen):
        return
    raise UsageError(
        f"Halocline's home {root} cannot be written.",
        "What only reads works: halo tasks list, tasks show, export, checkpoints list, checkpoints diff, storage. "
        "Set HALOCLINE_HOME to another folder.",
    )


def is_reading(command: str, chosen: Mapping[str, object]) -> bool:
    """Tell whether a command as it was `chosen` only reads the home."""
    action = chosen.get("action") or ""
    return action in READING.get(command, ()) and not any(chosen.get(flag) for flag in CHANGING)
