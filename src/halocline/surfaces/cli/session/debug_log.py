"""`--debug FILE`: all events of a run with their times, those that are not logged too, and the trace of an error."""

import asyncio
import os
import platform
import stat
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TextIO

from halocline._version import __version__
from halocline.client.tasks import Client
from halocline.protocol import codec
from halocline.protocol.errors import UsageError
from halocline.protocol.events import Durable
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.waiting import end_tasks

Follow = Callable[[str, int], None]
"""Writes the events of a task after the given one."""
PATIENCE = 1.0
"""Seconds for the last events to be written."""


@asynccontextmanager
async def write_debug_log(path: str, client: Client) -> AsyncIterator[Follow]:
    """Write to a private file, which is overwritten. Raises UsageError if it cannot be written."""
    followed: list[FollowedTask] = []
    with _open_file(path) as file:
        began = time.monotonic()
        print(f"halo {__version__}, Python {platform.python_version()}, {sys.platform}", file=file, flush=True)
        try:
            yield lambda task, after: followed.append(FollowedTask(client, task, after, file, began))
        except Exception:
            file.write(redact_text(traceback.format_exc()))
            raise
        finally:
            for one in followed:
                await one.end()


class FollowedTask:
    """Writes the events of one task until it is ended."""

    def __init__(self, client: Client, task: str, after: int, file: TextIO, began: float) -> None:
        self._client = client
        self._task = task
        self._file = file
        self._began = began
        self._written = after
        self._moved = asyncio.Event()
        self._job = asyncio.create_task(self._write_events(after))

    async def end(self) -> None:
        """Stop after the events until now, for which it waits a little."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while self._client.is_open(self._task) and self._written < self._client.state(self._task).seq:
                    self._moved.clear()
                    await self._moved.wait()
        await end_tasks(self._job)

    async def _write_events(self, after: int) -> None:
        async for event in self._client.events(self._task, after):
            line = redact_text(codec.encode(event).decode())
            print(f"{time.monotonic() - self._began:9.3f} {line}", file=self._file, flush=True)
            if isinstance(event, Durable):
                self._written = event.seq
            self._moved.set()


def _open_file(path: str) -> TextIO:
    place = Path(path).expanduser()
    try:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.fchmod(descriptor, 0o600)  # an earlier file may be readable by others
        return open(descriptor, "w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"Cannot write {place}: {error.strerror}.", "Choose another file for --debug.") from error
