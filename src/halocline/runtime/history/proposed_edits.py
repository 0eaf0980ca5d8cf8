"""Edits that wait for approval as whole texts, for an editor that shows and changes them.

Queries: nothing is changed. A file is read only if an edit of it was shown for approval, as the task itself reads it.
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from halocline.edits.proposals import ProposedText, apply_diff, rewrite_arguments
from halocline.edits.text import EditError, read_text
from halocline.ports.host import Files
from halocline.ports.tool import ALIASES
from halocline.protocol.events import ApprovalRequested
from halocline.protocol.kinds import Diff
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject

LARGEST = 2_000_000
"""Largest file in bytes that is shown whole."""


async def read_proposed_texts(state: State, request: str, files: Files) -> tuple[ProposedText, ...]:
    """Return the files of a waiting edit before and after it; empty if one of them cannot be shown exactly."""
    asked = _find_request(state, request)
    found = [await _read_proposed(Path(state.workspace), diff, files) for diff in asked.diffs] if asked else []
    return tuple(one for one in found if one) if all(found) else ()


async def rewrite_edit(state: State, request: str, wanted: Mapping[str, str | None], files: Files) -> JsonObject | None:
    """Return arguments that make the waiting edit write `wanted`, texts by path; None if that is not possible exactly.

    Files that are not in `wanted` stay as proposed; None stands for a file that is not there.
    """
    asked, texts = _find_request(state, request), await read_proposed_texts(state, request, files)
    call = next((one.call for one in state.pending.calls if asked and one.call.id == asked.call), None)
    if call is None or not texts:
        return None
    given: JsonObject = {ALIASES.get(name, name): value for name, value in call.arguments.items()}
    changed = [replace(one, after=wanted.get(one.path, one.after)) for one in texts]
    return rewrite_arguments(call.name, given, changed)


def _find_request(state: State, request: str) -> ApprovalRequested | None:
    return next((one for one in state.pending.approvals if one.request == request), None)


async def _read_proposed(workspace: Path, diff: Diff, files: Files) -> ProposedText | None:
    path = workspace / diff.path
    try:
        info = await files.info(path)
        if info is None:
            return apply_diff(None, diff)
        if not info.is_file or info.size > LARGEST:
            return None
        return apply_diff((await read_text(files, path, LARGEST)).view, diff)
    except (EditError, OSError):
        return None
