"""The folders and tasks that requests name, as paths and as sessions of a list."""

import os
from datetime import UTC, datetime
from pathlib import Path

from acp import schema

from halocline.protocol.queries.tasks import TaskInfo
from halocline.surfaces.acp.failures import refuse_params


def find_folder(path: str) -> Path:
    """Return a folder that a client names. Raises RequestError unless it is absolute and exists."""
    if not path.startswith("/") or "\0" in path:
        raise refuse_params(f"{path!r} is not an absolute path.")
    folder = Path(path).resolve()
    if not folder.is_dir():
        raise refuse_params(f"{path} is not a folder.")
    return folder


def is_same_folder(path: str, folder: Path) -> bool:
    """True if a path leads to a folder, given without links."""
    return os.path.realpath(path) == str(folder)


def describe_task(info: TaskInfo) -> schema.SessionInfo:
    """Return a task as a session."""
    return schema.SessionInfo(
        session_id=info.task,
        cwd=info.workspace,
        additional_directories=list(info.roots) or None,
        title=info.name or info.title or None,
        updated_at=datetime.fromtimestamp(info.changed_at, UTC).isoformat(),
    )
