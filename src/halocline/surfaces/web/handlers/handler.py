"""Queries and actions are functions of the open tasks and one struct of arguments.

A decorator names each on the wire; what a page may send is the type of the second parameter.
"""

import inspect
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import msgspec

from halocline.protocol.errors import UsageError
from halocline.protocol.values import JsonObject, Value
from halocline.surfaces.web.open_tasks import OpenTasks, find_folder
from halocline.surfaces.web.page_words import tell_answer

T = TypeVar("T")


class Handler(Value, Generic[T], frozen=True):
    """`changes`: an action, which runs once even if a page repeats it."""

    name: str
    changes: bool
    run: Callable[[OpenTasks, T], Awaitable[Any]]

    async def answer(self, tasks: OpenTasks, given: JsonObject) -> Any:
        """Return the answer. Raises HaloclineError, also for invalid arguments."""
        try:
            arguments = msgspec.convert(given, self.arguments)
        except (msgspec.ValidationError, ValueError) as error:
            raise UsageError(f"Invalid request: {error}.", "Reload the page.") from error
        return tell_answer(await self.run(tasks, arguments))

    @property
    def arguments(self) -> type[T]:
        """The struct that a page's arguments must match."""
        _tasks, arguments, *_ = inspect.get_annotations(self.run).values()
        return cast("type[T]", arguments)

    @property
    def description(self) -> str:
        """The first line of the function's docstring, for the reference."""
        return (inspect.getdoc(self.run) or "").split("\n")[0]


def query(name: str) -> Callable[[Callable[[OpenTasks, T], Awaitable[Any]]], Handler[T]]:
    """Make a function that changes nothing answer this query."""
    return lambda run: Handler(name, changes=False, run=run)


def action(name: str) -> Callable[[Callable[[OpenTasks, T], Awaitable[Any]]], Handler[T]]:
    """Make a function carry out this action."""
    return lambda run: Handler(name, changes=True, run=run)


class Nothing(Value, frozen=True):
    """No arguments."""


class OfTask(Value, frozen=True):
    task: str


class OfFolder(Value, frozen=True):
    """A workspace path."""

    workspace: str

    def folder(self) -> Path:
        """Return the folder. Raises UsageError."""
        return find_folder(self.workspace)
