"""The tasks that this process joined while others write them. A program that joins none pays for nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from halocline.protocol.commands import AnyCommand
from halocline.protocol.errors import UsageError
from halocline.store.paths import Home
from halocline.task.log import Log

if TYPE_CHECKING:
    from halocline.runtime.attach.remote_task import Attached


class Attachments:
    """By the tasks' names, each with the coroutine that keeps up with it.

    `send` passes on what was sent to a writer that is gone, once this process is the writer.
    """

    def __init__(self, home: Home, send: Callable[[AnyCommand], bool]) -> None:
        self._home = home
        self._send = send
        self._joined: dict[str, tuple[Attached, asyncio.Task[None]]] = {}

    def get(self, name: str) -> "Attached | None":
        """The task as another process writes it; None when it is not joined."""
        return self._joined[name][0] if name in self._joined else None

    async def join(
        self, name: str, client: str, open_here: Callable[[], Awaitable[Log]] | None, *, while_asked: bool = False
    ) -> None:
        """Join the writer of a task, or become it; `while_asked`, only where somebody is asked when the writer ends.

        Raises UsageError when there is none and it may not be this one.
        """
        from halocline.protocol.ipc import Joining
        from halocline.runtime.attach.remote_task import Attached

        me = Joining(client, asks=open_here is not None)
        task = Attached(self._home.task(name), name, me, open_here, self._send, while_asked=while_asked)
        if await task.join():
            following = asyncio.create_task(task.follow(), name=f"attached to {name}")
            self._joined[name] = (task, following)
        elif open_here is None:
            raise UsageError(f"Nobody has task {name} open.", f"Read it: halo tasks show {name}. Go on: halo -r {name}")

    async def let_go(self, name: str) -> Exception | None:
        """Leave a task, which goes on; nothing happens when it was not joined. Gives what broke it."""
        if (joined := self._joined.pop(name, None)) is None:
            return None
        (end,) = await _collect_outcomes([joined])
        return end if isinstance(end, Exception) else None

    async def close(self) -> list[BaseException]:
        """Leave all; gives what broke any."""
        return [end for end in await _collect_outcomes([*self._joined.values()]) if isinstance(end, Exception)]


async def _collect_outcomes(joined: "Sequence[tuple[Attached, asyncio.Task[None]]]") -> list[BaseException | None]:
    """Return how following each of them ended; none has a connection any more."""
    for _, following in joined:
        following.cancel()
    ends = await asyncio.gather(*(following for _, following in joined), return_exceptions=True)
    for task, _ in joined:
        await task.hang_up()
    return ends
