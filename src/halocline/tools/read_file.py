"""read_file: text with line numbers, in windows that say how to read on."""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.edits.text import BinaryContent, TextFile, counted, decode, lines_of
from halocline.ports.host import FileInfo
from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import Location, ToolKind
from halocline.tools.places import existing, explained, shown
from halocline.tools.schema import schema_of

WINDOW = 1_000
LONGEST_TEXT = 400_000
LONGEST_LINE = 2_000
LARGEST_FILE = 20_000_000


class Input(msgspec.Struct):
    path: Annotated[str, Meta(description="File path, relative to the workspace or absolute.")]
    start_line: Annotated[int | None, Meta(description="First line, from 1.")] = None
    end_line: Annotated[int | None, Meta(description="Last line, included.")] = None


def summary(input: Input) -> Summary:
    return Summary(
        title=f"Read {input.path}",
        kind=ToolKind.READ,
        paths=(input.path,),
        locations=(Location(input.path, input.start_line),),
    )


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    path, info = await existing(input.path, ctx)
    name = shown(path, ctx)
    _require_readable(name, info)
    with explained(path, ctx):
        data = await ctx.files.read(path, LARGEST_FILE)
    try:
        file = decode(data)
    except BinaryContent:
        raise ToolFailure(f"{name} is a binary file of {len(data):,} bytes; it has no text to read.") from None
    return ToolOutput.of(_window(file, input.start_line, input.end_line))


def _require_readable(name: str, info: FileInfo) -> None:
    if info.is_dir:
        raise ToolFailure(f"{name} is a folder. Use list_files to see what it holds.")
    if not info.is_file:
        raise ToolFailure(f"{name} is not a regular file (a device, pipe or socket), so it is not read.")
    if info.size > LARGEST_FILE:
        raise ToolFailure(
            f"{name} has {info.size:,} bytes, more than the {LARGEST_FILE:,} that can be read. "
            "Find the part you need with search_files, or print it with `sed -n` by execute_command."
        )


def _window(file: TextFile, start: int | None, end: int | None) -> str:
    """The lines asked for, labelled, then where they stand in the file."""
    lines = lines_of(file.view)
    if not lines:
        return "[the file is empty]"
    first, last = _bounds(start, end, len(lines))
    labelled = _labelled(lines, first, last)
    last = first + len(labelled) - 1
    return "\n".join([*labelled, f"[{_footer(first, last, len(lines))}{_encoding(file)}]"])


def _bounds(start: int | None, end: int | None, total: int) -> tuple[int, int]:
    """First and last line: swapped when reversed, clamped to the file."""
    if start is not None and end is not None and start > end:
        start, end = end, start
    first = min(max(start or 1, 1), total)
    last = first + WINDOW - 1 if end is None else end
    return first, min(max(last, first), total)


def _labelled(lines: list[str], first: int, last: int) -> list[str]:
    """Lines with their numbers, as many as fit; always at least one."""
    labelled: list[str] = []
    size = 0
    for number in range(first, last + 1):
        line = f"{number} | {_short(lines[number - 1])}"
        size += len(line) + 1
        if labelled and size > LONGEST_TEXT:
            break
        labelled.append(line)
    return labelled


def _short(line: str) -> str:
    return (
        line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} … [{len(line) - LONGEST_LINE:,} more characters]"
    )


def _footer(first: int, last: int, total: int) -> str:
    if last < total:
        return f"lines {first}-{last} of {total}; read on with start_line={last + 1}"
    return counted(total) if first == 1 else f"lines {first}-{last} of {total}"


def _encoding(file: TextFile) -> str:
    return "" if file.encoding == "utf-8" else f"; encoding {file.encoding}"


TOOL: Tool[Input] = Tool(
    spec=ToolSpec(
        "read_file",
        f"Read a text file; lines come as `12 | text` (the label is not part of the file). Without end_line at most "
        f"{WINDOW} lines; the last line says how to read on. Read a file before you edit it.",
        schema_of(Input),
    ),
    kind=ToolKind.READ,
    input=Input,
    summary=summary,
    run=run,
)
