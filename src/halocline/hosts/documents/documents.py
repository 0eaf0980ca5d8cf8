"""Reads documents and pictures in a child process, so that a hostile file can neither fill our memory nor hang us."""

import asyncio
import os
import sys
from contextlib import suppress

from halocline.installation import extra_command
from halocline.ports.documents import DocumentKind, Picture
from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import ToolFailure

_TIME_LIMIT = 30.0
_PNG = b"\x89PNG"
_PASSED_ON = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "TMPDIR", "HOME")
"""The only variables of our environment that the child gets: no keys."""


class ChildDocuments:
    """Implements `ports.documents.Documents`. `time_limit` is in seconds."""

    def __init__(self, time_limit: float = _TIME_LIMIT) -> None:
        self._time_limit = time_limit

    async def text(self, kind: DocumentKind, data: bytes) -> str:
        return (await self._run(data, kind.value)).decode("utf-8", "replace")

    async def smaller(self, data: bytes, side: int, most: int) -> Picture:
        made = await self._run(data, "picture", str(side), str(most))
        return Picture("image/png" if made.startswith(_PNG) else "image/jpeg", made)

    async def _run(self, data: bytes, *arguments: str) -> bytes:
        process = await _start_reader(*arguments)
        try:
            async with asyncio.timeout(self._time_limit):
                out, errors = await process.communicate(data)
        except TimeoutError:
            raise ToolFailure(f"Reading it took longer than {self._time_limit:g} s and was stopped.") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        _require_success(process.returncode, errors.decode("utf-8", "replace"))
        return out


async def _start_reader(*arguments: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    # -P: a module in the working folder must not shadow a library.
    command = [sys.executable, "-P", "-m", "halocline.hosts.documents.reader", *arguments]
    env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, env=child_environment(env), cwd="/"
    )


def _require_success(code: int | None, message: str) -> None:
    match code:
        case 0:
            return
        case 3:
            raise ToolFailure(
                f"The Python package {message}, which reads it, is not installed. The user can install it with "
                f"`{extra_command('documents')}`; or read the file with an installed program by execute_command."
            )
        case 4:
            raise ToolFailure(f"It cannot be read: {message}.")
        case _:
            raise ToolFailure("It cannot be read: it needs too much time or memory, or the reader crashed.")
