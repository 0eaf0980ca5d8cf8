"""Ends turns that fail: interrupted, refused by the model's server, or crashed by a bug.

What must stay true: whatever a turn raises gives it an end with a reason, and the trace of a bug goes to the program's
log. Only LogUnwritable propagates: then the end cannot be recorded.
"""

import logging
from typing import TYPE_CHECKING

from halocline.protocol.errors import HaloclineError, ModelError
from halocline.protocol.events import DurableEvent, ErrorRaised, HookRan, TurnEnded
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import TIME_IS_UP, State, loose_ends
from halocline.task.inbox import Interrupted
from halocline.task.log import LogUnwritable

if TYPE_CHECKING:
    from halocline.ports.hooks import Hooks

BROKE = "turn_broke"
"""The error code of a bug in Halocline."""
HOW_TO_GO_ON = "No work is lost: send a message to continue, or later: halo -r {task}. Trace: logs/halocline.log."

_log = logging.getLogger("halocline")


def end_of(error: Exception, state: State) -> tuple[tuple[DurableEvent, ...], TurnEnded]:
    """Return the events about an error that ended a turn, and the turn's end. Raises LogUnwritable.

    What a bug left open is closed first, as after an interrupt, so that a replay treats both alike.
    """
    match error:
        case Interrupted(raised=ErrorRaised() as raised):
            pass
        case Interrupted(limit=limit) if limit:
            return (), TurnEnded(reason=StopReason.MAX_TURN_REQUESTS, limit=limit, text=TIME_IS_UP)
        case Interrupted():
            return (), TurnEnded(reason=StopReason.CANCELLED)
        case ModelError():
            raised = ErrorRaised(code=error.code, text=error.text, hint=error.hint, retryable=error.retryable)
            return (raised,), TurnEnded(reason=StopReason.ERROR, text=raised.text)
        case _:
            raised = _explain_error(error, state.task)
    return (*loose_ends(state), raised), TurnEnded(reason=StopReason.ERROR, text=raised.text)


def _explain_error(error: Exception, task: str) -> ErrorRaised:
    if unwritable := _first_of_kind(error, LogUnwritable):
        raise unwritable
    _log.error("a turn of task %s crashed", task, exc_info=error)
    if isinstance(error, HaloclineError):
        return ErrorRaised(code=error.code, text=error.text, hint=error.hint)
    bug = _first_of_kind(error, Exception) or error
    text = f"Halocline crashed in the middle of this turn ({type(bug).__name__}: {str(bug)[:500]})."
    return ErrorRaised(code=BROKE, text=text, hint=HOW_TO_GO_ON.format(task=task))


def _first_of_kind(error: Exception, kind: type[Exception]) -> Exception | None:
    """Return the error if it is of this kind, or the first such one in an exception group; else None."""
    if isinstance(error, ExceptionGroup):
        return next((found for inner in error.exceptions if (found := _first_of_kind(inner, kind))), None)
    return error if isinstance(error, kind) else None


async def hooks_after(hooks: "Hooks | None", end: TurnEnded | None) -> tuple[HookRan, ...]:
    """Run the hooks for the end of a turn, or of the task in this process (`end` is None). They cannot prevent it."""
    if hooks is None:
        return ()
    try:
        return await hooks.ends(end)
    except LogUnwritable:
        raise
    except Exception:
        _log.exception("the hooks at the end of a turn crashed")
        return ()
