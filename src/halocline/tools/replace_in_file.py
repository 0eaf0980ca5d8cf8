"""replace_in_file: SEARCH/REPLACE blocks on one file, all or none unless the settings allow partial edits."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from halocline import edits
from halocline.edits.text import EditError, Offsets, lines_of, to_lf
from halocline.ports.host import LARGEST_EDIT
from halocline.ports.tool import Summary, ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import AssistantMessage, Message, ToolResult
from halocline.tools import changes
from halocline.tools.places import find_existing

if TYPE_CHECKING:
    from halocline.edits.edit import Edit

_FORMAT = """\
Change parts of a file. `diff` is one or more blocks:
------- SEARCH
lines to find, copied exactly with their indentation
=======
replacement lines
+++++++ REPLACE
SEARCH must match exactly one place: use whole lines, and add surrounding lines when text repeats. Put blocks in file \
order; an empty REPLACE deletes. Either all blocks apply or none."""

_OLD_AND_NEW = """\
Change part of a file: `old_text` becomes `new_text`. `old_text` must be copied exactly from the file, with its \
indentation, and stand there once: use whole lines. An empty `new_text` deletes."""

_MANY = 3
"""Failed edits of a file in a row after which writing it whole is better."""
_LONG = 500
"""Lines of a file that is never to be written whole for one edit."""
ADVICE = " That was edit {count} of this file in a row that did not fit: write the file whole, with write_to_file."

_UNSAID = ("old_text", "new_text", "replace_all", "before_line", "line")


class Input(msgspec.Struct):
    """Blocks; or an old and a new text, as models trained on another agent's tool send them.

    With `before_line` (1-based; 0 for the end of the file) the new text becomes new lines. Of several places of the old
    text, or of the only block, the one nearest to `line` is meant.
    """

    path: Annotated[str, Meta(description="File to change.")]
    diff: Annotated[str | None, Meta(description="SEARCH/REPLACE blocks.")] = None
    old_text: Annotated[str | None, Meta(description="Text to find.")] = None
    new_text: Annotated[str, Meta(description="Text to put there.")] = ""
    replace_all: bool = False
    before_line: int | None = None
    line: int = 0

    def __post_init__(self) -> None:
        """Raises ValueError, which msgspec turns into its ValidationError."""
        if sum(way is not None for way in (self.diff, self.old_text, self.before_line)) != 1:
            raise ValueError("it needs `path` and `diff` (SEARCH/REPLACE blocks) and nothing else")


def summary(input: Input) -> Summary:
    return changes.summarize_edit("Edit", input.path)


async def _plan_changes(input: Input, ctx: ToolContext) -> list[changes.Change]:
    was = await changes.read_original(input.path, ctx, LARGEST_EDIT)
    if input.before_line is not None:
        return [_insert_lines(input.before_line, changes.restore_secrets(input.new_text, was, ctx), was)]
    try:
        apply = edits.plan.what_fits if ctx.task.partial_edits else edits.plan.all_or_none
        made, parts = changes.make_edits(was, _parse_edits(input, was, ctx), apply)
    except EditError as error:
        if was.data is None:
            await find_existing(input.path, ctx)
        lines = was.file.view.count("\n")
        advice = error.hint + _advise_after_failures(ctx.call.id, input.path, lines, ctx.task.messages())
        raise ToolFailure(f"{error.text}\n{was.name} is unchanged. {advice}", person=error.person) from None
    done = "Created" if was.data is None else "Edited"
    if made.failures:
        done = f"Some blocks do not match. Partly {done.lower()}"
    report = "\n".join([f"{done} {was.name}:", *map(str, made.applied), *made.failures])
    return [changes.Change(was, made.file, report, parts=None if was.data is None else parts)]


def _advise_after_failures(call: str, path: str, lines: int, messages: Sequence[Message]) -> str:
    """Return advice for the call of this ID, a failed edit of a file with this many lines; usually empty."""
    count = 1 + sum(takewhile(bool, _read_outcomes(call, path, messages)))
    return ADVICE.format(count=count) if count >= _MANY and lines <= _LONG else ""


def _read_outcomes(call: str, path: str, messages: Sequence[Message]) -> Iterator[bool]:
    """Yield for each earlier edit of the file whether it failed, latest first."""
    failed: dict[str, bool] = {}
    is_earlier = False
    for message in reversed(messages):
        if isinstance(message, ToolResult):
            failed[message.call] = message.is_error
        elif isinstance(message, AssistantMessage):
            for other in reversed(message.tool_calls):
                if is_earlier and (other.name, other.arguments.get("path")) == ("replace_in_file", path):
                    yield failed.get(other.id, False)
                is_earlier |= other.id == call


def _insert_lines(before: int, text: str, was: changes.Original) -> changes.Change:
    lines = lines_of(was.file.view)
    at = before - 1 if before else len(lines)
    if was.data is None or not 0 <= at <= len(lines):
        raise ToolFailure(f"{was.name} has no line {before}: it has {len(lines)}. Nothing changed.")
    whole = was.file.text
    place = Offsets(whole).original(min(sum(len(line) + 1 for line in lines[:at]), len(was.file.view)))
    new = to_lf(text)
    new = new if new.endswith("\n") or at == len(lines) else f"{new}\n"
    new = f"\n{new}" if place and whole[place - 1] != "\n" else new
    file = replace(was.file, text=whole[:place] + new.replace("\n", was.file.eol) + whole[place:])
    changes.require_encodable(was, file)
    return changes.Change(was, file, f"Edited {was.name}: new lines from line {at + 1} on.")


def _parse_edits(input: Input, was: changes.Original, ctx: ToolContext) -> "list[Edit]":
    if input.old_text is None:
        blocks = edits.formats.blocks.parse_blocks(changes.restore_secrets(input.diff or "", was, ctx), input.line)
        return edits.formats.blocks.without_stray_fences(blocks, was.file.view, input.path)
    old, new = changes.restore_secrets(input.old_text, was, ctx), changes.restore_secrets(input.new_text, was, ctx)
    return edits.formats.exact.parse_exact(old, new, everywhere=input.replace_all, near=input.line)


TOOL = changes.define_edit(
    "replace_in_file", _FORMAT, Input, summary, _plan_changes, unsaid=_UNSAID, required=("diff",)
)
_SPARED, _NEEDED = ("diff", *_UNSAID[2:]), ("old_text", "new_text")
OLD_AND_NEW = changes.define_edit(
    "replace_in_file", _OLD_AND_NEW, Input, summary, _plan_changes, unsaid=_SPARED, required=_NEEDED
)
"""The same tool as small models are told of it: they fill in the words of a block's markers, too."""
