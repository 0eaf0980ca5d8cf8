"""Work that takes a while, in a thread: begun by a page, looked at by every page, one of each kind at a time.

It ends by itself; asked to stop, or at the end of the server, it stops at its next step.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.values import Value


class Progress(Value, frozen=True, omit_defaults=False):
    """How far work is: the step, and its number. `value` and `error` are what came of it, once it is `over`."""

    step: str = ""
    done: int = 0
    of: int = 0
    over: bool = False
    stopped: bool = False
    error: str = ""
    hint: str = ""
    value: Any = None


class Stopped(Exception):
    """The next step is not wanted."""


Say = Callable[[str, int, int], None]
"""Says the next step, its number and of how many. Raises Stopped."""


class BackgroundJobs:
    """Those of one server."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._progress: dict[str, Progress] = {}
        self._unwanted: set[str] = set()

    def begin(self, kind: str, run: Callable[[Say], Any]) -> None:
        """Raises UsageError while such work goes on. What `run` gives is the value; `Stopped` may carry one."""
        if kind in self._running:
            raise UsageError("That is being done already.", "Wait for its end.")
        self._unwanted.discard(kind)
        self._progress[kind] = Progress("Begins…")
        self._running[kind] = asyncio.create_task(self._run(kind, run), name=f"work: {kind}")

    def progress(self, kind: str) -> Progress | None:
        """How it stands with the newest work of a kind; None when there was none."""
        return self._progress.get(kind)

    def stop(self, kind: str) -> None:
        """Let it stop at its next step."""
        self._unwanted.add(kind)

    async def close(self) -> None:
        self._unwanted.update(self._running)
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _run(self, kind: str, run: Callable[[Say], Any]) -> None:
        def say(step: str, done: int, of: int) -> None:
            if kind in self._unwanted:
                raise Stopped
            self._progress[kind] = Progress(step, done, of)

        over = Progress(over=True, error="It broke.", hint="This is a bug; see logs/halocline.log.")
        try:
            over = Progress(over=True, value=await asyncio.to_thread(run, say))
        except Stopped as stopped:
            over = Progress(over=True, stopped=True, value=next(iter(stopped.args), None))
        except HaloclineError as error:
            over = Progress(over=True, error=error.text, hint=error.hint)
        except OSError as error:
            over = Progress(
                over=True, error=f"It could not be done: {error}.", hint="Look at the disk, then try again."
            )
        finally:
            self._running.pop(kind, None)
            self._progress[kind] = over
