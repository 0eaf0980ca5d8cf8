"""Checks before each request: the user's to-do list and the files that the model has seen.

Nothing here runs in a replay: the findings are in the log.
"""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from halocline.context import notes
from halocline.ports.host import Files
from halocline.protocol.events import Event, FilesChangedOutside, TodosChanged, TodosReminded
from halocline.protocol.kinds import Todo, TodoStatus
from halocline.protocol.state.file_knowledge import TODO_FILE
from halocline.protocol.state.state import State
from halocline.task import updates

News = TodosChanged | TodosReminded | FilesChangedOutside


class ChangeWatch:
    """Checks of one task; subscribes to its log. Reminds of the list after `every` requests; 0 for never."""

    def __init__(self, folder: Path, files: Files, every: int) -> None:
        self._folder = folder
        self._todo_file: updates.todo_file.TodoFile | None = None
        self._every = every
        self._files = files
        self._known: updates.known_files.KnownFiles | None = None

    def push(self, event: Event) -> None:
        if isinstance(event, TodosChanged):
            self._get_todo_file().changed(event)

    def close(self) -> None:
        """Do nothing: no resources are held."""

    async def collect_changes(self, state: State) -> list[News]:
        """Return what changed; usually nothing."""
        news: list[News] = await self._files_changed(state) if state.files.known else []
        if (todos := self._read_edited_todos(state.plan.todos)) is not None:
            return [*news, TodosChanged(todos=todos, by="person", content=(notes.todos.note_edited(todos),))]
        return [*news, *list_reminders(state, self._every)]

    @asynccontextmanager
    async def watching(self, state: Callable[[], State], what: str) -> AsyncIterator[None]:
        """Attribute changes to known files within the body to `what` the task ran."""
        if not state().files.known:
            yield
            return
        looks = self._get_known_files()
        before = await looks.differing(state())
        try:
            yield
        finally:
            looks.ran(what, before, await looks.differing(state()))

    async def _files_changed(self, state: State) -> list[News]:
        files = await self._get_known_files().changed(state)
        if not files:
            return []
        note = notes.files.changed_files(files, state.files.known, updates.known_files.jobs_of(state))
        return [FilesChangedOutside(tuple(files), (note,))]

    def _read_edited_todos(self, todos: tuple[Todo, ...]) -> tuple[Todo, ...] | None:
        if not todos and not os.path.exists(self._folder / TODO_FILE):
            return None
        return self._get_todo_file().edited(todos)

    def _get_todo_file(self) -> "updates.todo_file.TodoFile":
        if self._todo_file is None:
            self._todo_file = updates.todo_file.TodoFile(self._folder)
        return self._todo_file

    def _get_known_files(self) -> "updates.known_files.KnownFiles":
        if self._known is None:
            self._known = updates.known_files.KnownFiles(self._files)
        return self._known


def list_reminders(state: State, every: int) -> list[TodosReminded]:
    """Return a reminder if items are open and the mode changed or the list is old; each next one waits longer."""
    seen, open_items = state.plan.todo_age, any(todo.status is not TodoStatus.COMPLETED for todo in state.plan.todos)
    if not every or not open_items:
        return []
    if seen.mode_changed:
        return [TodosReminded((notes.todos.note_switched(state.plan.todos, state.plan.mode),))]
    if seen.requests < every << seen.reminders:
        return []
    return [TodosReminded((notes.todos.note_overdue(state.plan.todos, seen.requests),))]
