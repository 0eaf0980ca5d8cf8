"""The goal of a task as it was set, and the outcome of its checks."""

from msgspec.structs import replace

from halocline.protocol.events.questions import GoalChecked, GoalSet, GoalVerdict
from halocline.protocol.values import Value

MOST_STUCK = 3
"""Checks in a row that may fail in the same way with the same files: the model is told of the one before the last."""


class GoalState(Value, frozen=True):
    """The goal. `stuck` counts the checks of the turn in a row that failed in the same way with the same files.

    `last` is the newest check, `checks` their number.
    """

    text: str = ""
    command: str = ""
    is_met: bool = False
    checks: int = 0
    last: GoalChecked | None = None
    stuck: int = 0

    @property
    def is_set(self) -> bool:
        return bool(self.text or self.command)

    @property
    def is_open(self) -> bool:
        """True if there is a goal that is not met yet."""
        return self.is_set and not self.is_met

    @property
    def name(self) -> str:
        """The goal in a few words, for people."""
        return f"`{self.command}`" if self.command else self.text

    @property
    def impasse(self) -> tuple[str, str]:
        """The limit that ends the turn, and why, if another check would change nothing; both are empty otherwise."""
        if self.last is None or not self.stuck or not self.is_open:
            return "", ""
        if self.last.verdict is GoalVerdict.REFUSED:
            return "goal", f"The goal cannot be checked: {self.last.end}"
        if self.stuck < MOST_STUCK:
            return "", ""
        return "progress", (
            f"No progress: {self.name} was checked {self.stuck} times and failed in the same way, and no file changed "
            f"in between ({self.last.gist})."
        )

    def count_stuck(self, failure: str, tree: str) -> int:
        """Return how many checks in a row, with another one, failed in the same way with the same files."""
        is_same = self.last is not None and (self.last.failure, self.last.tree) == (failure, tree)
        return self.stuck + 1 if is_same else 1

    def after_check(self, event: GoalChecked) -> "GoalState":
        is_met = event.verdict is GoalVerdict.MET
        stuck = 0 if is_met else self.count_stuck(event.failure, event.tree)
        return replace(self, is_met=is_met, checks=self.checks + 1, last=event, stuck=stuck)

    def forget_failures(self) -> "GoalState":
        """Return the goal for a new turn, or after a person let a turn go on: what failed before counts no more."""
        return replace(self, stuck=0) if self.stuck else self


def goal_of(event: GoalSet) -> GoalState:
    """Return the goal as it was set."""
    return GoalState(event.text, event.command)
