"""read_file: text with line numbers, in windows that say how to continue; documents as text, images as images.

What must stay true: a text is omitted as already read only if exactly the same text is in what the model reads.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from os.path import normpath
from pathlib import Path, PurePath
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from halocline.context.budget import FILE, Budget, fit_lines
from halocline.context.images import picture_facts
from halocline.context.pictures import describe_picture, load_picture
from halocline.edits.text import BinaryContent, TextFile, count_lines, decode_text, lines_of
from halocline.files.encodings import decode_exactly
from halocline.ports.blobs import blob_reference
from halocline.ports.documents import DocumentKind
from halocline.ports.host import FileInfo
from halocline.ports.tool import Summary, ToolContext, ToolOutput
from halocline.protocol import messages as msg
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.tool_calls import SeenFile
from halocline.protocol.kinds import Location, ToolKind
from halocline.tools.places import explaining_errors, find_existing, shown_path
from halocline.tools.schema import define_tool

LARGEST_FILE = 20_000_000
_NEAR = 400
"""Lines before and after a window that are checked too, for secrets that reach into it."""
WORTH_LEAVING_OUT = 1_000
"""Minimum characters for a repeated text to be replaced by a note."""
ALREADY_READ = "[unchanged: you were given this same text above. Ask once more to have it repeated.]"
MOST_FILES = 20
_BLOB = "sha256:"


class Input(msgspec.Struct):
    """One file; or several, as models trained on another agent's tool ask for them."""

    path: Annotated[str, Meta(description="File path, relative to the workspace or absolute.")] = ""
    start_line: Annotated[int | None, Meta(description="First line, 1-based.")] = None
    end_line: Annotated[int | None, Meta(description="Last line, inclusive.")] = None
    files: list[Any] = []
    paths: list[str] = []

    def __post_init__(self) -> None:
        """Raises ValueError, which msgspec turns into its ValidationError."""
        if len(self.files) + len(self.paths) > MOST_FILES or not all(part.path for part in self.parts):
            raise ValueError(f"it needs `path`, or `files` with up to {MOST_FILES} of them")

    @property
    def parts(self) -> "list[Input]":
        """The files to read, each with its lines."""
        given = ({"path": part} if isinstance(part, str) else part for part in (*self.files, *self.paths))
        return [msgspec.convert(part, Input, strict=False) for part in given] or [self]


def summary(input: Input) -> Summary:
    paths = tuple(part.path for part in input.parts)
    return Summary(
        title=f"Read {', '.join(paths)}",
        kind=ToolKind.READ,
        paths=paths,
        locations=tuple(Location(part.path, part.start_line) for part in input.parts),
    )


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    if input.parts == [input]:
        return await _read_one(input, ctx)
    found = [await _read_or_explain(part, ctx) for part in input.parts]
    named = ((msg.Text(f"{part.path}:"), *output.content) for part, output in zip(input.parts, found, strict=True))
    seen = tuple(file for output in found for file in output.seen)
    return ToolOutput(tuple(chain(*named)), seen=seen, redacted=all(output.redacted for output in found))


async def _read_or_explain(part: Input, ctx: ToolContext) -> ToolOutput:
    """Read one of several files; one that cannot be read costs only itself."""
    try:
        return await _read_one(part, ctx)
    except ToolFailure as failure:
        return ToolOutput((msg.Text(ctx.secrets.redact(failure.text)),), redacted=True)


async def _read_one(input: Input, ctx: ToolContext) -> ToolOutput:
    if input.path.startswith(_BLOB):
        return _show_window(_read_kept(input.path, ctx), input, ctx)
    path, info = await find_existing(input.path, ctx)
    name = shown_path(path, ctx)
    _require_readable(name, info)
    if info.size > LARGEST_FILE:
        return await _part_of_large(name, path, input, ctx)
    with explaining_errors(path, ctx):
        data = await ctx.host.files.read(path, LARGEST_FILE)
    return replace(await _show_file(name, path, data, input, ctx), seen=(SeenFile(name, blob_reference(data)),))


async def _show_file(name: str, path: Path, data: bytes, input: Input, ctx: ToolContext) -> ToolOutput:
    if kind := _document_kind(name, data):
        return _show_window(await _document_text(kind, name, data, ctx), input, ctx, f" of the text in {name}")
    try:
        return _show_window(decode_text(data, ctx.host.files.declared_encoding(path)), input, ctx)
    except BinaryContent:
        if data.count(b"\n") > data.count(b"\0") and decode_exactly(data, "utf-8") is not None:
            raise ToolFailure(
                f"{name} has NUL bytes, so it is not read as text. To see its lines, use search_files with path={name}."
            ) from None
        return await _show_picture(name, data, ctx)


