"""A row of the tables of queries and actions: which arguments it takes, and the function that answers it."""

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import msgspec

from halocline.protocol.errors import UsageError
from halocline.protocol.values import JsonObject, Value
from halocline.surfaces.web.open_tasks import OpenTasks

T = TypeVar("T")


class Row(Value, Generic[T], frozen=True):
    """`about` is for the docs: the first line of the function's text."""

    kind: type[T]
    answer: Callable[[OpenTasks, T], Awaitable[Any]]

    async def answered(self, desk: OpenTasks, given: JsonObject) -> Any:
        """The value for these arguments. Raises HaloclineError, also for arguments that make no sense."""
        return await self.answer(desk, _convert(given, self.kind))

    @property
    def about(self) -> str:
        return (self.answer.__doc__ or "").strip().split("\n")[0]


Rows = dict[str, Row[Any]]


class Nothing(Value, frozen=True):
    """No arguments."""


class OfTask(Value, frozen=True):
    task: str


class OfFolder(Value, frozen=True):
    """A workspace by its path."""

    workspace: str


def _convert(given: JsonObject, kind: type[T]) -> T:
    try:
        return msgspec.convert(given, kind)
    except (msgspec.ValidationError, ValueError) as error:
        raise UsageError(f"What the page asked makes no sense: {error}.", "Reload the page.") from error
