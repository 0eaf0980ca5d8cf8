"""The rows of the board for pages, kept up to date while a page shows it. They are those of the terminal's board."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence

from halocline.client.tasks import Client
from halocline.protocol.values import Value
from halocline.protocol.waiting import end_tasks, wait_at_most
from halocline.surfaces.board.entries import BoardRow, Group, list_rows
from halocline.surfaces.board.tasks import BoardTasks

LONGEST = 20.0
"""Seconds after which a page is answered although nothing changed."""
IDLE = 30.0
"""Seconds without a page after which no task is followed any more."""
PAUSE = 0.25
"""Seconds between two looks at what changed."""


class BoardAnswer(Value, frozen=True, omit_defaults=False):
    """All tasks in the `order` of the board, and those `rows` that changed since the revision that a page knew."""

    revision: int
    groups: tuple[Group, ...]
    order: Sequence[str]
    rows: Sequence[BoardRow]


class BoardFeed:
    """`run_along` runs something until the server ends."""

    def __init__(self, client: Client, run_along: Callable[[Coroutine[None, None, None], str], object]) -> None:
        self._client = client
        self._run_along = run_along
        self._tasks: BoardTasks | None = None
        self._changed = asyncio.Event()
        self._filling = asyncio.Lock()
        self._asked_at = 0.0
        # Begins with the time, so that a page which knows another server's gets all rows.
        self._revision = self._first = int(time.time() * 1000)
        self._order: list[str] = []
        self._rows: dict[str, tuple[int, BoardRow]] = {}

    async def next_answer(self, known: int) -> BoardAnswer:
        """Return the board once it differs from the revision that a page knows, or after a while."""
        tasks = await self._open()
        until = time.monotonic() + LONGEST
        while True:
            self._asked_at = time.monotonic()
            changed = self._changed
            self._take(list_rows(tasks.list_entries()))
            if self._revision != known or time.monotonic() > until:
                since = known if self._first <= known <= self._revision else 0
                rows = [row for at, row in self._rows.values() if at > since]
                return BoardAnswer(self._revision, tuple(Group), self._order, rows)
            await asyncio.sleep(PAUSE)
            await wait_at_most(until - time.monotonic(), changed.wait())

    def _take(self, rows: Sequence[BoardRow]) -> None:
        """Note which rows changed."""
        order, before = [row.task for row in rows], self._rows
        changed = {row.task for row in rows if row.task not in before or before[row.task][1] != row}
        if changed or order != self._order:
            self._revision += 1
            self._rows = {row.task: (self._revision, row) if row.task in changed else before[row.task] for row in rows}
            self._order = order

    def look_again(self) -> None:
        """Look at all worktrees soon."""
        if self._tasks:
            self._tasks.look_again()

    def _note_change(self) -> None:
        """Wake all who looked before this change; who looks from now on waits for the next one."""
        before, self._changed = self._changed, asyncio.Event()
        before.set()

    async def _open(self) -> BoardTasks:
        """Return the tasks, once they were looked at for the first time."""
        async with self._filling:
            if self._tasks is None:
                tasks = BoardTasks(self._client, self._note_change, lambda problem: None)
                await tasks.refresh()
                self._tasks, self._asked_at = tasks, time.monotonic()
                self._run_along(self._follow(tasks), "board")
            return self._tasks

    async def _follow(self, tasks: BoardTasks) -> None:
        watching = asyncio.create_task(tasks.watch(), name="tasks of the board")
        try:
            while not watching.done() and time.monotonic() - self._asked_at < IDLE + LONGEST:
                await wait_at_most(IDLE / 4, asyncio.wait([watching]))
        finally:
            self._tasks = None
            await end_tasks(watching)
