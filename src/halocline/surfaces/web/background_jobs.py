"""Long-running jobs: started by a page, visible to every page, one of each kind at a time.

A stop request, or the server's shutdown, takes effect at the next step of a job in a thread, and at once while a text
is being written.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.values import Value
from halocline.protocol.waiting import end_tasks


class Progress(Value, frozen=True, omit_defaults=False):
    """A job's current step and its number; once `over`, its `value` or `error`."""

    step: str = ""
    done: int = 0
    of: int = 0
    over: bool = False
    stopped: bool = False
    error: str = ""
    hint: str = ""
    value: Any = None


class Stopped(Exception):
    """Raised at the next step of a job that should stop."""


Say = Callable[[str, int, int], None]
"""Report the next step, its number and the total. Raises Stopped."""


class BackgroundJobs:
    """The jobs of one server."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._progress: dict[str, Progress] = {}
        self._unwanted: set[str] = set()
        self._texts: set[str] = set()

    def begin(self, kind: str, run: Callable[[Say], Any]) -> None:
        """Start a job whose value `run` returns, or `Stopped` carries. Raises UsageError if this kind is running."""

        def say(step: str, done: int, of: int) -> None:
            if kind in self._unwanted:
                raise Stopped
            self._progress[kind] = Progress(step, done, of)

        self._start(kind, lambda: asyncio.to_thread(run, say))

    def write(self, kind: str, texts: AsyncGenerator[str, None]) -> None:
        """Start a job whose step is the newest of the texts, and whose value is the last. Raises as `begin` does."""

        async def follow() -> str:
            text = ""
            async with aclosing(texts):
                async for text in texts:
                    self._progress[kind] = Progress(text)
            return text

        self._start(kind, follow)
        self._texts.add(kind)
        self._progress[kind] = Progress()

    def _start(self, kind: str, work: Callable[[], Awaitable[Any]]) -> None:
        if kind in self._running:
            raise UsageError("This job is already running.", "Wait for it to finish.")
        self._unwanted.discard(kind)
        self._progress[kind] = Progress("Starting…")
        self._running[kind] = asyncio.create_task(self._run(kind, work), name=f"work: {kind}")

    def progress(self, kind: str) -> Progress | None:
        """Return the progress of a kind's latest job, or None."""
        return self._progress.get(kind)

    def stop(self, kind: str) -> None:
        """Stop the job at its next step, or the text that it writes at once."""
        self._unwanted.add(kind)
        if kind in self._texts and (running := self._running.get(kind)):
            running.cancel()

    async def close(self) -> None:
        for kind in self._running:
            self.stop(kind)
        await end_tasks(*(self._running[kind] for kind in self._texts))
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _run(self, kind: str, work: Callable[[], Awaitable[Any]]) -> None:
        over = Progress(
            over=True, error="The job failed with an internal error.", hint="This is a bug; see logs/halocline.log."
        )
        try:
            over = Progress(over=True, value=await work())
        except Stopped as stopped:
            over = Progress(over=True, stopped=True, value=next(iter(stopped.args), None))
        except asyncio.CancelledError:
            over = Progress(over=True, stopped=True)
            raise
        except HaloclineError as error:
            over = Progress(over=True, error=error.text, hint=error.hint)
        except OSError as error:
            over = Progress(over=True, error=f"File error: {error}.", hint="Check the disk, then try again.")
        finally:
            self._running.pop(kind, None)
            self._texts.discard(kind)
            self._progress[kind] = over
