"""A change of one file: read, planned as text, shown as a diff, written only over what was read."""

from pathlib import Path

from halocline.edits.diff import unified
from halocline.edits.text import BinaryContent, TextFile, decode, encode, to_lf
from halocline.ports.code import SyntaxRule
from halocline.ports.host import FileChangedOutside
from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import Diff, FileChanged
from halocline.protocol.messages import Text
from halocline.protocol.values import Value
from halocline.tools.places import explained, placed, shown

LARGEST_EDIT = 20_000_000
MOST_PROBLEMS = 5


class Original(Value, frozen=True):
    """A file before its edit. `data` is None when there is none yet; `file` is then empty."""

    path: Path
    name: str
    data: bytes | None
    file: TextFile


class Change(Value, frozen=True):
    """A planned edit: `report` is what the model reads once it is written."""

    original: Original
    file: TextFile
    report: str

    @property
    def diff(self) -> Diff:
        before = None if self.original.data is None else self.original.file.text
        return unified(self.original.name, before, self.file.text)


async def original(text: str, ctx: ToolContext) -> Original:
    """What the model wants to edit, as it is now.

    Raises:
        ToolFailure: it is a folder, binary, too large, or cannot be read.
    """
    path = placed(text, ctx)
    name = shown(path, ctx)
    with explained(path, ctx):
        info = await ctx.files.info(path)
        if info is None:
            return Original(path, name, None, TextFile(""))
        if not info.is_file:
            raise ToolFailure(f"{name} is {'a folder' if info.is_dir else 'no regular file'}, so it cannot be edited.")
        if info.size > LARGEST_EDIT:
            raise ToolFailure(f"{name} has {info.size:,} bytes, too many to edit here. Use execute_command.")
        data = await ctx.files.read(path, LARGEST_EDIT)
    return Original(path, name, data, _text(name, data))


def _text(name: str, data: bytes) -> TextFile:
    try:
        return decode(data)
    except BinaryContent:
        raise ToolFailure(
            f"{name} is a binary file of {len(data):,} bytes and is unchanged. Change it by a program that knows it."
        ) from None


async def approvable(change: Change, ctx: ToolContext) -> tuple[Diff, ...]:
    """The diff for a person's approval. Raises ToolFailure where `commit` would refuse the change."""
    if ctx.syntax_errors is SyntaxRule.REFUSE:
        await _verified(change, ctx)
    return (change.diff,)


async def _verified(change: Change, ctx: ToolContext) -> str:
    """What is said of syntax errors that the change introduces; empty when there are none to be seen.

    Raises:
        ToolFailure: there are, and the settings refuse such edits.
    """
    was = change.original
    if ctx.syntax_errors is SyntaxRule.OFF:
        return ""
    before = None if was.data is None else was.file.view
    problems = await ctx.code.problems(was.name, before, to_lf(change.file.text))
    if not problems:
        return ""
    places = [f"{p.line} | {p.text}{f'  (missing {p.missing})' if p.missing else ''}" for p in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS:
        places.append(f"and {len(problems) - MOST_PROBLEMS} more")
    found = "\n".join(places)
    if ctx.syntax_errors is SyntaxRule.REFUSE:
        raise ToolFailure(f"{was.name} is unchanged: this edit would bring in syntax errors. Correct it.\n{found}")
    return f"\nThis seems to bring in syntax errors; look at them and correct what is wrong:\n{found}"


async def commit(change: Change, ctx: ToolContext) -> ToolOutput:
    """Write the change and say what happened.

    Raises:
        ToolFailure: somebody changed the file meanwhile, or it cannot be written, or it brings in syntax errors and
            the settings refuse that; it is as it was.
    """
    was, data = change.original, encode(change.file)
    if data == was.data:
        return ToolOutput.of(f"{was.name} already has exactly this content; nothing was written.")
    warning = await _verified(change, ctx)
    before = None if was.data is None else ctx.blobs.put(was.data)
    changed = FileChanged(path=was.name, before=before, after=ctx.blobs.put(data), cause=ctx.call)
    with explained(was.path, ctx):
        try:
            await ctx.files.write(was.path, data, was.data)
        except FileChangedOutside:
            raise ToolFailure(f"{was.name} was changed by somebody else just now. Read it again, then edit.") from None
    return ToolOutput(content=(Text(change.report + warning),), diffs=(change.diff,), events=(changed,))
