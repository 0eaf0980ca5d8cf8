"""write_to_file: a whole file at once, new or in place of an old one."""

from pathlib import PurePath
from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.edits.text import NotEncodable, TextFile, counted, encode, lines_of, to_lf
from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.events import Diff, Location, ToolKind
from halocline.tools.changes import Change, Original, approvable, commit, original, require_as_known, restored
from halocline.tools.schema import schema_of

_MARKDOWN = frozenset({".md", ".mdx", ".markdown", ".mkd", ".rmd", ".qmd"})


class Input(msgspec.Struct):
    path: Annotated[str, Meta(description="File path; missing folders are made.")]
    content: Annotated[str, Meta(description="The complete text of the file.")]


def summary(input: Input) -> Summary:
    return Summary(
        title=f"Write {input.path}",
        kind=ToolKind.EDIT,
        paths=(input.path,),
        locations=(Location(input.path),),
    )


async def preview(input: Input, ctx: ToolContext) -> tuple[Diff, ...]:
    return await approvable([await _plan(input, ctx)], ctx)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    return await commit(await _plan(input, ctx), ctx)


async def _plan(input: Input, ctx: ToolContext) -> Change:
    was = await original(input.path, ctx)
    require_as_known(was, ctx)
    content = restored(_unfenced(input.path, input.content), was, ctx)
    file = TextFile(content) if not was.data else was.file.with_view(content)
    note = ""
    try:
        encode(file)
    except NotEncodable:
        file = TextFile(file.text)
        note = f" It was {was.file.encoding}, which cannot hold this text, and is UTF-8 now."
    return Change(was, file, _report(was, content) + note)


def _report(was: Original, content: str) -> str:
    count = counted(len(lines_of(to_lf(content))))
    if was.data is None:
        return f"Created {was.name} ({count})."
    return f"Overwrote {was.name} ({count}, {len(lines_of(was.file.view))} before)."


def _unfenced(path: str, content: str) -> str:
    """Without the code fence that models put around a whole file; in Markdown a fence is content."""
    lines = content.strip().split("\n")
    fenced = len(lines) > 1 and lines[0].startswith("```") and lines[-1].rstrip() == "```"
    if not fenced or PurePath(path).suffix.lower() in _MARKDOWN:
        return content
    return "".join(f"{line}\n" for line in lines[1:-1])


TOOL: Tool[Input] = Tool(
    spec=ToolSpec(
        "write_to_file",
        "Create a file, or overwrite one, with its complete content: nothing left out, no placeholders. "
        "To change a part of a file, edit that part instead.",
        schema_of(Input),
    ),
    kind=ToolKind.EDIT,
    input=Input,
    summary=summary,
    run=run,
    edits=True,
    preview=preview,
)
