"""Explain an edit that did not apply: the text it searched for, and the nearest text in its files now.

A query: nothing is changed, and a file is read only if a tool could read it without asking.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from halocline.edits.conflicts import find_conflicts
from halocline.edits.formats import blocks, exact, patch
from halocline.edits.text import EditError
from halocline.ports.tool import ALIASES
from halocline.protocol.errors import UsageError
from halocline.protocol.events import AssistantMessageCompleted, DurableEvent
from halocline.protocol.messages import ToolCall
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.values import JsonObject, Value
from halocline.runtime.assembly.files import build_reading_files
from halocline.runtime.history.previews import readable_text
from halocline.store.paths import Home
from halocline.task.calls.policy_input import make_policy_context

if TYPE_CHECKING:
    from halocline.edits.edit import Edit

LINE = 400
"""Characters shown of a line."""


class ConflictingEdit(Value, frozen=True):
    """One edit of `path` that has no unique place. `there` are the file's current lines from `first` on."""

    path: str
    name: str
    why: str
    search: tuple[str, ...]
    there: tuple[str, ...]
    replace: tuple[str, ...]
    first: int


class ConflictingEdits(Value, frozen=True, omit_defaults=False):
    """Conflicts of a call. `unread` files cannot be shown; in `fits`, all edits would apply now."""

    clashes: tuple[ConflictingEdit, ...] = ()
    unread: tuple[str, ...] = ()
    fits: tuple[str, ...] = ()


async def find_conflicting_edits(past: Sequence[DurableEvent], call: str, home: Home) -> ConflictingEdits:
    """Return the edits of a call that do not apply to its files as they are now. Raises UsageError."""
    policy, files = make_policy_context(fold_events(past), home.root), build_reading_files()
    found: list[ConflictingEdit] = []
    unread, fits = [], []
    for path, edits in _list_edits(_find_call(past, call)):
        text = await readable_text(path, policy, files)
        if text is None:
            unread.append(path)
        elif misses := find_conflicts(text.view, edits):
            found += [
                ConflictingEdit(
                    path,
                    one.name,
                    one.why,
                    _cut_lines(one.search),
                    _cut_lines(one.there),
                    _cut_lines(one.replace),
                    one.first,
                )
                for one in misses
            ]
        else:
            fits.append(path)
    return ConflictingEdits(tuple(found), tuple(unread), tuple(fits))


def _find_call(past: Sequence[DurableEvent], call: str) -> ToolCall:
    for event in past:
        if isinstance(event, AssistantMessageCompleted):
            for part in event.message.content:
                if isinstance(part, ToolCall) and part.id == call:
                    return part
    raise UsageError(f"This task has no call {call}.", "Reload the page.")


def _list_edits(call: ToolCall) -> "list[tuple[str, Sequence[Edit]]]":
    """Return the files of a call and the edits of each. Raises UsageError if it has none."""
    given: JsonObject = {ALIASES.get(name, name): value for name, value in call.arguments.items()}
    try:
        match call.name, given:
            case "replace_in_file", {"path": str(path), "diff": str(text)}:
                return [(path, blocks.parse_blocks(text))]
            case "replace_in_file", {"path": str(path), "old_text": str(old)}:
                return [(path, exact.parse_exact(old, str(given.get("new_text", ""))))]
            case "apply_patch", {"input": str(text)}:
                return [(one.path, one.edits) for one in patch.parse_patch(text) if one.action == "update"]
    except EditError as error:
        raise UsageError(error.text, "The edit could not be parsed, so there is nothing to compare.") from None
    raise UsageError("This call does not edit parts of files.", "Read its result instead.")


def _cut_lines(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line[:LINE] for line in lines)
