"""Budgets and loops: one object that is asked before each step and answers go on, pause and ask, or stop.

The judgement is a pure function of the state, so budgets survive a crash and a resume: they live in the log. Only time
is measured here: the log has the time of a wall clock, which may be set.
"""

import time
from collections.abc import Callable

from msgspec.structs import replace

from halocline.protocol.limits import Limits
from halocline.protocol.messages import ToolCall
from halocline.protocol.state.state import State, call_signature
from halocline.protocol.values import Value

WARN_AT = 3
STOP_AT = 5
"""How many times in a row the same call may give the same result: a remark first, then a pause (TL-06)."""

ANSWERS = 3
"""How many answers in a row may miss the form that was asked for: the model is told what is wrong in between."""

SECONDS_REACHED = "seconds is reached."
"""How a verdict on time ends."""
GO_ON = "Go on"
STOP = "Stop here"


class Verdict(Value, frozen=True):
    """A limit is reached: which one, and what is said about it."""

    limit: str
    text: str


class Stopwatch:
    """How long the running turn has taken in this process, whatever happens to the wall clock.

    It begins anew when the turn's time limit does. A suspended machine's sleep does not count.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turn = self._since = 0.0

    def seconds(self, state: State) -> float:
        """Since the turn was first asked about."""
        if state.turn is None:
            return 0.0
        now = self._clock()
        if self._turn != state.turn.started_at:
            self._turn, self._since = state.turn.started_at, now
        return now - self._since


class Governor:
    def __init__(self, limits: Limits, seconds: Callable[[State], float] | None = None) -> None:
        """`seconds` tells how long the running turn has taken."""
        self.limits = limits
        self._seconds = seconds or Stopwatch().seconds

    def verdict(self, state: State) -> Verdict | None:
        """What stands in the way of another step, or None."""
        return check_limits(state, limits_of(state, self.limits), self._seconds(state))

    def seconds_left(self, state: State) -> float | None:
        """Time until the time limit of the running turn; None when there is none."""
        limit = limits_of(state, self.limits).seconds
        if limit is None or state.turn is None:
            return None
        return max(0.0, limit - self._seconds(state))


def limits_of(state: State, limits: Limits) -> Limits:
    """The task's limits: those of its log; `limits` where an older log has none. A sub-agent's are its own."""
    limits, given = state.limits or limits, state.subtask
    if given is None:
        return limits
    return replace(limits, steps=given.steps, cost=given.cost, seconds=given.seconds)


def check_limits(state: State, limits: Limits, seconds: float) -> Verdict | None:
    """The first limit that is reached, when the running turn has taken so many seconds."""
    steps = state.steps - state.forgiven_steps
    if limits.steps is not None and steps >= limits.steps:
        return Verdict("steps", f"The limit of {limits.steps} steps is reached.")
    if limits.cost is not None and (said := _over_cost(state, limits.cost)):
        return Verdict("cost", said)
    if limits.seconds is not None and state.turn is not None and seconds >= limits.seconds:
        return Verdict("time", f"The limit of {limits.seconds:g} {SECONDS_REACHED}")
    if state.failures_in_row >= limits.failures:
        return Verdict("failures", f"{state.failures_in_row} tool calls in a row failed or were refused.")
    if refused := state.answers_refused[ANSWERS - 1 :]:
        return Verdict("answer", f"{ANSWERS} answers in a row did not fit the schema. {refused[-1].problems[0]}")
    if state.same_call_in_row >= STOP_AT:
        return Verdict("repetition", f"The same call gave the same result {state.same_call_in_row} times in a row.")
    return None


def _over_cost(state: State, limit: float) -> str:
    if state.cost is None:
        return "What the task has cost is not known, so its limit cannot be kept."
    spent = state.cost - state.forgiven_cost
    return f"The limit of ${limit:.2f} is reached (${spent:.4f} spent)." if spent >= limit else ""


def note_repetition(state: State, call: ToolCall, result: str) -> str:
    """What the model is told when it repeats itself; empty when it does not."""
    count = state.same_call_in_row + 1
    if (call_signature(call), result) != state.last_outcome or count < WARN_AT:
        return ""
    return f"You have made this same call {count} times in a row with the same result. Change your approach."
