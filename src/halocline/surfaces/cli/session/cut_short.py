"""Tasks whose last turn was cut short: whether they continue by themselves, or only when a person says so."""

from halocline.protocol.errors import UsageError
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import CARRY_ON, PROCESS_ENDED, State

_CUT_SHORT = (StopReason.CANCELLED, StopReason.ERROR, StopReason.MAX_TURN_REQUESTS, StopReason.MAX_TOKENS)


def is_cut_short(state: State) -> bool:
    """True if the last turn did not come to its end."""
    return state.turn is None and state.last_end is not None and state.last_end.reason in _CUT_SHORT


def find_offer(state: State) -> str:
    """Return the prompt to offer to a person who opens the task; empty for none."""
    return CARRY_ON if is_cut_short(state) else ""


def _was_stopped(state: State) -> bool:
    """True if a person stopped the last turn."""
    end = state.last_end
    return end is not None and end.reason is StopReason.CANCELLED and end.text != PROCESS_ENDED


def find_first_prompt(state: State, prompt: str, *, needed: bool) -> str:
    """Return the first prompt. A program may continue without one after a limit or a failure. Raises UsageError.

    Where a person can be asked, none is `needed`: it starts nothing by itself.
    """
    if prompt or state.turn is not None or not needed:
        return prompt
    if _was_stopped(state):
        raise UsageError(
            f"Task {state.task} was stopped, so it does not continue by itself.",
            f'Say what to do: halo -r {state.task} -p "{CARRY_ON}"',
        )
    if is_cut_short(state):
        return CARRY_ON
    raise UsageError(f"Task {state.task} is finished and needs a prompt.", f'Use: halo -r {state.task} "what to do"')
