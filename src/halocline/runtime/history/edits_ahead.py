"""The edits behind a waiting one in its reply, as each would be asked about once those before it are made.

What must stay true: nothing is changed or logged. It is a forecast: each edit passes every gate when its turn comes.
"""

from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from halocline.edits.proposals import apply_diff
from halocline.edits.text import decode_text, encode_text
from halocline.policy.gate import decide_call
from halocline.ports.host import FileInfo, Files
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import ApprovalRequested
from halocline.protocol.kinds import Diff, ToolKind
from halocline.protocol.messages import ToolCall
from halocline.protocol.permission_rules import Verdict
from halocline.task.calls.events import approval_requested, let_through
from halocline.task.calls.held_files import HeldFiles
from halocline.task.task import Task

LARGEST = 2_000_000
"""Bytes of the largest file whose next edits are foreseen."""

Made = dict[Path, bytes | None]
"""Contents of files as the edits so far leave them; None for one that is gone."""


async def list_edits_ahead(task: Task, request: str) -> tuple[ApprovalRequested, ...]:
    """Return the edits that will be asked about after this one in its reply; their `request` is empty.

    One that would fail is left out, and the list ends where the files are uncertain.
    """
    pending, made, found = task.state.pending, Made(), list[ApprovalRequested]()
    asked = next((one for one in pending.approvals if one.request == request), None)
    calls = [one.call for one in pending.calls]
    at = next((at for at, call in enumerate(calls) if asked and call.id == asked.call), len(calls))
    with suppress(OSError):
        for call in calls[at:]:
            with suppress(ToolFailure):
                event = await _foresee(task, call, made)
                found += [event] if event and call is not calls[at] else []
    return tuple(found)


async def _foresee(task: Task, call: ToolCall, made: Made) -> ApprovalRequested | None:
    """Make an edit in `made`; return how it would be asked about, if it would be."""
    state, contexts = task.state, task.tool_calls.contexts
    run = task.tool_calls.admission.parse_call(call, state.last_message.model)
    preview = run.tool.preview
    if run.tool.kind is not ToolKind.EDIT or preview is None or run.summary.custom:
        return None
    decision = decide_call(run.summary, contexts.known_policy())
    if decision.verdict is Verdict.DENY:
        return None
    run = let_through(run, decision)
    context = contexts.build(run)
    files = _FilesAhead(context.host.files, made)
    diffs = await preview(run.input, replace(context, host=replace(context.host, files=files)))
    for diff in diffs:
        await files.make(Path(state.workspace, diff.path), diff)
    is_asked = decision.verdict is Verdict.ASK
    return approval_requested("", run, decision, diffs, state.host.sandbox) if is_asked else None


class _FilesAhead(HeldFiles):
    """Reads files as the edits before leave them."""

    def __init__(self, files: Files, made: Made) -> None:
        super().__init__(files, _refuse_writes)
        self._made = made

    async def info(self, path: Path) -> FileInfo | None:
        found = await super().info(path)  # says whether it may be read at all
        if path not in self._made:
            return found
        data = self._made[path]
        return None if data is None else FileInfo(len(data), is_file=True, is_dir=False)

    async def read(self, path: Path, limit: int) -> bytes:
        data = self._made.get(path)
        return data[:limit] if data is not None else await super().read(path, limit)

    async def make(self, path: Path, diff: Diff) -> None:
        """Make one change. Raises OSError if it cannot be told from the diff."""
        info = await self.info(path)
        data = await self.read(path, LARGEST) if info else b""
        was = decode_text(data, self.declared_encoding(path))
        made = apply_diff(was.view if info else None, diff)
        if made is None or len(data) >= LARGEST:
            raise OSError(f"{path.name} is uncertain")
        self._made[path] = None if made.after is None else encode_text(was.with_view(made.after))


async def _refuse_writes() -> None:
    raise OSError("a forecast writes nothing")
