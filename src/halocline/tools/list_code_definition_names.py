"""list_code_definition_names: definitions in source code by file, folder or name, bounded; ignore files apply."""

import re
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.context.budget import DEFINITIONS, fit_lines
from halocline.edits.text import read_source
from halocline.ports.code import Definition
from halocline.ports.host import LeftOut, SearchQuery
from halocline.ports.tool import Summary, ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.file_names import make_printable
from halocline.protocol.kinds import ToolKind
from halocline.protocol.patterns import compile_later
from halocline.tools.left_out import count_files, say_absent
from halocline.tools.places import explaining_errors, find_existing, shown_path
from halocline.tools.schema import define_tool

MOST_FILES = 50
_FILES_SEEN = 5_000
_FILES_SEARCHED = 300
_MATCHES = 5_000
_LARGEST = 1_000_000
_SEPARATOR = compile_later(r"::|[.#/]")


class Input(msgspec.Struct):
    path: Annotated[str, Meta(description="File or folder to look in.")] = "."
    name: Annotated[str | None, Meta(description="Only definitions with this name, such as `Task.run`.")] = None


def summary(input: Input) -> Summary:
    what = f"Find the definition of {input.name} in" if input.name else "List definitions in"
    return Summary(title=f"{what} {input.path}", kind=ToolKind.SEARCH, paths=(input.path,))


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    path, info = await find_existing(input.path, ctx)
    if info.is_dir and path in (Path(path.anchor), Path.home()):
        raise ToolFailure(f"{path} is too large to scan. Use a folder below it.")
    if input.name:
        return await _find_by_name(input.name, path, ctx)
    return await (_in_folder if info.is_dir else _in_file)(path, ctx)


async def _in_file(path: Path, ctx: ToolContext) -> ToolOutput:
    with explaining_errors(path, ctx):
        found = await _read_definitions(path, ctx)
    if found is None:
        raise ToolFailure(
            f"{shown_path(path, ctx)} cannot be parsed: unknown language, or larger than 1 MB. Use search_files."
        )
    nothing = say_absent("no definitions", LeftOut())
    return _describe_lines([_definition_line(one) for one in found], nothing, "narrow the list with name")


async def _in_folder(path: Path, ctx: ToolContext) -> ToolOutput:
    """List the outermost definitions of each file that has any, nearest files first."""
    with explaining_errors(path, ctx):
        files, more = await ctx.host.search.files(path, _FILES_SEEN)
    known = [file for file in files if ctx.host.code.knows(file)]
    lines: list[str] = []
    for file in known[:MOST_FILES]:
        found = [one for one in await _definitions_if_read(path / file, ctx) if not one.parent]
        if found:
            lines += [make_printable(file), *map(_definition_line, found)]
    if more or len(known) > MOST_FILES:
        lines.append(f"[only the {MOST_FILES} nearest source files were read; use a folder below, or set name]")
    left_out = LeftOut() if lines else await ctx.host.search.count_left_out(path)
    where = count_files(len(known), "source") if known else f"{shown_path(path, ctx)}, which has no source files"
    nothing = say_absent(f"no definitions in {where}", left_out)
    return _describe_lines(lines, nothing, "use a folder below, or set name")


async def _find_by_name(name: str, path: Path, ctx: ToolContext) -> ToolOutput:
    """List definitions by name: exact matches first, then names that only contain it."""
    *owners, last = [part for part in _SEPARATOR.split(name) if part] or [name]
    query = SearchQuery(str(path), "(?i)" + re.escape(last), context=0, limit=_MATCHES)
    result = await ctx.host.search.search(query)
    files = [file for file in dict.fromkeys(match.path for match in result.matches) if ctx.host.code.knows(file)]
    ranked: list[tuple[int, int, str]] = []
    for file in files[:_FILES_SEARCHED]:
        for one in await _definitions_if_read(Path(file), ctx):
            if (rank := _rank_name(one, owners, last)) is not None:
                where = f"{make_printable(shown_path(Path(file), ctx))}:{one.line}-{one.last_line}"
                ranked.append((rank, len(ranked), f"{where} {one.kind} {_full_name(one)}"))
    lines = [line for _, _, line in sorted(ranked)]
    if result.cut or len(files) > _FILES_SEARCHED:
        lines.append("[not every file with this name was read; narrow path]")
    left_out = LeftOut() if lines else await ctx.host.search.count_left_out(path)
    nothing = say_absent(f"no definition of {name}; search_files finds its uses", left_out)
    return _describe_lines(lines, nothing, "narrow path or name")


def _rank_name(one: Definition, owners: list[str], last: str) -> int | None:
    """Return 0 for an exact match, more for looser ones, None for no match."""
    *around, own = [part for outer in (*one.parent, one.name) for part in _SEPARATOR.split(outer)]
    if around[len(around) - len(owners) :] != owners:
        return None
    low, wanted = own.lower(), last.lower()
    fits = (own == last, low == wanted, low.startswith(wanted), wanted in low)
    return fits.index(True) if any(fits) else None


async def _read_definitions(path: Path, ctx: ToolContext) -> tuple[Definition, ...] | None:
    return await ctx.host.code.definitions(path.name, await read_source(ctx.host.files, path, _LARGEST + 1))


async def _definitions_if_read(path: Path, ctx: ToolContext) -> tuple[Definition, ...]:
    """Return the definitions of a file found by a search; none if it is gone or cannot be read."""
    try:
        return await _read_definitions(path, ctx) or ()
    except OSError:
        return ()


def _definition_line(one: Definition) -> str:
    return f"{one.line}-{one.last_line} {one.kind} {_full_name(one)}"


def _full_name(one: Definition) -> str:
    return ".".join((*one.parent, one.name))


def _describe_lines(lines: list[str], nothing: str, more: str) -> ToolOutput:
    fitted = fit_lines(lines, DEFINITIONS)
    footer = (f"[{len(fitted.lines)} of {len(lines)} lines; {more}]",) if fitted.cut else ()
    return ToolOutput.of("\n".join([*fitted.lines, *footer]) or nothing)


DESCRIPTION = (
    "List classes, functions and methods with their lines: of a file, of a folder (outermost only), or by name "
    "below path. Prefer it to search_files to find a definition."
)
TOOL = define_tool("list_code_definition_names", DESCRIPTION, ToolKind.SEARCH, Input, summary, run)
