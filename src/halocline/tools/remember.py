"""remember: proposes a note for later tasks. The user reviews each one first, since notes steer all later tasks.

What must stay true: nothing that looks like a secret is written, and a note that was not accepted leaves no trace.
"""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from halocline.context.user_files import memory
from halocline.ports.tool import Summary, Tool, ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import Location, ToolKind
from halocline.tools.changes import Change, define_edit, read_original

SECRET = (
    "The note looks as if it contains a secret, so nothing was written. Say where the secret is kept, not what it is, "
    "and do not write `name: value` with words like token or password."
)
FULL = (
    f"The notes are full (at most {memory.LONGEST:,} characters). Replace one that is out of date, or tell the user, "
    "who can clean them up with: halo memory edit"
)


class Input(msgspec.Struct):
    note: Annotated[str, Meta(description="One lasting fact or preference, in a sentence or two.")]
    scope: Annotated[
        Literal["personal", "project"],
        Meta(description="personal: for this user; project: in the repository, for everyone."),
    ] = "personal"
    replaces: Annotated[str, Meta(description="Beginning of the existing note that this one replaces.")] = ""


def summary(input: Input) -> Summary:
    paths = (memory.PROJECT,) if input.scope == "project" else ()
    whose = "for everyone in this project" if paths else "for you"
    return Summary(
        title=f"Remember {whose}: {' '.join(input.note.split())[: memory.LONGEST_NOTE]}",
        kind=ToolKind.EDIT,
        paths=paths,
        locations=tuple(map(Location, paths)),
    )


def kept_in(folder: Path | None) -> Tool[Input]:
    """Build the tool for a task with memory on; `folder` holds personal notes."""
    plan = partial(_plan_changes, folder=folder)
    return define_edit("remember", DESCRIPTION, Input, summary, plan, keeps_in=folder)


async def _plan_changes(input: Input, ctx: ToolContext, folder: Path | None) -> list[Change]:
    note = _check_note(input.note, ctx)
    was = await read_original(_file_place(input, ctx, folder), ctx)
    line = memory.line_of(note, _format_today(), ctx.task.folder.name)
    old = _find_note(input.replaces, memory.parse_memos(was.file.view))
    text = memory.replace_memo(was.file.view, old, line) if old else memory.add_memo(was.file.view, line)
    if len(text) > memory.LONGEST and len(text) > len(was.file.view):
        raise ToolFailure(FULL)
    report = "Saved. Later tasks in this folder start with it."
    # A personal file is outside the workspace, so its changes are not tracked.
    return [Change(was, was.file.with_view(text), report, is_tracked=input.scope == "project")]


def _file_place(input: Input, ctx: ToolContext, folder: Path | None) -> str:
    if folder is None:
        raise ToolFailure("Memory is off, so nothing was written. The user can turn it on in the settings.")
    if input.scope == "project":
        if memory.leads_out(ctx.workspace):
            raise ToolFailure(
                f"{memory.PROJECT} is a link to a file outside the project. Nothing was written; tell the user."
            )
        return memory.PROJECT
    return str(memory.personal_file(folder, ctx.workspace))


def _check_note(text: str, ctx: ToolContext) -> str:
    """Return the note on one line. Raises ToolFailure if it is empty, too long, hidden or secret."""
    note = " ".join(text.split())
    if not note:
        raise ToolFailure("note is empty. Set it to the fact to remember.")
    if len(note) > memory.LONGEST_NOTE:
        raise ToolFailure(
            f"The note has {len(note)} characters; the limit is {memory.LONGEST_NOTE}. State only the fact."
        )
    if "<!--" in note or not note.isprintable():
        raise ToolFailure("The note has characters that a reader cannot see. Write plain text.")
    if "[redacted" in ctx.secrets.redact_thoroughly(note):
        raise ToolFailure(SECRET)
    return note


def _find_note(beginning: str, notes: tuple[memory.Memo, ...]) -> memory.Memo | None:
    """Return the note to replace, None if none is named. Raises ToolFailure unless exactly one matches."""
    beginning = " ".join(beginning.split())
    if not beginning:
        return None
    found = [memo for memo in notes if " ".join(memo.text.split()).startswith(beginning)]
    if len(found) != 1:
        raise ToolFailure(
            f"{len(found) or 'No'} notes begin with {beginning!r}. Nothing was written; match exactly one."
        )
    return found[0]


def _format_today() -> str:
    import time

    return time.strftime("%Y-%m-%d")


DESCRIPTION = (
    "Propose a note for all later tasks in this folder: a lasting preference of the user, or a fact that was hard "
    "to find out and is in no file. The user accepts or declines it. Use it rarely; not for this task's state."
)
TOOL = kept_in(None)
