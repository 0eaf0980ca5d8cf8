"""The edits of one reply, asked about one by one: which of how many waits, and those that a person decided ahead.

What must stay true: an edit is decided ahead only if it is an ordinary one that asks exactly what was shown. What is
decided of one reply counts for no other.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from halocline.client.tasks import Client
from halocline.protocol.events import ApprovalRequested
from halocline.protocol.kinds import Choice
from halocline.protocol.messages import AssistantMessage
from halocline.protocol.permission_rules import Grade


class EditsTogether:
    """Follows the edits of each reply of one task."""

    def __init__(self) -> None:
        self._reply: AssistantMessage | None = None
        self._request = ""
        self._asked: list[str] = []
        self._total = 0
        self._ahead: tuple[ApprovalRequested, ...] = ()
        self._shown: dict[str, ApprovalRequested] = {}
        self._decided: dict[str, Choice] = {}

    async def follow(self, client: Client, task: str, event: ApprovalRequested) -> None:
        """Take in what is asked now, and the edits behind it in its reply."""
        self.take(client, task, event)
        reply = self._reply
        if event.call in self._asked and reply and len(reply.tool_calls) > 1 and not self.find_decision(event):
            self._ahead = await client.list_edits_ahead(task, event.request)
            self._total = len(self._asked) + len(self._ahead) if self._ahead else self._total

    def take(self, client: Client, task: str, event: ApprovalRequested) -> None:
        """Take in only what is asked now."""
        if event.request == self._request:
            return
        self._request, self._ahead = event.request, ()
        if not event.diffs or event.agent:
            return
        if self._reply is not (reply := client.state(task).last_message):
            self._reply, self._asked, self._total, self._shown, self._decided = reply, [], 0, {}, {}
        if event.call not in self._asked:
            self._asked.append(event.call)

    def find_decision(self, event: ApprovalRequested) -> Choice | None:
        """Return what was decided of this edit ahead; None if nothing was, or if it asks for something else now."""
        return self._decided.get(event.call) if self.has_shown(event) else None

    def has_shown(self, event: ApprovalRequested) -> bool:
        """True if this edit was shown whole before it was asked about."""
        return asks_the_same(self._shown.get(event.call), event)

    def is_other(self, event: ApprovalRequested) -> bool:
        """True if another change was shown for this edit than the one it asks for now."""
        return event.call in self._shown and not self.has_shown(event)

    def place_of(self, event: ApprovalRequested) -> tuple[int, int]:
        """Return 2 and 5 for the second of five edits of the reply; zeros for other calls."""
        at = self._asked.index(event.call) + 1 if event.call in self._asked else 0
        return (at, self._total) if 0 < at <= self._total else (0, 0)

    def list_others(self, event: ApprovalRequested) -> list[ApprovalRequested]:
        """Return the edits behind this one that can be decided together with it."""
        return [one for one in self._ahead if _is_ordinary(one)] if _is_ordinary(event) else []

    def mark_shown(self, events: Iterable[ApprovalRequested]) -> None:
        """Note that these were shown whole. What was decided of one that asked for something else is forgotten."""
        for one in events:
            if self._shown.get(one.call) != one:
                self._decided.pop(one.call, None)
            self._shown[one.call] = one

    def decide(self, event: ApprovalRequested, choice: Choice | None) -> None:
        """Decide of an edit that was shown, once it is asked about; None takes that back."""
        self._decided.pop(event.call, None)
        if choice is not None and self.has_shown(event):
            self._decided[event.call] = choice


def asks_the_same(known: ApprovalRequested | None, event: ApprovalRequested) -> bool:
    """True if an event asks for exactly what is known of it already, whatever its number and time."""
    return known is not None and replace(event, request="", seq=0, at=0.0, task="") == known


def _is_ordinary(event: ApprovalRequested) -> bool:
    return event.grade is Grade.ORDINARY and not event.lost
