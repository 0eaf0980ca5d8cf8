"""Prompts that wait for other tasks, in the task that has them: sent once these have ended well, else held.

What must stay true: a task that did not end well starts nothing; what waits is in the log, and any process takes it up.
"""

import asyncio
import logging
from collections.abc import Callable

from halocline.protocol.commands import SendQueued
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import QueueHeld
from halocline.protocol.messages import StopReason
from halocline.protocol.plan_approval import find_waiting_plan
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import PROCESS_ENDED, State
from halocline.task.log_reading import Tail
from halocline.task.task import Task

LOOK_EVERY = 0.5
"""Seconds between two looks at the other tasks."""
WELL = "well"
_LOGGER = logging.getLogger(__name__)
_ENDS = {
    StopReason.MAX_TOKENS: "was cut off",
    StopReason.MAX_TURN_REQUESTS: "ended at a limit",
    StopReason.REFUSAL: "was refused",
    StopReason.CANCELLED: "was stopped",
    StopReason.ERROR: "failed",
}


def describe_end(state: State) -> str:
    """Return `WELL`, how else a task has ended, or an empty string while that is open: it runs or was cut short."""
    end = state.last_end
    if state.turn is not None or end is None or state.queue.messages or find_waiting_plan(state):
        return ""
    if end.text == PROCESS_ENDED:
        return ""
    if end.reason is StopReason.END_TURN:
        return "needed an approval that no one gave" if state.pending.nobody_answered else WELL
    return _ENDS[end.reason]


async def follow_waits(task: Task, send: Callable[[SendQueued], bool]) -> None:
    """Look at the tasks that prompts wait for, until none waits any more."""
    seen: dict[str, tuple[Tail, State]] = {}
    while waits := task.state.queue.waits:
        for message in waits:
            ends = {other: await asyncio.to_thread(_read_end, task, other, seen) for other in message.after}
            if message not in task.state.queue.waits:  # changed meanwhile
                continue
            if bad := [f"{other} {end}" for other, end in ends.items() if end not in ("", WELL)]:
                task.emit(QueueHeld((message.id,), f"Task {', '.join(bad)}."))
            elif all(ends.values()):
                send(SendQueued(task=task.state.task, messages=(message.id,)))
        await asyncio.sleep(LOOK_EVERY)


def hold_all(task: Task, ended: "asyncio.Task[None]") -> None:
    """Hold what still waits if looking at the other tasks failed, so that a person learns of it."""
    if ended.cancelled() or (error := ended.exception()) is None:
        return
    _LOGGER.error("a bug: %s", error, exc_info=error)
    if waits := task.state.queue.waits:
        reason = f"Halocline failed: {type(error).__name__}; see logs/halocline.log."
        task.emit(QueueHeld(tuple(one.id for one in waits), reason))


def _read_end(task: Task, other: str, seen: dict[str, tuple[Tail, State]]) -> str:
    """Read what is new in the log of another task, and say how that ended. Slow: reads a file."""
    try:
        tail, state = seen.get(other) or (Tail(task.log.path.parent.with_name(other) / task.log.path.name), State())
        for event in tail.read():
            state = reduce_event(state, event)
    except (HaloclineError, OSError, ValueError):  # a log may name what can be no task
        return "cannot be read"
    seen[other] = tail, state
    return describe_end(state)
