"""The lasting grants of a task, with who gave each, when, and for what."""

from collections.abc import Iterable

from halocline.protocol import events as ev
from halocline.protocol.kinds import Choice, Grant, Scope
from halocline.protocol.values import Value


class GivenGrant(Value, frozen=True, omit_defaults=False):
    """A grant in force. `at` is in Unix seconds, `title` names the request, `note` is the person's comment."""

    grant: Grant
    scope: Scope
    at: float
    client: str
    title: str = ""
    note: str = ""


def list_grants(events: Iterable[ev.DurableEvent]) -> tuple[GivenGrant, ...]:
    """Return the grants in a task's log, in the order they were given."""
    titles: dict[str, str] = {}
    found: dict[Grant, GivenGrant] = {}
    for event in events:
        match event:
            case ev.ApprovalRequested():
                titles[event.request] = event.title
            case ev.ApprovalResolved(decision=Choice.ALLOW_ALWAYS, grant=Grant() as grant):
                title = titles.get(event.request, "")
                found[grant] = GivenGrant(grant, event.scope, event.at, event.client, title, event.note)
            case ev.GrantTakenBack(grant=grant):
                found.pop(grant, None)
    return tuple(found.values())
