"""write_to_file: creates or overwrites a whole file."""

from pathlib import PurePath
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from halocline.edits.text import count_lines, give_mark, lines_of, take_utf8, to_lf
from halocline.ports.tool import Summary, ToolContext
from halocline.tools import changes

_MARKDOWN = frozenset({".md", ".mdx", ".markdown", ".mkd", ".rmd", ".qmd"})


class Input(msgspec.Struct):
    path: Annotated[str, Meta(description="File path; missing folders are created.")]
    content: Annotated[str, Meta(description="Complete content of the file.")]


def summary(input: Input) -> Summary:
    return changes.summarize_edit("Write", input.path)


async def _plan_changes(input: Input, ctx: ToolContext) -> list[changes.Change]:
    was = await changes.read_original(input.path, ctx)
    changes.require_as_known(was, ctx)
    changes.require_read(was, ctx)
    content = changes.restore_secrets(_strip_fence(input.path, input.content), was, ctx)
    file = was.file.with_view(content) if was.data else replace(was.file, text=content)
    file = give_mark(take_utf8(file), ctx.host.files.declared_encoding(was.path))
    changes.require_encodable(was, file)
    converted = " It is now UTF-8; its encoding was uncertain." if file.encoding != was.file.encoding else ""
    return [changes.Change(was, file, _describe_write(was, content) + converted)]


def _describe_write(was: changes.Original, content: str) -> str:
    count = count_lines(len(lines_of(to_lf(content))))
    if was.data is None:
        return f"Created {was.name} ({count})."
    return f"Overwrote {was.name} ({count}, {len(lines_of(was.file.view))} before)."


def _strip_fence(path: str, content: str) -> str:
    """Strip the code fence that models put around a whole file; in Markdown a fence is content."""
    lines = content.strip().split("\n")
    fenced = len(lines) > 1 and lines[0].startswith("```") and lines[-1].rstrip() == "```"
    if not fenced or PurePath(path).suffix.lower() in _MARKDOWN:
        return content
    return "".join(f"{line}\n" for line in lines[1:-1])


DESCRIPTION = (
    "Create or overwrite a file with its complete content: omit nothing, no placeholders. "
    "To change part of a file, edit that part instead."
)
TOOL = changes.define_edit("write_to_file", DESCRIPTION, Input, summary, _plan_changes)
