"""Turns that a model ended but that continue: an agent in the background, an open goal or a hook holds them."""

import asyncio
from collections.abc import Awaitable, Callable

from halocline.protocol.events import Durable, Event, Noticed
from halocline.protocol.state.state import State
from halocline.task.end_checks import is_goal_due
from halocline.task.parts import TaskParts


class _Listener:
    """A subscriber that notes that something happened in the task."""

    def __init__(self) -> None:
        self.happened = asyncio.Event()

    def push(self, event: Event) -> None:
        if isinstance(event, Durable):
            self.happened.set()

    def close(self) -> None:
        self.happened.set()


async def is_held(
    parts: TaskParts,
    emit: Callable[[Event], None],
    state: Callable[[], State],
    check_goal: Callable[[], Awaitable[bool]],
) -> bool:
    """True if a check, an agent's report, a message, an open goal or, asked last, a hook lets the turn continue."""
    agents = state().subagents
    if state().owes_reply:
        return True
    if (agents.unreported or agents.in_background) and await _wait_for_reports(parts, emit, state):
        return True
    if is_goal_due(state()) and await check_goal():
        return True
    return bool((hooks := parts.host.hooks) and await hooks.holds())


async def _wait_for_reports(parts: TaskParts, emit: Callable[[Event], None], state: Callable[[], State]) -> bool:
    """Wait until an agent reports, or a message comes; False if there are none left, and nothing to report."""
    parts.log.attach(listener := _Listener())
    waiting = ""
    try:
        while not (state().subagents.unreported or await parts.inbox.queue.deliver_steering()):
            if not (running := state().subagents.in_background):
                return False
            names = ", ".join(lane.name for lane in running)
            if names != waiting:
                emit(Noticed(f"Waiting for agents in the background: {names}"))
            waiting = names
            listener.happened.clear()
            await listener.happened.wait()
        return True
    finally:
        parts.log.detach(listener)
