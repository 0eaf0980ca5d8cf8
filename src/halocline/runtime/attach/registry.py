"""The tasks of other processes that this one is attached to. Without any, nothing is loaded."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from halocline.protocol.commands import AnyCommand
from halocline.protocol.errors import UsageError
from halocline.protocol.waiting import end_tasks
from halocline.runtime import attach
from halocline.store.paths import Home
from halocline.task.log import Log

if TYPE_CHECKING:
    from halocline.runtime.attach.remote_task import Attached


class Attachments:
    """Attached tasks by id, each with the coroutine that follows it.

    `send` delivers commands meant for a writer that is gone, once this process is the writer.
    """

    def __init__(self, home: Home, send: Callable[[AnyCommand], Awaitable[bool]]) -> None:
        self._home = home
        self._send = send
        self._joined: dict[str, tuple[Attached, asyncio.Task[None]]] = {}

    def get(self, name: str) -> "Attached | None":
        """Return the attached task; None if this process is not attached to it."""
        return self._joined[name][0] if name in self._joined else None

    async def join(
        self, name: str, client: str, open_here: Callable[[], Awaitable[Log]] | None, *, while_asked: bool = False
    ) -> None:
        """Attach to the writer of a task, or become it; with `while_asked`, only if the task then waits for a person.

        Raises UsageError if there is no writer and this process may not become it.
        """
        from halocline.protocol.ipc import Introduction

        me = Introduction(client, asks=open_here is not None)
        task = attach.remote_task.Attached(
            self._home.task(name), name, me, open_here, self._send, while_asked=while_asked
        )
        if await task.join():
            following = asyncio.create_task(task.follow(), name=f"attached to {name}")
            self._joined[name] = (task, following)
        elif open_here is None:
            raise UsageError(
                f"Task {name} is not open in any process.",
                f"Read it: halo tasks show {name}. Resume it: halo -r {name}",
            )

    async def let_go(self, name: str) -> Exception | None:
        """Detach from a task, which continues. Return the error that broke it, or None."""
        if (joined := self._joined.pop(name, None)) is None:
            return None
        (end,) = await _collect_outcomes([joined])
        return end if isinstance(end, Exception) else None

    async def close(self) -> list[BaseException]:
        """Detach from all tasks; return the errors that broke any."""
        return [end for end in await _collect_outcomes([*self._joined.values()]) if isinstance(end, Exception)]


async def _collect_outcomes(joined: "Sequence[tuple[Attached, asyncio.Task[None]]]") -> list[BaseException | None]:
    """Stop following the tasks and close their connections; return how each ended."""
    ends = await end_tasks(*(following for _, following in joined))
    for task, _ in joined:
        await task.hang_up()
    return ends
