"""replace_in_file: SEARCH/REPLACE blocks on one file, all or none."""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.edits.text import EditError, encode
from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import Diff, Location, ToolKind
from halocline.tools.changes import Change, approvable, commit, original
from halocline.tools.places import existing
from halocline.tools.schema import schema_of

_FORMAT = """\
Change parts of a file. `diff` is one or more blocks:
------- SEARCH
lines to find, copied exactly with their indentation
=======
lines to put there
+++++++ REPLACE
SEARCH must fit exactly one place: use whole lines, and add lines around when text repeats. Blocks in file order; \
empty REPLACE deletes. All blocks are applied or none."""


class Input(msgspec.Struct):
    path: Annotated[str, Meta(description="File to change.")]
    diff: Annotated[str, Meta(description="SEARCH/REPLACE blocks.")]


def summary(input: Input) -> Summary:
    return Summary(
        title=f"Edit {input.path}",
        kind=ToolKind.EDIT,
        paths=(input.path,),
        locations=(Location(input.path),),
    )


async def preview(input: Input, ctx: ToolContext) -> tuple[Diff, ...]:
    return await approvable([await _plan(input, ctx)], ctx)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    return await commit(await _plan(input, ctx), ctx)


async def _plan(input: Input, ctx: ToolContext) -> Change:
    from halocline.edits.blocks import parse  # the first request of a task must not wait for it
    from halocline.edits.plan import apply

    was = await original(input.path, ctx)
    try:
        file, applied = apply(was.file, parse(input.diff))
        encode(file)
    except EditError as error:
        if was.data is None:
            await existing(input.path, ctx)
        raise ToolFailure(f"{error.text}\n{was.name} is unchanged. {error.hint}") from None
    done = "Created" if was.data is None else "Edited"
    return Change(was, file, "\n".join([f"{done} {was.name}:", *map(str, applied)]))


TOOL: Tool[Input] = Tool(
    spec=ToolSpec("replace_in_file", _FORMAT, schema_of(Input)),
    kind=ToolKind.EDIT,
    input=Input,
    summary=summary,
    run=run,
    edits=True,
    preview=preview,
)
