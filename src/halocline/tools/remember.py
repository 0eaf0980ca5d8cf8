"""remember: proposes a note for later tasks. A person reads each one first: what is remembered steers all of them.

What must stay true: nothing that looks like a secret is written, and a note that was not accepted leaves no trace.
"""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from halocline.context.user_files.memory import (
    LONGEST,
    LONGEST_NOTE,
    PROJECT,
    Memo,
    add_memo,
    leads_out,
    line_of,
    parse_memos,
    personal_file,
    replace_memo,
)
from halocline.ports.tool import AnyTool, Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import Diff, Location, ToolKind
from halocline.tools.changes import Change, read_original, show_changes, write_change
from halocline.tools.schema import schema_of

SECRET = (
    "This looks as if a secret were in it, so nothing was written. Say where it is kept, not what it is, and write no "
    "`name: value` with words like token or password."
)
FULL = (
    f"There is no room: the notes may have {LONGEST:,} characters. Replace one that is out of date, or tell the user, "
    "who can tidy them up with: halo memory edit"
)


class Input(msgspec.Struct):
    note: Annotated[str, Meta(description="One fact or wish that lasts, in a sentence or two.")]
    scope: Annotated[
        Literal["personal", "project"],
        Meta(description="personal: for this user; project: in the repository, for everybody."),
    ] = "personal"
    replaces: Annotated[str, Meta(description="How the note begins that this one takes the place of.")] = ""


def summary(input: Input) -> Summary:
    paths = (PROJECT,) if input.scope == "project" else ()
    whose = "for everybody in this project" if paths else "for you"
    return Summary(
        title=f"Remember {whose}: {' '.join(input.note.split())[:LONGEST_NOTE]}",
        kind=ToolKind.EDIT,
        paths=paths,
        locations=tuple(map(Location, paths)),
    )


async def preview(input: Input, ctx: ToolContext, folder: Path | None = None) -> tuple[Diff, ...]:
    return await show_changes([await _plan_change(input, ctx, folder)], ctx)


async def run(input: Input, ctx: ToolContext, folder: Path | None = None) -> ToolOutput:
    done = await write_change(await _plan_change(input, ctx, folder), ctx)
    # A person's own file is none of the workspace's, so nobody has to follow what becomes of it.
    return done if input.scope == "project" else replace(done, events=())


def kept_in(folder: Path) -> AnyTool:
    """The tool where memory is on, with the folder for personal notes."""
    return replace(TOOL, run=partial(run, folder=folder), preview=partial(preview, folder=folder), keeps_in=folder)


async def _plan_change(input: Input, ctx: ToolContext, folder: Path | None) -> Change:
    note = _check_note(input.note, ctx)
    was = await read_original(_file_place(input, ctx, folder), ctx)
    line = line_of(note, _format_today(), ctx.task.folder.name)
    old = _find_note(input.replaces, parse_memos(was.file.view))
    text = replace_memo(was.file.view, old, line) if old else add_memo(was.file.view, line)
    if len(text) > LONGEST and len(text) > len(was.file.view):
        raise ToolFailure(FULL)
    return Change(was, was.file.with_view(text), "Noted. Later tasks in this folder begin with it.")


def _file_place(input: Input, ctx: ToolContext, folder: Path | None) -> str:
    if folder is None:
        raise ToolFailure("Memory is off here, so nothing was written. The user switches it on in the settings.")
    if input.scope == "project":
        if leads_out(ctx.workspace):
            raise ToolFailure(
                f"{PROJECT} is a link to a place outside the project. Nothing was written; tell the user."
            )
        return PROJECT
    return str(personal_file(folder, ctx.workspace))


def _check_note(text: str, ctx: ToolContext) -> str:
    """Raises ToolFailure for what must not be, or is no note."""
    note = " ".join(text.split())
    if not note:
        raise ToolFailure("The note is empty.")
    if len(note) > LONGEST_NOTE:
        raise ToolFailure(f"The note has {len(note)} characters, the most is {LONGEST_NOTE}. Say the fact only.")
    if "<!--" in note or not note.isprintable():
        raise ToolFailure("The note has characters that a reader would not see. Write plain words.")
    if "[redacted" in ctx.secrets.redact_thoroughly(note):
        raise ToolFailure(SECRET)
    return note


def _find_note(beginning: str, notes: tuple[Memo, ...]) -> Memo | None:
    """The note to replace, None when there is none wanted. Raises ToolFailure when not exactly one begins so."""
    beginning = " ".join(beginning.split())
    if not beginning:
        return None
    found = [memo for memo in notes if " ".join(memo.text.split()).startswith(beginning)]
    if len(found) != 1:
        raise ToolFailure(f"{len(found) or 'No'} notes begin with {beginning!r} there. Nothing was written.")
    return found[0]


def _format_today() -> str:
    import time

    return time.strftime("%Y-%m-%d")


TOOL: Tool[Input] = Tool(
    spec=ToolSpec(
        "remember",
        "Propose a note that later tasks in this folder begin with: what the user wants always, or what was hard to "
        "find out and is in no file. The user accepts or declines it. Use it rarely; not for this task's state.",
        schema_of(Input),
    ),
    kind=ToolKind.EDIT,
    input=Input,
    summary=summary,
    run=run,
    edits=True,
    preview=preview,
)
