"""Limits and loop detection: before each step, decides whether to continue, ask or stop.

`spending` owns steps, tokens and money. The rest of the verdict is a pure function of the state, so it survives a crash
and a resume. Only time is measured here: the log has wall clock time, which may be changed.
"""

import re
import time
from collections.abc import Callable

from msgspec.structs import replace

from halocline.protocol.events.limits import Limits
from halocline.protocol.messages import ToolCall
from halocline.protocol.state.budget import call_signature
from halocline.protocol.state.state import State
from halocline.task.spending import Spending, Verdict

WARN_AT = 3
STOP_AT = 5
"""Number of identical calls in a row with the same result before a note, and before a stop (TL-06)."""

ANSWERS = 3
"""Number of answers in a row that may fail the schema; the model gets the errors in between."""

SECONDS_REACHED = "seconds is reached."
"""End of the verdict on time, which replays recognize."""
CAPPED = "The limit is set by your administrator."
HOW_TO_RAISE = re.compile("[;:] to go on, ")
"""The beginning of the hint that tells how to raise a limit."""
GO_ON = "Go on"
STOP = "Stop here"


class Stopwatch:
    """Time that the running turn has taken in this process, independent of the wall clock.

    It restarts when the turn's time limit does. Time in suspend does not count.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turn = self._since = 0.0

    def seconds(self, state: State) -> float:
        """Return the seconds since the first call for this turn."""
        if state.turn is None:
            return 0.0
        now = self._clock()
        if self._turn != state.turn.started_at:
            self._turn, self._since = state.turn.started_at, now
        return now - self._since


class Governor:
    def __init__(self, spending: Spending, seconds: Callable[[State], float] | None = None) -> None:
        """`seconds` returns how long the running turn has taken."""
        self.spending = spending
        self._seconds = seconds or Stopwatch().seconds

    def verdict(self, state: State) -> Verdict | None:
        """Return the limit that prevents another step, or None."""
        limits = self.spending.limits_in(state)
        found = self.spending.verdict() or check_limits(state, limits, self._seconds(state))
        return _capped(found) if found and found.limit in limits.capped else found

    def seconds_left(self, state: State) -> float | None:
        """Return the seconds until the turn's time limit; None if there is none."""
        limit = self.spending.limits_in(state).seconds
        if limit is None or state.turn is None:
            return None
        return max(0.0, limit - self._seconds(state))


def check_limits(state: State, limits: Limits, seconds: float) -> Verdict | None:
    """Return the first limit reached but those of spending, given the seconds that the running turn has taken."""
    if limits.seconds is not None and state.turn is not None and seconds >= limits.seconds:
        return Verdict("time", f"The limit of {limits.seconds:g} {SECONDS_REACHED}")
    if state.budget.failures_in_row >= limits.failures:
        return Verdict("failures", _describe_failures(state.budget.failures_in_row, limits))
    if (impasse := state.goal.impasse)[0]:
        return Verdict(*impasse, is_final=impasse[0] != "progress")
    if refused := state.answer.refused[ANSWERS - 1 :]:
        return Verdict("answer", f"{ANSWERS} answers in a row did not match the schema. {refused[-1].problems[0]}")
    if state.budget.same_call_in_row >= STOP_AT:
        return Verdict(
            "repetition", f"The same call gave the same result {state.budget.same_call_in_row} times in a row."
        )
    return None


def _capped(verdict: Verdict) -> Verdict:
    """Return the verdict on a limit of the administrator's, which no one here can raise."""
    text = HOW_TO_RAISE.split(verdict.text)[0].rstrip(".")
    return replace(verdict, text=f"{text}. {CAPPED}", is_final=True)


def _describe_failures(count: int, limits: Limits) -> str:
    if limits.require_completion:
        return f"{count} times in a row a tool call failed or was refused, or a reply had no call."
    return f"{count} tool calls in a row failed or were refused."


def note_repetition(state: State, call: ToolCall, result: str) -> str:
    """Return a warning for the model if it repeats itself; otherwise empty."""
    count = state.budget.same_call_in_row + 1
    if (call_signature(call), result) != state.budget.last_outcome or count < WARN_AT:
        return ""
    return f"You have made this same call {count} times in a row with the same result. Change your approach."
