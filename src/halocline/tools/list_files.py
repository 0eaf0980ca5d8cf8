"""list_files: names in a folder, nearest first, bounded."""

import asyncio
from pathlib import Path, PurePosixPath
from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.context.budget import LISTING, fit_lines
from halocline.policy.sensitive_names import is_secret
from halocline.ports.tool import Summary, ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.file_names import make_printable
from halocline.protocol.kinds import ToolKind
from halocline.tools.left_out import say_absent
from halocline.tools.places import explaining_errors, find_existing, shown_path
from halocline.tools.schema import define_tool

MAY_HOLD_SECRETS = "  [may hold secrets: reading it asks the user]"
PAGE = LISTING.lines or 1
_FILES_SEEN = 10_000
_FILES_BY_NAME = 100_000
_PATIENCE = 30.0
_BUILT = {
    "package.json": "dist build out coverage",
    "Cargo.toml": "target",
    "pom.xml": "target",
    "build.gradle": "build",
    "build.gradle.kts": "build",
    "CMakeLists.txt": "build",
    "pyproject.toml": "build dist htmlcov",
    "setup.py": "build dist htmlcov",
}
"""Folders that hold what was built, by the file beside them that says so."""
_CACHES = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""Files that mark the folder they are in as made by a program."""


class Input(msgspec.Struct):
    path: Annotated[str, Meta(description="Folder; `.` is the workspace.")] = "."
    recursive: Annotated[bool, Meta(description="Include all below, except ignored files.")] = False
    pattern: Annotated[str | None, Meta(description="Only files below so named, newest first: `*.py`.")] = None
    page: int = 1


def summary(input: Input) -> Summary:
    title = f"Find {input.pattern} in {input.path}" if input.pattern else f"List {input.path}"
    return Summary(title=title, kind=ToolKind.READ, paths=(input.path,))


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    path, info = await find_existing(input.path, ctx)
    if not info.is_dir:
        raise ToolFailure(f"{shown_path(path, ctx)} is a file. Use read_file to see its text.")
    below = input.recursive or bool(input.pattern)
    with explaining_errors(path, ctx):
        names, cut, built = await (_list_below(path, input.pattern or "", ctx) if below else _list_inside(path, ctx))
    if not names and not built:
        left_out = await ctx.host.search.count_left_out(path, input.pattern or "")
        return ToolOutput.of(say_absent(f"no files in {input.path}" if below else "the folder is empty", left_out))
    first = max(0, input.page - 1) * PAGE
    fitted = fit_lines(map(_shown_name, names[first:]), LISTING)
    lines = list(fitted.lines)
    if below:
        # The search walked the tree on its own, and a name may point elsewhere by now: keep what is still there.
        there = set(map(_shown_name, await ctx.host.files.present(path, names[first : first + len(lines)])))
        lines = [line for line in lines if line in there]
    if fitted.cut or cut or first:
        total = f"over {len(names):,}" if cut else f"{len(names):,}"
        more = f"page={input.page + 1} has more, or list a folder below" if fitted.cut else "no more pages"
        lines.append(f"[{len(lines)} of {total} entries; {more}]")
    if built:
        lines.append(f"[built or cached, so not listed: {', '.join(built)}; name one as path to list it]")
    return ToolOutput.of("\n".join(lines))


def _shown_name(name: str) -> str:
    return make_printable(name) + (MAY_HOLD_SECRETS if is_secret(PurePosixPath(name).name) and name[-1] != "/" else "")


async def _list_inside(path: Path, ctx: ToolContext) -> tuple[list[str], bool, list[str]]:
    try:
        async with asyncio.timeout(_PATIENCE):
            return [name + "/" * is_dir for name, is_dir in await ctx.host.files.list(path)], False, []
    except TimeoutError:
        raise ToolFailure(f"Listing {shown_path(path, ctx)} took over {_PATIENCE:g} s. List another folder.") from None


async def _list_below(path: Path, pattern: str, ctx: ToolContext) -> tuple[list[str], bool, list[str]]:
    """List files and the folders that lead to them, breadth first; with a pattern the files that fit, newest first."""
    if path in (Path(path.anchor), Path.home()):
        raise ToolFailure(f"{path} is too large to list recursively. List it without recursive.")
    if pattern:
        found, cut = await ctx.host.search.files(path, _FILES_BY_NAME, pattern)
        marks = dict(zip(found, await ctx.host.files.marks(path, found), strict=True))
        return sorted(found, key=lambda name: -(mark.modified if (mark := marks[name]) else 0)), cut, []
    found, cut = await ctx.host.search.files(path, _FILES_SEEN)
    built = _find_built(found)
    files = [name for name in found if not name.startswith(tuple(built))]
    folders = {f"{folder}/" for file in files for folder in PurePosixPath(file).parents if folder.name}
    return sorted([*files, *folders], key=lambda name: (name.rstrip("/").count("/"), name)), cut, built


def _find_built(names: list[str]) -> list[str]:
    """Return the outermost folders that hold what programs made."""
    built: list[str] = []
    there = {f"{folder}/" for name in names for folder in PurePosixPath(name).parents}
    for name in names:
        folder, _, last = name.rpartition("/")
        prefix = f"{folder}/" if folder else ""
        wanted = [f"{prefix}{one}/" for one in _BUILT.get(last, "").split()]
        wanted += [prefix] if last in _CACHES and prefix else []
        built += [one for one in wanted if one in there and one not in built]
    return [one for one in built if not any(one != other and one.startswith(other) for other in built)]


DESCRIPTION = f"List a folder, or find files by name: {PAGE} a page. To find text in files, use search_files."
TOOL = define_tool("list_files", DESCRIPTION, ToolKind.READ, Input, summary, run, unsaid=("page",))
