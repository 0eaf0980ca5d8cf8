"""Events with what a growing edit looks like between them, for a client that shows it. Nobody else pays for it.

A file is read for this only where a tool could read it without asking. Nothing is written, and nothing fails.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.host import Files
from halocline.ports.tool import ALIASES, Summary
from halocline.protocol import events as ev
from halocline.protocol.errors import ToolFailure
from halocline.protocol.permission_rules import Verdict
from halocline.protocol.state.state import State
from halocline.runtime.assembly.optional_parts import build_reading_files
from halocline.store.paths import Home
from halocline.task.calls.policy_input import make_policy_context

if TYPE_CHECKING:
    from halocline.edits.preview import GrowingEdit
    from halocline.edits.text import TextFile

LARGEST = 500_000
"""Bytes of a file in which places are looked for: an index of it takes a hundredth of a second."""
EDITING = frozenset({"replace_in_file", "write_to_file", "apply_patch"})

E = TypeVar("E")
GetText = Callable[[str], Awaitable["TextFile | None"]]


def add_previews(
    events: AsyncIterator[E], state: Callable[[], State], home: Home
) -> AsyncIterator[E | ev.EditPreviewed]:
    """The same for a task, of which the `state` tells what may be read."""
    files = build_reading_files()
    return with_previews(events, lambda path: readable_text(path, make_policy_context(state(), home.root), files))


async def with_previews(events: AsyncIterator[E], text_of: GetText) -> AsyncIterator[E | ev.EditPreviewed]:
    """The events, and an `EditPreviewed` whenever a line of an edit was written. `text_of` gives a file by its name."""
    growing: dict[str, GrowingEdit] = {}
    async for event in events:
        yield event
        match event:
            case ev.ToolCallDelta(name=name) if name in EDITING:
                if preview := await _grow_preview(growing, event, text_of):
                    yield preview
            case tuple():  # what goes on is said anew
                growing.clear()
                written = [one for one in event if isinstance(one, ev.ToolCallDelta) and one.name in EDITING]
                for delta in written:
                    if preview := await _grow_preview(growing, delta, text_of):
                        yield preview
            case ev.AssistantMessageCompleted() | ev.StepRetried() | ev.TurnEnded():
                growing.clear()


async def _grow_preview(
    growing: "dict[str, GrowingEdit]", delta: ev.ToolCallDelta, text_of: GetText
) -> ev.EditPreviewed | None:
    """What one more piece of a call adds; None when no line became whole."""
    if delta.call not in growing:
        from halocline.edits.preview import GrowingEdit  # a conversation without edits does without

        growing[delta.call] = GrowingEdit(delta.name, ALIASES)
    edit = growing[delta.call]
    before = edit.growth
    edit.feed(delta.arguments)
    while edit.wanted:
        edit.know(await text_of(edit.wanted))
    now = edit.growth
    if now == before:
        return None
    return ev.EditPreviewed(delta.call, delta.name, now.path, now.number, now.line, now.added, now.removed, now.lines)


async def readable_text(name: str, posture: PolicyContext, files: Files) -> "TextFile | None":
    """A file's text, if a tool could read it without asking and it is of a usual size."""
    from halocline.edits.text import EditError, decode_text

    try:
        judged = decide_call(Summary("preview", ev.ToolKind.READ, (name,)), posture)
        if judged.verdict is not Verdict.ALLOW:
            return None
        path = Path(judged.places[0])
        info = await files.info(path)
        if info is None or not info.is_file or info.size > LARGEST:
            return None
        return decode_text(await files.read(path, LARGEST))
    except (OSError, EditError, ToolFailure):
        return None
