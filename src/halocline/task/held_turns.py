"""Turns that a model ended but that continue: an agent in the background runs or reported, or a hook holds them."""

import asyncio
from collections.abc import Callable

from halocline.protocol.events import Durable, Event, Noticed
from halocline.protocol.state.state import State
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


async def holds_turn(parts: TaskParts, emit: Callable[[Event], None], state: Callable[[], State]) -> bool:
    """Return True if the turn continues: agents in the background reported or a message came, or a hook holds it."""
    agents = state().subagents
    if (agents.unreported or agents.in_background) and await _wait_for_reports(parts, emit, state):
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
