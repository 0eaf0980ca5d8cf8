"""Add previews of growing edits to a stream of events, for clients that show them; others pay nothing.

A file is read only if a tool could read it without asking. Nothing is written, and nothing fails.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from halocline.edits.text import EditError, read_text
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.host import Files
from halocline.ports.tool import ALIASES, Summary
from halocline.protocol import events as ev
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ToolKind
from halocline.protocol.permission_rules import Verdict
from halocline.protocol.state.state import State
from halocline.store.paths import Home
from halocline.task.calls.policy_input import make_policy_context

if TYPE_CHECKING:
    from halocline.edits.preview.growing_edit import GrowingEdit
    from halocline.edits.text import TextFile

LARGEST = 500_000
"""Largest file in bytes for which previews are made: indexing it takes a hundredth of a second."""
EDITING = frozenset({"replace_in_file", "write_to_file", "apply_patch"})

E = TypeVar("E")
GetText = Callable[[str], Awaitable["TextFile | None"]]


def add_previews(
    events: AsyncIterator[E], state: Callable[[], State], home: Home, files: Files
) -> AsyncIterator[E | ev.EditPreviewed]:
    """Add previews for a task, which reads these files; its `state` decides what may be read."""
    return with_previews(events, lambda path: readable_text(path, make_policy_context(state(), home.root), files))


async def with_previews(events: AsyncIterator[E], text_of: GetText) -> AsyncIterator[E | ev.EditPreviewed]:
    """Yield the events, and an `EditPreviewed` for each finished line of an edit. `text_of` reads a file by name."""
    growing: dict[str, GrowingEdit] = {}
    async for event in events:
        yield event
        match event:
            case ev.ToolCallDelta(name=name) if name in EDITING:
                if preview := await _grow_preview(growing, event, text_of):
                    yield preview
            case tuple():  # a client caught up: what is in progress is repeated
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
    """Return the preview after one more delta of a call; None if no line was finished."""
    if delta.call not in growing:
        from halocline.edits.preview.growing_edit import start_edit  # not loaded in a conversation without edits

        growing[delta.call] = start_edit(delta.name, ALIASES)
    edit = growing[delta.call]
    before = edit.growth
    edit.feed(delta.arguments)
    while edit.wanted:
        edit.know(await text_of(edit.wanted))
    now = edit.growth
    if now == before:
        return None
    return ev.EditPreviewed(delta.call, delta.name, now.path, now.number, now.line, now.added, now.removed, now.lines)


async def readable_text(name: str, policy: PolicyContext, files: Files) -> "TextFile | None":
    """Return a file's text if a tool could read it without asking and it is not too large, else None."""
    try:
        judged = decide_call(Summary("preview", ToolKind.READ, (name,)), policy)
        if judged.verdict is not Verdict.ALLOW:
            return None
        path = Path(judged.places[0])
        info = await files.info(path)
        if info is None or not info.is_file or info.size > LARGEST:
            return None
        return await read_text(files, path, LARGEST)
    except (OSError, EditError, ToolFailure):
        return None
