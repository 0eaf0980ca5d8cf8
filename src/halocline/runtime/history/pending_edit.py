"""An edit that waits for approval while its file changes: what it would do now, and a merge of both changes.

Nothing is changed here: the person's decision is a command.
"""

from pathlib import Path

from msgspec.structs import replace

from halocline.edits.swapping import swap_hunks
from halocline.edits.text import EditError, decode_text
from halocline.ports.tool import ALIASES
from halocline.protocol.events import ApprovalRequested
from halocline.protocol.kinds import Diff
from halocline.protocol.messages import ToolCall
from halocline.protocol.values import JsonObject
from halocline.runtime.assembly.optional_parts import build_reading_files
from halocline.task.calls.pending_approvals import EditConflict as Looked
from halocline.task.task import Task

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
    call = _find_call(task, asked)
    if not found.whole or now.problem or call is None or len(asked.diffs) != 1:
        return found
    text = await _merge_diff(Path(task.state.workspace), asked.diffs[0])
    key = next((name for name in call.arguments if ALIASES.get(name, name) == "content"), "content")
    return replace(found, merged=None if text is None else {**call.arguments, key: text})


async def _merge_diff(workspace: Path, diff: Diff) -> str | None:
    """Return the current file with the edit applied; None if both changed the same lines."""
    path, files = workspace / diff.path, build_reading_files()
    try:
        info = await files.info(path)
        if info is None or not info.is_file or info.size > LARGEST:
            return None
        return swap_hunks(decode_text(await files.read(path, LARGEST)).view, diff.text, back=False)
    except (EditError, OSError):
        return None


def _find_call(task: Task, asked: ApprovalRequested) -> ToolCall | None:
    return next((one.call for one in task.state.pending.calls if one.call.id == asked.call), None)
