"""Edits whose files changed: one that did not apply and the nearest text now, or one that waits for approval.

Queries: nothing is changed, and a file is read only if a tool could read it without asking, or the edit names it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.edits.formats import blocks, exact, patch
from halocline.edits.matching.nearest import find_conflicts
from halocline.edits.swapping import swap_hunks
from halocline.edits.text import EditError, read_text
from halocline.ports.host import Files
from halocline.ports.tool import ALIASES
from halocline.protocol.errors import UsageError
from halocline.protocol.events import ApprovalRequested, AssistantMessageCompleted, DurableEvent
from halocline.protocol.kinds import Diff
from halocline.protocol.messages import ToolCall
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.values import JsonObject, Value
from halocline.runtime.history.previews import readable_text
from halocline.runtime.parts.files import build_reading_files
from halocline.store.paths import Home
from halocline.task.calls.pending_approvals import EditConflict as Looked
from halocline.task.calls.policy_input import make_policy_context
from halocline.task.task import Task

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
    for path, edits in _list_edits(_find_logged_call(past, call)):
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


def _find_logged_call(past: Sequence[DurableEvent], call: str) -> ToolCall:
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


LARGEST = 2_000_000
WHOLE = "write_to_file"
"""The tool that writes whole files. It would overwrite other changes, so its edit may be merged with them."""


class PendingEdit(Looked, frozen=True, omit_defaults=False):
    """State of a waiting edit. `whole`: it replaces the whole file. `merged`: arguments that keep both, if possible."""

    whole: bool = False
    merged: JsonObject | None = None


async def inspect_edit(task: Task, request: str) -> PendingEdit:
    """Return the state of an edit that waits for approval."""
    now = await task.tool_calls.pending.look(request)
    asked = next((one for one in task.state.pending.approvals if one.request == request), None)
    if not now.changed or asked is None:
        return PendingEdit()
    found = PendingEdit(now.changed, now.diffs, now.seen, now.problem, whole=asked.name == WHOLE)
    call = _find_open_call(task, asked)
    if not found.whole or now.problem or call is None or len(asked.diffs) != 1:
        return found
    text = await _merge_diff(task.host.tools.files, Path(task.state.workspace), asked.diffs[0])
    key = next((name for name in call.arguments if ALIASES.get(name, name) == "content"), "content")
    return replace(found, merged=None if text is None else {**call.arguments, key: text})


async def _merge_diff(files: Files, workspace: Path, diff: Diff) -> str | None:
    """Return the current file with the edit applied; None if both changed the same lines."""
    path = workspace / diff.path
    try:
        info = await files.info(path)
        if info is None or not info.is_file or info.size > LARGEST:
            return None
        return swap_hunks((await read_text(files, path, LARGEST)).view, diff.text, back=False)
    except (EditError, OSError):
        return None


def _find_open_call(task: Task, asked: ApprovalRequested) -> ToolCall | None:
    return next((one.call for one in task.state.pending.calls if one.call.id == asked.call), None)
