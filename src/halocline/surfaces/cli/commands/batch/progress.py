"""A batch as it runs: a table that is drawn in place on a terminal, and lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from halocline.batch.queue import Ending, Outcome
from halocline.batch.report import describe_ending, make_report
from halocline.batch.run import Batch
from halocline.protocol.events import StepRetried
from halocline.surfaces.figures import describe_retry, format_duration, format_known_cost, format_money, format_plural
from halocline.surfaces.sanitize import clean

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rich.table import Table as RichTable

MOST_ROWS = 20
"""Running items that the table shows."""
_EACH_SECOND = 4
LONG_WAIT = 10.0
"""Seconds of a wait that gets a line of its own; the table shows each."""


class Progress(Protocol):
    """Shows a batch while it runs."""

    def note(self, id: str) -> None:
        """Something happened in an item."""

    def show(self, batch: Batch) -> "AbstractContextManager[None]":
        """Show the batch until the end of the context."""


class Lines:
    """Two lines an item: when it begins, and how it ended; and one for each long wait for the provider."""

    def __init__(self) -> None:
        self._batch: Batch | None = None
        self._said: dict[str, bool] = {}
        self._waits: dict[str, float] = {}

    def note(self, id: str) -> None:
        standing = self._batch.queue.items[id] if self._batch else None
        if self._batch and (wait := self._batch.read_wait(id)):
            self._say_wait(id, wait)
        if standing is None or self._said.get(id) is bool(standing.outcome):
            return
        self._said[id] = bool(standing.outcome)
        print(clean(f"{id}  {describe_end(standing.outcome) if standing.outcome else 'begins'}"), file=sys.stderr)

    def _say_wait(self, id: str, wait: StepRetried) -> None:
        now = time.monotonic()
        if wait.wait >= LONG_WAIT and now >= self._waits.get(id, 0.0):
            self._waits[id] = now + wait.wait
            print(clean(f"{id}  {describe_retry(wait)}"), file=sys.stderr)

    @contextmanager
    def show(self, batch: Batch) -> Iterator[None]:
        self._batch = batch
        yield


class Table:
    """The running items, and figures of all, in place; each item that ends leaves a line above."""

    def __init__(self) -> None:
        self._began: dict[str, float] = {}
        self._ended = set[str]()
        self._new = list[str]()

    def note(self, id: str) -> None:
        self._began.setdefault(id, time.monotonic())
        self._new.append(id)

    @contextmanager
    def show(self, batch: Batch) -> Iterator[None]:
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True, highlight=False)

        def draw() -> "RichTable":
            new, self._new = self._new, []  # this thread draws, and the loop adds
            for id in dict.fromkeys(new):
                if (outcome := batch.queue.items[id].outcome) and id not in self._ended:
                    self._ended.add(id)
                    console.print(clean(f"{id}  {describe_end(outcome)}"), markup=False)
            return self.draw(batch)

        with Live(get_renderable=draw, console=console, refresh_per_second=_EACH_SECOND, transient=True) as live:
            try:
                yield
            finally:
                live.refresh()

    def draw(self, batch: Batch) -> "RichTable":
        """Return the table as it is now."""
        from rich.table import Table as RichTable
        from rich.text import Text

        report = make_report(batch.queue.folder.name, batch.queue.items.values())
        counts = f"{report.ended} of {report.items} ended, {report.passed} passed, {format_money(batch.purse.spent)}"
        table = RichTable(box=None, padding=(0, 2, 0, 0), caption=counts, caption_justify="left", show_header=False)
        running = [id for id in list(self._began) if id not in self._ended]
        for id in running[:MOST_ROWS]:
            state, seconds = batch.read_state(id), time.monotonic() - self._began[id]
            without = "its result is published" if batch.queue.items[id].done else "its place is made"
            steps = format_plural(state.budget.steps, "step") if state else without
            cost = format_known_cost(state.budget) if state else ""
            wait = batch.read_wait(id)
            why = "waits for you: halo board" if state and state.is_asking else describe_retry(wait) if wait else ""
            table.add_row(*(Text(clean(cell)) for cell in (id, steps, cost, format_duration(seconds), why)))
        if more := len(running) - MOST_ROWS:
            table.add_row(Text(f"and {more} more" if more > 0 else ""))
        return table


def describe_end(outcome: Outcome) -> str:
    """Return how an item ended, with its figures and what a person has to know of it."""
    figures = (format_duration(outcome.seconds), format_money(outcome.cost))
    reason = outcome.text if outcome.ending in (Ending.PLACE, Ending.ERROR) else ""
    return "  ".join(
        (describe_ending(outcome), *figures, *filter(None, (reason, outcome.pull_request, outcome.problem)))
    )
