"""The facts of the status bar: each open task with its status, the use of its context window and its cost."""

import asyncio

from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject
from halocline.surfaces.editor.peer import Peer
from halocline.surfaces.web.open_tasks import OpenTasks


async def send_status(peer: Peer, tasks: OpenTasks) -> None:
    """Send the status whenever it changes, until cancelled."""
    changed, sent = asyncio.Event(), None
    tasks.subscribe(changed)
    try:
        while True:
            if (now := describe_status(tasks)) != sent:
                sent = now
                await peer.notify("status", now)
            await changed.wait()
            changed.clear()
    finally:
        tasks.unsubscribe(changed)


def describe_status(tasks: OpenTasks) -> JsonObject:
    """Return each open task's title, status, share of the context window (None: unknown) and cost in dollars."""
    return {"tasks": {task: _describe_task(tasks.client.state(task), how) for task, how in tasks.standing().items()}}


def _describe_task(state: State, status: str) -> JsonObject:
    used, window = state.budget.last_usage.total, state.model.window
    return {
        "title": state.title,
        "status": status,
        "context": used / window if window and used else None,
        "cost": state.budget.known_cost,
        "mode": state.plan.mode,
        "approval_mode": state.permissions.approval_mode,
    }
