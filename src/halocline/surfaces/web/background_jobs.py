"""Long-running jobs in threads: started by a page, visible to every page, one of each kind at a time.

A stop request, or the server's shutdown, takes effect at the job's next step.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.values import Value


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

    def begin(self, kind: str, run: Callable[[Say], Any]) -> None:
        """Start a job whose value `run` returns, or `Stopped` carries. Raises UsageError if this kind is running."""
        if kind in self._running:
            raise UsageError("This job is already running.", "Wait for it to finish.")
        self._unwanted.discard(kind)
        self._progress[kind] = Progress("Starting…")
        self._running[kind] = asyncio.create_task(self._run(kind, run), name=f"work: {kind}")

    def progress(self, kind: str) -> Progress | None:
        """Return the progress of a kind's latest job, or None."""
        return self._progress.get(kind)

    def stop(self, kind: str) -> None:
        """Stop the job at its next step."""
        self._unwanted.add(kind)

    async def close(self) -> None:
        self._unwanted.update(self._running)
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _run(self, kind: str, run: Callable[[Say], Any]) -> None:
        def say(step: str, done: int, of: int) -> None:
            if kind in self._unwanted:
                raise Stopped
            self._progress[kind] = Progress(step, done, of)

        over = Progress(
            over=True, error="The job failed with an internal error.", hint="This is a bug; see logs/halocline.log."
        )
        try:
            over = Progress(over=True, value=await asyncio.to_thread(run, say))
        except Stopped as stopped:
            over = Progress(over=True, stopped=True, value=next(iter(stopped.args), None))
        except HaloclineError as error:
            over = Progress(over=True, error=error.text, hint=error.hint)
        except OSError as error:
            over = Progress(over=True, error=f"File error: {error}.", hint="Check the disk, then try again.")
        finally:
            self._running.pop(kind, None)
            self._progress[kind] = over
