"""The leave that was given for good in a task, with who gave it, when, and about what."""

from collections.abc import Iterable

from halocline.protocol import events as ev
from halocline.protocol.values import Value


class GivenGrant(Value, frozen=True, omit_defaults=False):
    """One that still holds. `at` is in Unix seconds, `title` what was asked about, `note` what the person said."""

    grant: ev.Grant
    scope: ev.Scope
    at: float
    client: str
    title: str = ""
    note: str = ""


def list_grants(events: Iterable[ev.DurableEvent]) -> tuple[GivenGrant, ...]:
    """By the log of a task, in the order in which it was given."""
    titles: dict[str, str] = {}
    found: dict[ev.Grant, GivenGrant] = {}
    for event in events:
        match event:
            case ev.ApprovalRequested():
                titles[event.request] = event.title
            case ev.ApprovalResolved(decision=ev.Choice.ALLOW_ALWAYS, grant=ev.Grant() as grant):
                title = titles.get(event.request, "")
                found[grant] = GivenGrant(grant, event.scope, event.at, event.client, title, event.note)
            case ev.GrantTakenBack(grant=grant):
                found.pop(grant, None)
    return tuple(found.values())