async def _show_picture(name: str, data: bytes, ctx: ToolContext) -> ToolOutput:
    facts = picture_facts(data)
    if facts is None:
        raise ToolFailure(f"{name} is a binary file ({len(data):,} bytes) without readable text.")
    if not ctx.task.takes_images():
        description = describe_picture(name, data, facts)
        raise ToolFailure(f"{description}. This model cannot view images. Continue without seeing it.")
    description, image = await load_picture(name, data, ctx.host.documents, ctx.host.blobs)
    return ToolOutput((msg.Text(f"[{description}]"), image))


def _require_readable(name: str, info: FileInfo) -> None:
    if info.is_dir:
        raise ToolFailure(f"{name} is a folder. Use list_files to see its contents.")
    if not info.is_file:
        raise ToolFailure(f"{name} is a device, pipe or socket. Only regular files can be read.")


async def _part_of_large(name: str, path: Path, input: Input, ctx: ToolContext) -> ToolOutput:
    """Read lines of a file too large for memory. Lines around them are checked for secrets that reach into them."""
    start, end = input.start_line or 1, input.end_line
    if end is not None and start > end:
        start, end = end, start
    last = end or start + (FILE.lines or 0) - 1
    with explaining_errors(path, ctx):
        part = await ctx.host.files.read_lines(path, start - _NEAR, last + _NEAR, LARGEST_FILE)
        if part.data.count(b"\n") < min(start, part.total) - part.first:  # lines too long: none of these was read
            part = await ctx.host.files.read_lines(path, start, last, LARGEST_FILE)
    if not part.encoding:
        raise ToolFailure(
            f"{name} is too large: binary files, documents and UTF-16 text without a mark are read up to "
            f"{LARGEST_FILE:,} bytes. Find the part you need with search_files."
        )
    lines = lines_of(part.data.decode(part.encoding, "replace").removeprefix("\ufeff").replace("\r\n", "\n"))
    lines = ctx.secrets.redact("\n".join(lines)).split("\n")
    first = min(max(start, part.first), part.total)
    wanted = lines[first - part.first : min(last, part.total) - part.first + 1]
    shown_lines = fit_lines(wanted, _budget_for(end), numbered_from=first).lines
    footer = _footer_line(first, first + len(shown_lines) - 1, part.total)
    text = "\n".join([*shown_lines, f"[{footer}{_describe_encoding(TextFile('', part.encoding))}]"])
    return _give_text(text, input, ctx)


def _read_kept(reference: str, ctx: ToolContext) -> TextFile:
    """Return a text that was too long to show, by the reference in its result."""
    try:
        return decode_text(ctx.host.blobs.get(reference))
    except (KeyError, BinaryContent):
        raise ToolFailure(f"No text is stored as {reference}. Copy the reference exactly from the result.") from None


def _document_kind(name: str, data: bytes) -> str:
    """Return the kind of document, empty if it is none. Content is checked too: a name alone could be wrong."""
    kind = PurePath(name).suffix.lower()[1:].replace("xlsm", "xlsx").replace("docm", "docx")
    if data.startswith(b"%PDF-"):
        return "pdf"
    packed = kind in ("docx", "xlsx") and data.startswith(b"PK")
    return kind if packed or (kind == "ipynb" and data.strip()) else ""


async def _document_text(kind: str, name: str, data: bytes, ctx: ToolContext) -> TextFile:

    try:
        return TextFile(await ctx.host.documents.text(DocumentKind(kind), data))
    except ToolFailure as failure:
        raise ToolFailure(f"{name} is a document ({kind}). {failure.text}") from None


def _show_window(file: TextFile, input: Input, ctx: ToolContext, what: str = "") -> ToolOutput:
    text = _format_window(file, input.start_line, input.end_line, what, ctx.secrets.redact)
    return _give_text(text, input, ctx)


def _give_text(text: str, input: Input, ctx: ToolContext) -> ToolOutput:
    """Return the text, which has been redacted, or a note if the model has it."""
    is_known = len(text) >= WORTH_LEAVING_OUT and _is_known(text, input.path, ctx.task.messages())
    shown = ALREADY_READ if is_known else text
    return ToolOutput((msg.Text(shown),), redacted=True)


