"""All requests of a page besides task commands: `QUERIES` change nothing, `ACTIONS` do."""

from typing import Any

from halocline.protocol.errors import UsageError
from halocline.surfaces.web.handlers import (
    background_jobs,
    board,
    commits,
    composer,
    config_files,
    diffs,
    files,
    folders,
    history,
    instruction_details,
    instructions,
    mcp,
    mcp_details,
    policy,
    revert,
    settings,
    sign_ins,
    slash,
    tasks,
    worktrees,
)
from halocline.surfaces.web.handlers.handler import Handler

_MODULES = (
    *(tasks, board, history, revert, commits, composer, settings, mcp, mcp_details, sign_ins),
    *(
        instructions,
        instruction_details,
        policy,
        folders,
        background_jobs,
        slash,
        diffs,
        files,
        config_files,
        worktrees,
    ),
)
_HANDLERS = [one for module in _MODULES for one in vars(module).values() if isinstance(one, Handler)]
QUERIES: dict[str, Handler[Any]] = {one.name: one for one in _HANDLERS if not one.changes}
ACTIONS: dict[str, Handler[Any]] = {one.name: one for one in _HANDLERS if one.changes}


def find_handler(handlers: dict[str, Handler[Any]], name: str) -> Handler[Any]:
    """Find a query or action. Raises UsageError."""
    if (handler := handlers.get(name)) is None:
        raise UsageError(f"Unknown request {name!r}.", "Reload the page; it may be older than the server.")
    return handler
