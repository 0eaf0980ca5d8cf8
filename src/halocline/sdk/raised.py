"""Errors that functions of a program raised in one of its tasks: none is swallowed.

What must stay true: what a callback or a hook raises ends the turn, and the run raises it. What a tool raises is a
failure that the model reads, and the result of the run has it.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.errors import UsageError
from halocline.protocol.events.custom_tools import CustomTool
from halocline.protocol.values import JsonObject
from halocline.sdk.calling import answer_call
from halocline.sdk.threads import Stopped, ends_task

CANCELLED = (
    "A callback waited for something that was cancelled, and decided nothing.",
    "Catch asyncio.CancelledError in it.",
)


class Raised:
    """Errors of one task until the program has them. `interrupt` ends its turn."""

    def __init__(self) -> None:
        self.interrupt: Callable[[], object] = lambda: None
        self._ended_by: BaseException | None = None
        self._of_calls: dict[str, BaseException] = {}

    def end_turn(self, error: BaseException) -> Exception:
        """End the turn for what a callback or a hook raised, and return that. Raises a cancellation of the task."""
        if ends_task(error):
            raise error
        raised = UsageError(*CANCELLED) if isinstance(error, asyncio.CancelledError) else error
        self._ended_by = self._ended_by or raised
        self.interrupt()
        return raised if isinstance(raised, Exception) else Stopped()

    def note_call(self, call: str, error: BaseException) -> None:
        """Keep what the function of a call raised."""
        self._of_calls[call] = error

    def take_calls(self, calls: Iterable[str]) -> tuple[BaseException, ...]:
        """Return what the functions of these calls raised, in order."""
        return tuple(error for call in calls if (error := self._of_calls.pop(call, None)))

    def raise_first(self) -> None:
        """Raise what ended a turn, once."""
        error, self._ended_by = self._ended_by, None
        if error:
            raise error


class NotedTool:
    """Implements `ports.tool.FunctionTool` for one task, which keeps what the function raises."""

    def __init__(
        self, function: Callable[..., Any], definition: CustomTool, timeout: float | None, raised: Raised
    ) -> None:
        self.definition = definition
        self._answer = partial(answer_call, function, definition, timeout)
        self._raised = raised

    async def answer(self, arguments: JsonObject, ctx: ToolContext) -> ToolOutput:
        """Run the function for a call of the model. Raises ToolFailure."""
        return await self._answer(arguments, ctx, partial(self._raised.note_call, ctx.call.id))
