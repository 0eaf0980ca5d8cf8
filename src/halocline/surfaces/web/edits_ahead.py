"""The edits of one reply as pages see and decide them together: those behind the one that waits, each with a mark.

What must stay true: a page decides ahead only what it was shown, told by the mark of its exact contents. When the edit
is asked about, the usual command answers, if it asks for exactly that.
"""

import asyncio
from hashlib import sha256
from typing import Literal

from msgspec.structs import replace

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, json_output
from halocline.protocol.events import ApprovalRequested
from halocline.protocol.kinds import Choice
from halocline.protocol.values import Value
from halocline.surfaces.edits_together import EditsTogether
from halocline.surfaces.rows.fold import fold_event
from halocline.surfaces.rows.kinds import CallRow
from halocline.surfaces.rows.transcript import Transcript, add_rows

Ahead = Literal["", "allow_once", "reject_once"]
"""A page's decision of an edit ahead; empty takes it back."""


class EditAhead(Value, frozen=True):
    """An edit as it will be asked about; the `request` of its row is its mark."""

    row: CallRow
    decision: Choice | None = None


class EditsOfReply(Value, frozen=True):
    """Edit `at` of `total` waits, with those behind it that can be decided now. Zeros where it is the only one."""

    at: int = 0
    total: int = 0
    ahead: tuple[EditAhead, ...] = ()


class EditsAhead:
    """Follows the edits of all open tasks of one server."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tasks: dict[str, EditsTogether] = {}
        self._looking = asyncio.Lock()

    async def list(self, task: str, request: str) -> EditsOfReply:
        """Return the edits of the reply whose edit waits with this request."""
        event = self._find_request(task, request)
        if event is None:
            return EditsOfReply()
        edits = self._tasks.setdefault(task, EditsTogether())
        async with self._looking:  # two pages look at once
            await edits.follow(self._client, task, event)
            others = edits.list_others(event)
            edits.mark_shown(others)
        rows = (EditAhead(_make_row(one), edits.find_decision(one)) for one in others)
        return EditsOfReply(*edits.place_of(event), tuple(rows))

    def decide(self, task: str, request: str, decisions: dict[str, Ahead]) -> bool:
        """Decide these edits by their marks, once they are asked about.

        False, and none is, if one is another by now, or was decided otherwise elsewhere: a page has to see that first.
        """
        edits, event = self._tasks.get(task), self._find_request(task, request)
        if edits is None or event is None:
            return False
        others = {_mark_edit(one): one for one in edits.list_others(event)}
        if not decisions.keys() <= others.keys():
            return False
        known = {mark: edits.find_decision(one) for mark, one in others.items()}
        if any(decision and known[mark] not in (None, decision) for mark, decision in decisions.items()):
            return False
        for mark, decision in decisions.items():
            edits.decide(others[mark], Choice(decision) if decision else None)
        return True

    async def answer(self, event: ApprovalRequested) -> None:
        """Answer what was decided ahead."""
        edits = self._tasks.get(event.task)
        if edits is None or self._find_request(event.task, event.request) is None:
            return
        edits.take(self._client, event.task, event)
        if decision := edits.find_decision(event):
            await self._client.pass_on(
                cmd.ResolveApproval(task=event.task, request=event.request, decision=decision, goes_on=True)
            )

    def forget(self, task: str) -> None:
        """Drop what is known of a closed task."""
        self._tasks.pop(task, None)

    def _find_request(self, task: str, request: str) -> ApprovalRequested | None:
        """Return what waits in an open task."""
        approvals = self._client.state(task).pending.approvals if self._client.is_open(task) else ()
        return next((one for one in approvals if one.request == request), None)


def _mark_edit(event: ApprovalRequested) -> str:
    return sha256(json_output.encode(event)).hexdigest()[:32]


def _make_row(event: ApprovalRequested) -> CallRow:
    """Make the row that the edit will have when it is asked about, with its mark in place of the request."""
    begun = add_rows(Transcript(), CallRow(event.call, event.name, event.title, event.kind))
    row = fold_event(begun, replace(event, request=_mark_edit(event))).call(event.call)
    assert row is not None
    return row
