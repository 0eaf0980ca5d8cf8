"""Follow the edits of a task as whole texts, for an editor: growing, waiting for approval, settled.

A file is read only if a tool could read it without asking, or if an edit of it was shown for approval. Nothing is
written, and nothing fails.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

from msgspec.structs import replace

from halocline.edits.proposals import GrowingProposal, ProposedText
from halocline.ports.host import Files
from halocline.ports.tool import ALIASES
from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.runtime.history.previews import EDITING, readable_text
from halocline.runtime.history.proposed_edits import read_proposed_texts
from halocline.store.paths import Home
from halocline.task.calls.policy_input import make_policy_context

EVERY = 0.1
"""Seconds between two drafts of one edit."""


class EditDraft(Value, frozen=True):
    """An edit that the model is still writing. `will_ask` is False where edits run without approval."""

    call: str
    text: ProposedText
    will_ask: bool


class EditProposal(Value, frozen=True):
    """An edit that waits for approval. `texts` is empty if it cannot be shown as whole files."""

    call: str
    request: str
    title: str
    texts: tuple[ProposedText, ...]


class EditSettled(Value, frozen=True):
    """An edit was decided, has run, or will not be: nothing of it is to be shown any more."""

    call: str


EditProgress = EditDraft | EditProposal | EditSettled


class _Growing:
    """A call that is being written."""

    def __init__(self, name: str) -> None:
        self.proposal = GrowingProposal(name, ALIASES)
        self.before: str | None = None
        self.was_read = False
        self.shown_at = 0.0


async def follow_edits(
    events: AsyncIterator[ev.Event], state: Callable[[], State], home: Home, files: Files
) -> AsyncIterator[EditProgress]:
    """Yield what becomes of each edit of an open task, beginning with those that wait."""
    growing, shown = dict[str, _Growing](), set[str]()
    for waiting in state().pending.approvals:
        if waiting.diffs:
            shown.add(waiting.call)
            yield await _make_proposal(state(), waiting, files)
    async for event in events:
        match event:
            case ev.ToolCallDelta(name=name) if name in EDITING:
                edit = growing.setdefault(event.call, _Growing(name))
                edit.proposal.feed(event.arguments)
                if edit.proposal.path and not edit.was_read:
                    policy = make_policy_context(state(), home.root)
                    found = await readable_text(edit.proposal.path, policy, files)
                    edit.before, edit.was_read = found.view if found else None, True
                if draft := _make_draft(event.call, edit, state()):
                    shown.add(event.call)
                    yield draft
            case ev.ApprovalRequested() if event.diffs:
                shown.add(event.call)
                yield await _make_proposal(state(), event, files)
            case ev.ToolCallEnded(call=call) | ev.ApprovalResolved(call=call) if call in shown:
                shown.discard(call)
                yield EditSettled(call)
            case ev.StepRetried() | ev.TurnEnded():
                for call in [*shown]:
                    yield EditSettled(call)
                shown.clear()
                growing.clear()


def _make_draft(call: str, edit: _Growing, state: State) -> EditDraft | None:
    now = asyncio.get_running_loop().time()
    if not edit.was_read or now - edit.shown_at < EVERY:
        return None
    after = edit.proposal.text(edit.before or "")
    if after is None or after == (edit.before or ""):
        return None
    edit.shown_at = now
    will_ask = state.permissions.approval_mode is ApprovalMode.ASK
    return EditDraft(call, ProposedText(edit.proposal.path, edit.before, after), will_ask)


async def _make_proposal(state: State, asked: ev.ApprovalRequested, files: Files) -> EditProposal:
    waiting = replace(state, pending=replace(state.pending, approvals=(asked,)))  # the state may not know it yet
    texts = await read_proposed_texts(waiting, asked.request, files)
    return EditProposal(asked.call, asked.request, asked.title, texts)
