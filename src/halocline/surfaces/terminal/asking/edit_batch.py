"""The edits of one reply on a terminal: the key that shows those behind the one that waits, and allows them with it."""

from collections.abc import Sequence
from typing import Protocol

from halocline.protocol.events import ApprovalRequested
from halocline.protocol.kinds import Choice
from halocline.surfaces.edits_together import EditsTogether
from halocline.surfaces.figures import format_plural

ANOTHER = "Shown again, as it changes the file otherwise now: not all edits before it were made as shown."


class BatchScreen(Protocol):
    """Shows edits before they are asked about."""

    def show_ahead(self, events: Sequence[ApprovalRequested], *, if_in_sight: bool = False) -> bool:
        """Print their cards, whole; `if_in_sight`: only if all have room below the newest. True if they were."""


class EditBatch:
    """Follows the edits of each reply of one view."""

    def __init__(self, screen: BatchScreen) -> None:
        self._screen = screen
        self.edits = EditsTogether()

    def name_place(self, event: ApprovalRequested) -> str:
        """`2 of 5` where several edits of the reply are asked about; empty for other calls."""
        at, total = self.edits.place_of(event)
        return f"{at} of {total}" if at else ""

    def offer(self, event: ApprovalRequested) -> str:
        """The label of the key that allows this edit and others, which it shows first; empty if there are none."""
        others = self.edits.list_others(event)
        if not others:
            return ""
        if unseen := self._list_unseen(event):
            return f"show {format_plural(len(unseen), 'more edit')} of this reply, then allow all"
        return f"allow all {len(others) + 1} shown"

    def show_others(self, event: ApprovalRequested, *, if_in_sight: bool = False) -> bool:
        """Show the others that were not. True if there were any, and they were shown."""
        unseen = self._list_unseen(event)
        if not unseen or not self._screen.show_ahead(unseen, if_in_sight=if_in_sight):
            return False
        self.edits.mark_shown(unseen)
        return True

    def allow_others(self, event: ApprovalRequested) -> None:
        """Allow the others, all of which were shown, when they are asked about."""
        for one in self.edits.list_others(event):
            self.edits.decide(one, Choice.ALLOW_ONCE)

    def _list_unseen(self, event: ApprovalRequested) -> list[ApprovalRequested]:
        return [one for one in self.edits.list_others(event) if not self.edits.has_shown(one)]
