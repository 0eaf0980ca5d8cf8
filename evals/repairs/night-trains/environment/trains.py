"""Connections of trains. Times are ISO texts with the offset of the place, such as 2024-03-30T22:10:00+01:00."""

from datetime import datetime


def minutes(connection):
    """Return how long a connection takes, in whole minutes."""
    start = datetime.fromisoformat(connection["departs"]).replace(tzinfo=None)
    end = datetime.fromisoformat(connection["arrives"]).replace(tzinfo=None)
    return (end - start).seconds // 60


def sort_by_departure(connections):
    """Return the connections, the one that leaves first in front; those that leave together as they came."""
    return sorted(connections, key=lambda connection: connection["departs"])


def can_change(first, second, least=5):
    """Say whether one who arrives by the first has at least so many minutes until the second leaves."""
    arrives = datetime.fromisoformat(first["arrives"])
    departs = datetime.fromisoformat(second["departs"])
    return (departs.hour * 60 + departs.minute) - (arrives.hour * 60 + arrives.minute) >= least


def days_later(connection):
    """Return how many days after that of departure the train arrives, by the calendars of the two places."""
    return minutes(connection) // (24 * 60)
