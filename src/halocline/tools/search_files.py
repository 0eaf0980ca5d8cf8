"""search_files: lines that match a regular expression, grouped by file, bounded."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.context.budget import MATCHES, fitting
from halocline.ports.host import Match, SearchQuery
from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.events import ToolKind
from halocline.tools.places import existing, printable, shown
from halocline.tools.schema import schema_of

LIMIT = 300


class Input(msgspec.Struct):
    regex: Annotated[str, Meta(description="Regular expression, Rust syntax; `(?i)` ignores case.")]
    path: Annotated[str, Meta(description="Folder or file to search.")] = "."
    file_pattern: Annotated[str | None, Meta(description="Only files of this glob, such as `*.py`.")] = None


def summary(input: Input) -> Summary:
    where = f"{input.path} ({input.file_pattern})" if input.file_pattern else input.path
    return Summary(title=f"Search {where} for {input.regex}", kind=ToolKind.SEARCH, paths=(input.path,))


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    path, _ = await existing(input.path, ctx)
    result = await ctx.search.search(SearchQuery(str(path), input.regex, input.file_pattern or "", limit=LIMIT))
    if not result.matches:
        return ToolOutput.of(f"[no match in {shown(path, ctx)}; ignored and hidden files are not searched]")
    fitted = fitting(_grouped(result.matches, ctx), MATCHES)
    lines = list(fitted.lines)
    if result.cut or fitted.cut:
        lines.append("[there are more matches; narrow the regex, path or file_pattern]")
    return ToolOutput.of("\n".join(lines))


def _grouped(matches: tuple[Match, ...], ctx: ToolContext) -> Iterator[str]:
    """Each file's name, then its lines: `12: ` for a match, `12- ` for one beside it, `--` where lines are left out."""
    for path, group in groupby(matches, key=lambda match: match.path):
        yield printable(shown(Path(path), ctx))
        previous = None
        for match in group:
            if previous is not None and match.line > previous + 1:
                yield "--"
            yield f"{match.line}{':' if match.is_match else '-'} {match.text}"
            previous = match.line


TOOL: Tool[Input] = Tool(
    spec=ToolSpec(
        "search_files",
        f"Search file contents with a regular expression, one line of context around, at most {LIMIT} matches. "
        "Prefer it to grep; honours ignore files.",
        schema_of(Input),
    ),
    kind=ToolKind.SEARCH,
    input=Input,
    summary=summary,
    run=run,
)
