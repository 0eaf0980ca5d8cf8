"""The messages that wait in an opened task: Enter with nothing typed sends the first, Up takes the last one back."""

from collections.abc import Callable, Coroutine

from halocline.surfaces.cli.live.activity import Fragments, cut_line
from halocline.surfaces.slash.queue_lines import MOST, list_queue_lines
from halocline.surfaces.tui.fragment_lines import FragmentLines
from halocline.surfaces.tui.input.composer import Composer
from halocline.surfaces.tui.task_feed import TaskFeed


class QueuePane(FragmentLines):
    """Draws the queue of the task, and serves the keys of the composer. `start` runs what may fail, and shows why."""

    def __init__(
        self, feed: TaskFeed, composer: Composer, start: Callable[[Coroutine[None, None, None]], object]
    ) -> None:
        super().__init__(self._list_queue, MOST + 1)
        self._feed = feed
        self._composer = composer
        self._start_work = start
        composer.send_waiting, composer.take_waiting = self._send_first, self._take_last

    def _list_queue(self, width: int, rows: int) -> list[Fragments]:
        lines = list_queue_lines(self._feed.state.queue.messages)[:rows]
        return [[("class:quiet", cut_line(line, width - 1))] for line in lines]

    def _send_first(self) -> None:
        self._start_work(self._feed.send_waiting())

    def _take_last(self) -> bool:
        if self._composer.text or not self._feed.state.queue.messages:
            return False
        self._start_work(self._take_back())
        return True

    async def _take_back(self) -> None:
        if words := await self._feed.take_waiting():
            self._composer.insert(words)
