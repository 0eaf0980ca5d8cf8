"""The money for many runs: no further one starts once it is spent, and those that run end then."""

from halocline.protocol.errors import UsageError

BUDGET_USED = "Not started: the runs before it cost ${spent:.2f}, of at most ${most:.2f} for all."
UNPRICED = "Not started: the cost of a run before it is unknown, so the limit of ${most:.2f} for all cannot be kept."


class Purse:
    """At most `most` US dollars for all runs; None is no limit. `spent` is of runs before these."""

    def __init__(self, most: float | None, spent: float | None = 0.0) -> None:
        self._most = most
        self._spent = spent
        self._running: dict[str, float] = {}

    @property
    def spent(self) -> float | None:
        """US dollars so far; None if the cost of a run is unknown."""
        return None if self._spent is None else self._spent + sum(self._running.values())

    @property
    def is_spent(self) -> bool:
        """True if no money is left, or how much is left is unknown."""
        return self._most is not None and (self.spent is None or self.spent >= self._most)

    @property
    def why_spent(self) -> str:
        """Say why no further run may start; empty if one may."""
        try:
            self.require_money()
        except UsageError as error:
            return error.text
        return ""

    def require_money(self) -> None:
        """Raise UsageError if no further run may start."""
        if self._most is None or not self.is_spent:
            return
        if self.spent is None:
            raise UsageError(UNPRICED.format(most=self._most), "Use a model whose price is known, or max_steps=….")
        raise UsageError(BUDGET_USED.format(spent=self.spent, most=self._most), "Raise the limit.")

    def note(self, run: str, cost: float | None) -> None:
        """Note what a run has cost so far."""
        if cost is None:
            self._spent = None
        else:
            self._running[run] = cost

    def settle(self, run: str) -> None:
        """Count what a run cost: it has ended."""
        self.spend(self._running.pop(run, 0.0))

    def spend(self, cost: float | None) -> None:
        """Count a run; one of unknown cost makes the sum unknown."""
        self._spent = None if cost is None or self._spent is None else self._spent + cost
