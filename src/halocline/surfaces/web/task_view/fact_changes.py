"""The difference of two states of the facts, as a page applies it."""

from typing import Any

import msgspec

from halocline.protocol import json_output
from halocline.surfaces.web.task_view.facts import TaskFacts


def list_changes(old: TaskFacts | None, new: TaskFacts) -> tuple[bytes, bytes]:
    """Return the changed facts as a JSON object, and those that are sequences by their new items.

    A sequence keeps the items before `keep`, and continues with `items`. Without an old state, all facts are changed.
    """
    facts: dict[str, Any] = {}
    lists: dict[str, Any] = {}
    for name in new.__struct_fields__:
        now, before = getattr(new, name), getattr(old, name) if old else None
        if old and (now is before or (now == before and not isinstance(now, msgspec.Struct))):
            continue
        if isinstance(now, tuple):
            keep = _count_same(before or (), now)
            lists[name] = {"keep": keep, "items": now[keep:]}
        else:
            facts[name] = now
    return json_output.encode(facts), json_output.encode(lists)


def _count_same(old: tuple[Any, ...], new: tuple[Any, ...]) -> int:
    """Items at the beginning that stayed; most often all but the last."""
    most = min(len(old), len(new))
    return next((number for number in range(most) if old[number] is not new[number]), most)