def _is_known(text: str, path: str, messages: Sequence[msg.Message]) -> bool:
    """True if the model has this text and was not yet sent back to it: if it asks again, it lost it."""
    label, end, wanted = f"{normpath(path)}: ", f"\n{text}", msg.Text(text)
    if not _is_somewhere(wanted, label, end, messages):
        return False
    calls: set[str] = set()
    known = False
    for message in messages:
        if isinstance(message, msg.AssistantMessage):
            calls = {part.id for part in message.content if isinstance(part, msg.ToolCall) and _is_read_of(part, path)}
        elif isinstance(message, msg.ToolResult):
            if calls and message.call in calls and message.content:
                first = message.content[0]
                said = first.text if isinstance(first, msg.Text) else ""
                if known and said == ALREADY_READ:
                    return False
                known = known or said == text
        elif not known:
            known = any(_is_given(part, label, end) for part in message.content)
    return known


def _is_somewhere(wanted: msg.Text, label: str, end: str, messages: Sequence[msg.Message]) -> bool:
    """True if any message has the text. Kept cheap: there may be thousands of messages, and each read checks them."""
    results = [message.content for message in messages if isinstance(message, msg.ToolResult)]
    if any(content[:1] == (wanted,) for content in results):
        return True
    prompts = [message for message in messages if isinstance(message, msg.UserMessage)]
    return any(_is_given(part, label, end) for message in prompts for part in message.content)


def _is_given(part: msg.UserPart, label: str, end: str) -> bool:
    """True if the part is the same text of that file, from a mention by the user."""
    return isinstance(part, msg.Note) and part.text.startswith(label) and part.text.endswith(end)


def _is_read_of(call: msg.ToolCall, path: str) -> bool:
    return call.name == "read_file" and call.arguments.get("path") == path


def _format_window(
    file: TextFile, start: int | None, end: int | None, what: str = "", redact: Callable[[str], str] = str
) -> str:
    """Format the requested lines with labels, then their position in the file."""
    lines = lines_of(file.view)
    if not lines:
        return "[the file is empty]"
    first, last = _line_bounds(start, end, len(lines))
    budget = _budget_for(end)
    wanted = _redact_lines(lines, first - 1, min(last, first - 1 + (budget.lines or last)), redact)
    shown_lines = fit_lines(wanted, budget, numbered_from=first).lines
    last = first + len(shown_lines) - 1
    return "\n".join([*shown_lines, f"[{_footer_line(first, last, len(lines))}{what}{_describe_encoding(file)}]"])


def _redact_lines(lines: Sequence[str], first: int, last: int, redact: Callable[[str], str]) -> list[str]:
    """Return these lines without secrets, which may span lines and begin before the first or end after the last."""
    begin, end = max(0, first - _NEAR), last + _NEAR
    near = redact("\n".join(lines[begin:end])).split("\n")
    return near[first - begin : last - begin]


def _budget_for(end: int | None) -> Budget:
    """Return the budget; an explicit last line replaces the limit on lines."""
    return FILE if end is None else replace(FILE, lines=None)


def _line_bounds(start: int | None, end: int | None, total: int) -> tuple[int, int]:
    """Return first and last line: swapped if reversed, clamped to the file."""
    if start is not None and end is not None and start > end:
        start, end = end, start
    first = min(max(start or 1, 1), total)
    return first, min(max(end or total, first), total)


def _footer_line(first: int, last: int, total: int) -> str:
    if last < total:
        return f"lines {first}-{last} of {total}; read on with start_line={last + 1}"
    return count_lines(total) if first == 1 else f"lines {first}-{last} of {total}"


def _describe_encoding(file: TextFile) -> str:
    if file.known is not None:
        return f"; encoding uncertain, shown as {file.encoding}"
    return "" if file.encoding == "utf-8" else f"; encoding {file.encoding}"


DESCRIPTION = (
    "Read a file: text, image, PDF, docx, xlsx, notebook. Lines are labeled `12 | text` (the label is not part of "
    f"the file). Without end_line, returns at most {FILE.lines} lines; the last line says how to continue. Read a "
    "file before you edit it."
)
TOOL = define_tool(
    "read_file", DESCRIPTION, ToolKind.READ, Input, summary, run, unsaid=("files", "paths"), required=("path",)
)
