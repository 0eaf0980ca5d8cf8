"""Paths in the workspace: from the model's text to a file, and back."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from halocline.files.meant_paths import find_meant, find_near
from halocline.policy.paths import plain_name
from halocline.ports.host import FileInfo
from halocline.ports.tool import ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.protocol.file_names import make_printable


def shown_path(path: Path, ctx: ToolContext) -> str:
    """Return the path as shown to models and people: relative inside the workspace, else absolute."""
    if path == ctx.workspace:
        return "."
    return path.relative_to(ctx.workspace).as_posix() if path.is_relative_to(ctx.workspace) else path.as_posix()


def absolute_path(text: str, ctx: ToolContext) -> Path:
    """Return the absolute path of what the model wrote, without `..`, so that one file has one name."""
    path = ctx.path(text)
    return Path(os.path.realpath(path.parent), path.name) if ".." in path.parts else path


GONE = (
    "The workspace {workspace} no longer exists: it was moved or removed while this task was open. Nothing was read or "
    "changed. Do not make a folder of that name: tell the user, who can move it back or start a task in its new place."
)


def require_workspace(path: Path, ctx: ToolContext) -> None:
    """Fail if nothing is at a path because the workspace itself is gone: an edit would make a folder of its name."""
    if path.is_relative_to(ctx.workspace) and not os.path.isdir(ctx.workspace):
        raise ToolFailure(GONE.format(workspace=ctx.workspace))


async def find_existing(text: str, ctx: ToolContext) -> tuple[Path, FileInfo]:
    """Find what the model named. A name that differs only invisibly (blanks, composed accents) also matches.

    Raises:
        ToolFailure: it does not exist; the text suggests what may have been meant.
    """
    path = absolute_path(text, ctx)
    with explaining_errors(path, ctx):
        if found := await ctx.host.files.info(path):
            return path, found
        require_workspace(path, ctx)
        names = await _list_names(path.parent, ctx)
        for lookalike in (path.with_name(name) for name in names if plain_name(name) == plain_name(path.name)):
            if _is_itself(lookalike) and (found := await ctx.host.files.info(lookalike)):
                return lookalike, found
    suggestion = await _suggest_paths(text, path, names, ctx)
    raise ToolFailure(f"{shown_path(path, ctx)} does not exist.{suggestion}")


def _is_itself(path: Path) -> bool:
    """True if it is no link: the policy judged the folder, and a link could lead out of it."""
    return os.path.realpath(path) == os.path.join(os.path.realpath(path.parent), path.name)


@contextmanager
def explaining_errors(path: Path, ctx: ToolContext) -> Iterator[None]:
    """Turn errors of the system into a ToolFailure that names the path."""
    try:
        yield
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ToolFailure(f"{make_printable(shown_path(path, ctx))} cannot be accessed: {why}.") from error


async def _list_names(folder: Path, ctx: ToolContext) -> list[str]:
    try:
        return [name for name, _ in await ctx.host.files.list(folder)]
    except (FileNotFoundError, NotADirectoryError):
        return []


async def _suggest_paths(text: str, path: Path, names: list[str], ctx: ToolContext) -> str:
    meant = [shown_path(path.with_name(name), ctx) for name in find_near(path.name, names)]
    if not meant and path.is_relative_to(ctx.workspace):
        meant = await find_meant(text, ctx.workspace, ctx.host.files, ctx.host.search)
    if meant:
        return f" Did you mean {' or '.join(map(make_printable, meant))}?"
    holds = path.parent if names else await _find_folder_above(path, ctx)
    return f" Use list_files to see what {make_printable(shown_path(holds, ctx))} holds." if holds else ""


async def _find_folder_above(path: Path, ctx: ToolContext) -> Path | None:
    """Return the nearest folder of the workspace that is there; None for a path outside."""
    with suppress(OSError):
        for folder in path.parents if path.is_relative_to(ctx.workspace) else ():
            if (found := await ctx.host.files.info(folder)) and found.is_dir:
                return folder
    return None
