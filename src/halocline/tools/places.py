"""Places in the workspace: how a tool finds what the model named, and how it names it back."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halocline.policy.paths import plain_name
from halocline.ports.host import FileInfo
from halocline.ports.tool import ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.protocol.file_names import make_printable


def shown_path(path: Path, ctx: ToolContext) -> str:
    """The path as models and people read it: relative inside the workspace, else whole."""
    if path == ctx.workspace:
        return "."
    return path.relative_to(ctx.workspace).as_posix() if path.is_relative_to(ctx.workspace) else path.as_posix()


def absolute_path(text: str, ctx: ToolContext) -> Path:
    """The absolute path for what the model wrote, without `..`, so that one file has one name."""
    path = ctx.path(text)
    return Path(os.path.realpath(path.parent), path.name) if ".." in path.parts else path


async def find_existing(text: str, ctx: ToolContext) -> tuple[Path, FileInfo]:
    """What the model named. A name that differs only in invisible ways (blanks, composed accents) is taken for it.

    Raises:
        ToolFailure: nothing is there; similar names are in the text.
    """
    path = absolute_path(text, ctx)
    with explaining_errors(path, ctx):
        if found := await ctx.host.files.info(path):
            return path, found
        names = await _list_names(path.parent, ctx)
        for lookalike in (path.with_name(name) for name in names if plain_name(name) == plain_name(path.name)):
            if _is_itself(lookalike) and (found := await ctx.host.files.info(lookalike)):
                return lookalike, found
    raise ToolFailure(f"There is no {shown_path(path, ctx)}.{_suggest_names(path, names, ctx)}")


def _is_itself(path: Path) -> bool:
    """No link: the policy judged the folder, and a link could lead out of it."""
    return os.path.realpath(path) == os.path.join(os.path.realpath(path.parent), path.name)


@contextmanager
def explaining_errors(path: Path, ctx: ToolContext) -> Iterator[None]:
    """Tells the model in one sentence what the system refused."""
    try:
        yield
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ToolFailure(f"{make_printable(shown_path(path, ctx))} is not accessible: {why}.") from error


async def _list_names(folder: Path, ctx: ToolContext) -> list[str]:
    try:
        return [name for name, _ in await ctx.host.files.list(folder)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _suggest_names(path: Path, names: list[str], ctx: ToolContext) -> str:
    from difflib import get_close_matches  # heavy, and only needed for a wrong name

    close = get_close_matches(path.name, names, n=3, cutoff=0.6)
    if not close:
        return f" Use list_files to see what {shown_path(path.parent, ctx)} holds." if names else ""
    return " Did you mean " + " or ".join(shown_path(path.with_name(name), ctx) for name in close) + "?"
