"""The client's options, made from parsed flags: the workspace, the model, the task."""

import argparse
import os
from pathlib import Path

from halocline import client
from halocline.client.options import Choices, TaskOptions
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode, Mode


def workspace_of(text: str) -> Path:
    """Return the absolute path of the folder. Raises UsageError when it is not a readable folder."""
    try:
        path = Path(text).expanduser().resolve()
    except OSError as error:
        raise UsageError(
            f"Cannot find the folder {text}: {error.strerror}.", "Change to another, or use -C DIR."
        ) from error
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder.", "Name an existing one with -C DIR.")
    if not os.access(path, os.R_OK | os.X_OK):
        raise UsageError(f"Cannot read the folder {path}.", "Check its permissions, or name another with -C DIR.")
    return path


def choices_of(arguments: argparse.Namespace) -> Choices:
    """The flags about the model, its server and the limits; not every command has all of them."""
    return Choices(**{name: getattr(arguments, name, None) for name in Choices.__struct_fields__})


def options_of(arguments: argparse.Namespace, *, attended: bool) -> TaskOptions:
    """The flags about the task. `--approval-mode plan` means plan mode."""
    approval = "yolo" if arguments.yolo else arguments.approval_mode
    mode = "plan" if approval == "plan" else arguments.mode
    return TaskOptions(
        effort=arguments.effort,
        thinking_budget=arguments.thinking_budget,
        model=arguments.model,
        mode=Mode(mode) if mode else None,
        approval_mode=ApprovalMode(approval) if approval not in (None, "plan") else None,
        attended=attended,
        trusted=arguments.trust,
        record=Path(arguments.record).expanduser().absolute() if arguments.record else None,
        roots=tuple(str(Path(root).expanduser().absolute()) for root in arguments.roots),
        until=(arguments.until or "").strip(),
        editor=_given_servers(arguments.mcp_config),
    )


def _given_servers(text: str | None) -> "client.editor.EditorParts | None":
    """The MCP servers of `--mcp-config`. Raises UsageError."""
    return client.editor.EditorParts(servers=client.mcp.read_given_servers(text)) if text else None
