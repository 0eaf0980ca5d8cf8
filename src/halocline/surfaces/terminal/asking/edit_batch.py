"""The edits of one reply, asked about one by one: which of how many waits, and one key for all that were shown.

What must stay true: an edit is allowed with others only if it is an ordinary one that asks exactly what was shown. What
is decided of one reply counts for no other.
"""

from collections.abc import Sequence
from typing import Protocol

from halocline.client.tasks import Client
from halocline.protocol.events import ApprovalRequested
from halocline.protocol.messages import AssistantMessage
from halocline.protocol.permission_rules import Grade
from halocline.surfaces.figures import format_plural
from halocline.surfaces.terminal.drawing.asked_cards import asks_the_same


class BatchScreen(Protocol):
    """Shows edits before they are asked about."""

    def show_ahead(self, events: Sequence[ApprovalRequested], *, if_in_sight: bool = False) -> bool:
        """Print their cards, whole; `if_in_sight`: only if all have room below the newest. True if they were."""


class EditBatch:
    """Follows the edits of each reply of one view."""

    def __init__(self, screen: BatchScreen) -> None:
        self._screen = screen
        self._reply: AssistantMessage | None = None
        self._asked: list[str] = []
        self._total = 0
        self._ahead: tuple[ApprovalRequested, ...] = ()
        self._shown: dict[str, ApprovalRequested] = {}
        self._allowed: dict[str, ApprovalRequested] = {}

    async def follow(self, client: Client, task: str, event: ApprovalRequested) -> None:
        """Take in what is asked now, and the edits behind it in its reply."""
        self._ahead = ()
        if not event.diffs or event.agent:
            return
        if self._reply is not (reply := client.state(task).last_message):
            self._reply, self._asked, self._total, self._shown, self._allowed = reply, [], 0, {}, {}
        if event.call not in self._asked:
            self._asked.append(event.call)
        if len(reply.tool_calls) > 1 and not self.allows(event):
            self._ahead = await client.list_edits_ahead(task, event.request)
            self._total = len(self._asked) + len(self._ahead) if self._ahead else self._total

    def allows(self, event: ApprovalRequested) -> bool:
        """True if the person allowed this edit together with others."""
        return asks_the_same(self._allowed.get(event.call), event)

    def has_shown(self, event: ApprovalRequested) -> bool:
        """True if this edit was shown whole before it was asked about."""
        return asks_the_same(self._shown.get(event.call), event)

    def name_place(self, event: ApprovalRequested) -> str:
        """`2 of 5` where several edits of the reply are asked about; empty for other calls."""
        at = self._asked.index(event.call) + 1 if event.call in self._asked else 0
        return f"{at} of {self._total}" if 0 < at <= self._total else ""

    def offer(self, event: ApprovalRequested) -> str:
        """The label of the key that allows this edit and others, which it shows first; empty if there are none."""
        others = self._list_others(event)
        if not others:
            return ""
        if unseen := [one for one in others if not self.has_shown(one)]:
            return f"show {format_plural(len(unseen), 'more edit')} of this reply, then allow all"
        return f"allow all {len(others) + 1} shown"

    def show_others(self, event: ApprovalRequested, *, if_in_sight: bool = False) -> bool:
        """Show the others that were not. True if there were any, and they were shown."""
        unseen = [one for one in self._list_others(event) if not self.has_shown(one)]
        if not unseen or not self._screen.show_ahead(unseen, if_in_sight=if_in_sight):
            return False
        self._shown |= {one.call: one for one in unseen}
        return True

    def allow_others(self, event: ApprovalRequested) -> None:
        """Allow the others, all of which were shown, when they are asked about."""
        self._allowed = {one.call: one for one in self._list_others(event) if self.has_shown(one)}

    def _list_others(self, event: ApprovalRequested) -> Sequence[ApprovalRequested]:
        return [one for one in self._ahead if _is_ordinary(one)] if _is_ordinary(event) else ()


def _is_ordinary(event: ApprovalRequested) -> bool:
    return event.grade is Grade.ORDINARY and not event.lost
