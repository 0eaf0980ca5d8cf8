"""The views of the tasks that pages watch: one for each task, however many pages watch it."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from halocline.surfaces.web.open_tasks import OpenTasks
from halocline.surfaces.web.task_view.view import TaskView

LINGER = 10.0
"""Seconds for which a view is kept for a page that lost its connection."""
MOST_LINGERING = 8


class TaskViews:
    """All views of one server."""

    def __init__(self, tasks: OpenTasks) -> None:
        self._tasks = tasks
        self._views: dict[str, TaskView] = {}
        self._following: dict[str, asyncio.Task[None]] = {}
        self._pages: Counter[str] = Counter()
        self._leaving: dict[str, asyncio.TimerHandle] = {}

    @contextmanager
    def watched(self, task: str) -> Iterator[TaskView]:
        """Watch a task for one page."""
        if timer := self._leaving.pop(task, None):
            timer.cancel()
        view = self._views.get(task)
        if view is None or view.error:
            view = self._open(task)
        self._pages[view.id] += 1
        try:
            yield view
        finally:
            self._pages[view.id] -= 1
            if not self._pages[view.id]:
                del self._pages[view.id]
                self._linger(view)

    def _open(self, task: str) -> TaskView:
        view = self._views[task] = TaskView(task)
        following = self._following[task] = self._tasks.run_along(view.follow(self._tasks), f"view of {task}")
        following.add_done_callback(lambda done: view.end(None if done.cancelled() else done.exception()))
        return view

    def _linger(self, view: TaskView) -> None:
        if self._views.get(view.task) is not view:
            return
        if view.error:
            self._close(view.task)
            return
        while len(self._leaving) >= MOST_LINGERING:
            self._close(next(iter(self._leaving)))
        self._leaving[view.task] = asyncio.get_running_loop().call_later(LINGER, self._close, view.task)

    def _close(self, task: str) -> None:
        if timer := self._leaving.pop(task, None):
            timer.cancel()
        del self._views[task]
        self._following.pop(task).cancel()
