"""One task for all pages that watch it: its events are folded once, and each change is encoded once.

A page that is a little behind gets the frames that it missed. One that is further behind, or comes back, gets the rows
that changed since; one that knows nothing, the last rows. So no page waits for another, and nothing is queued for one.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from secrets import token_urlsafe

from halocline.protocol import events as ev, json_output
from halocline.surfaces.web.open_tasks import OpenTasks
from halocline.surfaces.web.task_view.fact_changes import list_changes
from halocline.surfaces.web.task_view.fact_folds import FactFold
from halocline.surfaces.web.task_view.facts import TaskFacts
from halocline.surfaces.web.task_view.row_fold import RowFold
from halocline.surfaces.web.task_view.row_store import RowStore
from halocline.surfaces.web.task_watch import EventBatch, watch_task
from halocline.surfaces.web.wire import Grown, RowGrowth, TaskChanged, Watch, add_fields, encode

MOST_ROWS = 200
"""Rows that a page gets first, and at a time when it asks for older ones."""
MOST_FRAMES, MOST_BYTES = 64, 2**20
"""Frames that are kept for pages that are a little behind."""


class TaskView:
    """The rows and facts of a task. `revision` grows with every change."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.id = token_urlsafe(6)
        self.revision = 0
        self.is_read = False
        self.error: BaseException | None = None
        self.news: set[asyncio.Event] = set()
        """Set whenever something changed."""
        self._rows = RowFold()
        self._facts = FactFold()
        self._store = RowStore()
        self._shown = TaskFacts()
        self._rewinds: list[tuple[int, int]] = []
        self._frames: deque[bytes] = deque()
        """The newest frames, the last of which is of this revision."""

    async def follow(self, tasks: OpenTasks) -> None:
        """Fold the task's events until canceled. Raises what keeps it from being read."""
        async with aclosing(watch_task(tasks, self.task, 0)) as batches:
            async for batch in batches:
                self.take(batch)
                await asyncio.sleep(0)  # a long past comes in many batches

    def end(self, error: BaseException | None) -> None:
        """Tell pages why the task cannot be read any more."""
        self.error = error
        self._tell_pages()

    def take(self, batch: EventBatch) -> None:
        """Fold a batch of events. Pages see nothing before all of the past is read."""
        if batch.fresh:
            self._rows.drop_transient()
        self._rows.pieces.clear()
        for event in batch.events:
            self._rows.take(event)
            self._facts.take(event)
            if isinstance(event, ev.ConversationRestored):
                self._rewinds.append((event.seq, event.to))
        self._change(moves=any(isinstance(event, ev.ConversationRestored | ev.TurnResumed) for event in batch.events))
        self.is_read = self.is_read or batch.live
        if self.is_read:
            self._tell_pages()

    def begin(self) -> bytes:
        """Return the frame for a page that knows nothing: the last rows, from the first that waits for an answer."""
        first = self._store.find_page(len(self._store), MOST_ROWS)
        if (waiting := self._rows.find_waiting()) is not None:
            first = min(first, waiting)
        return self._encode(None, range(first, len(self._store)), is_new=True)

    def catch_up(self, revision: int) -> tuple[int, bytes]:
        """Return a later revision, and the frame that leads to it."""
        behind = self.revision - revision
        if behind <= len(self._frames):
            return revision + 1, self._frames[-behind]
        return self.revision, self._encode(None, self._store.list_changed(revision))

    def show_rows(self, first: int, until: int) -> tuple[int, bytes]:
        """Return the first of some rows that end before `until`, not before `first`, and their frame."""
        begin = max(first, self._store.find_page(until, MOST_ROWS))
        return begin, self._encode(self._shown, range(begin, until))

    def count_rows(self) -> int:
        """Return how many rows there are."""
        return len(self._store)

    def _change(self, *, moves: bool) -> None:
        """Take over what was folded. If it `moves` rows, those that rewinds left behind are others."""
        rows, length = self._rows, len(self._store)
        changed, grown = self._store.update(rows.begin, rows.rows, rows.seqs, self.revision + 1, rows.pieces)
        rows.settle()
        if moves and self._rewinds:
            self._facts.set_left_rows(self._store.list_left(self._rewinds))
        facts, known = self._facts.facts, self._shown
        if not changed and not grown and length == len(self._store) and facts is known:
            return
        self.revision += 1
        self._shown = facts
        if not self.is_read:
            return
        is_short = facts is known and not changed and length == len(self._store)
        if is_short and [(one.at, one.field) for one in grown] == [(length - 1, "text")]:
            self._keep(encode(Grown(self.id, self.revision, grown[0].text)))
        else:
            self._keep(self._encode(known, changed, grown))

    def _keep(self, frame: bytes) -> None:
        self._frames.append(frame)
        while len(self._frames) > MOST_FRAMES or sum(map(len, self._frames)) > MOST_BYTES:
            self._frames.popleft()

    def _encode(
        self,
        known: TaskFacts | None,
        rows: range | list[int],
        grown: list[RowGrowth] | None = None,
        *,
        is_new: bool = False,
    ) -> bytes:
        """Encode these rows, what others have grown by, and what is new against the known facts."""
        frame = TaskChanged(self.task, self.id, self.revision, len(self._store), is_new)
        facts, lists = list_changes(known, self._shown)
        return add_fields(
            frame, rows=self._store.pick(rows), grown=json_output.encode(grown or ()), facts=facts, lists=lists
        )

    def _tell_pages(self) -> None:
        for news in self.news:
            news.set()


class PageView:
    """A view as one page knows it: at a revision, with the rows that it asked for and did not get yet."""

    def __init__(self, view: TaskView, known: Watch) -> None:
        self._view = view
        self._revision = known.revision if known.view == view.id else None
        self._asked = (0, 0)
        self._news = asyncio.Event()

    def show_rows(self, first: int, until: int) -> None:
        """Send these rows, too, instead of others that were asked for."""
        self._asked = (max(0, first), until)
        self._news.set()

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """Yield frames as the task changes. Raises what keeps the task from being read."""
        self._view.news.add(self._news)
        try:
            while True:
                self._news.clear()
                while (frame := self.next_frame()) is not None:
                    yield frame
                if self._view.error:
                    raise self._view.error
                await self._news.wait()
        finally:
            self._view.news.discard(self._news)

    def next_frame(self) -> bytes | None:
        """Return the next frame, if there is something that the page does not know."""
        view = self._view
        if not view.is_read:
            return None
        if self._revision is None or self._revision > view.revision:
            self._revision = view.revision
            return view.begin()
        if self._revision < view.revision:
            self._revision, frame = view.catch_up(self._revision)
            return frame
        first, until = self._asked
        until = min(until, view.count_rows())
        if first >= until:
            return None
        begin, frame = view.show_rows(first, until)
        self._asked = (first, begin)
        return frame
