#!/bin/bash
set -e
cat > trains.py <<'EOF'
"""Connections of trains. Times are ISO texts with the offset of the place, such as 2024-03-30T22:10:00+01:00."""

from datetime import datetime


def _read(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def minutes(connection):
    """Return how long a connection takes, in whole minutes."""
    return int((_read(connection["arrives"]) - _read(connection["departs"])).total_seconds()) // 60


def sort_by_departure(connections):
    """Return the connections, the one that leaves first in front; those that leave together as they came."""
    return sorted(connections, key=lambda connection: _read(connection["departs"]))


def can_change(first, second, least=5):
    """Say whether one who arrives by the first has at least so many minutes until the second leaves."""
    return (_read(second["departs"]) - _read(first["arrives"])).total_seconds() >= least * 60


def days_later(connection):
    """Return how many days after that of departure the train arrives, by the calendars of the two places."""
    return (_read(connection["arrives"]).date() - _read(connection["departs"]).date()).days
EOF
