"""A row of the query and action tables: argument type and handler."""

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import msgspec

from halocline.protocol.errors import UsageError
from halocline.protocol.values import JsonObject, Value
from halocline.surfaces.web.open_tasks import OpenTasks

T = TypeVar("T")


class Row(Value, Generic[T], frozen=True):
    """`about` is for the docs: the first line of the handler's docstring."""

    kind: type[T]
    answer: Callable[[OpenTasks, T], Awaitable[Any]]

    async def answered(self, tasks: OpenTasks, given: JsonObject) -> Any:
        """Return the answer. Raises HaloclineError, also for invalid arguments."""
        return await self.answer(tasks, _convert(given, self.kind))

    @property
    def about(self) -> str:
        return (self.answer.__doc__ or "").strip().split("\n")[0]


Rows = dict[str, Row[Any]]


class Nothing(Value, frozen=True):
    """No arguments."""


class OfTask(Value, frozen=True):
    task: str


class OfFolder(Value, frozen=True):
    """A workspace path."""

    workspace: str


def _convert(given: JsonObject, kind: type[T]) -> T:
    try:
        return msgspec.convert(given, kind)
    except (msgspec.ValidationError, ValueError) as error:
        raise UsageError(f"Invalid request: {error}.", "Reload the page.") from error
