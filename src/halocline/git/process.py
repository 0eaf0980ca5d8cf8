"""Run git, or a program that runs it, in its own process group, with a bound on its output and on its time."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from halocline.files import encodings
from halocline.files.blocking import GIT_LISTS, find_blocking_below, watch_program
from halocline.git.environment import find_git, git_path
from halocline.git.repository import GitUnusable
from halocline.protocol.child_environment import ChildEnvironment


class Answer(NamedTuple):
    """Git's answer. `code` is None when there was more output than was read."""

    code: int | None
    output: bytes
    errors: bytes

    @property
    def is_good(self) -> bool:
        """True if git succeeded, or was stopped because it printed more than was read."""
        return self.code in (0, None)

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")

    @property
    def patch(self) -> str:
        """The output of a diff, with each file's lines in the encoding that they look like."""
        return encodings.decode_patch(self.output)


async def run_git(
    folder: Path,
    environment: ChildEnvironment,
    words: Sequence[str],
    *,
    data: bytes = b"",
    most: int,
    seconds: float,
    is_one_stream: bool = False,
) -> Answer:
    """Run git in a folder; `is_one_stream` merges stderr into the output. Raises GitUnusable."""
    program = find_git(git_path(environment, os.fspath(folder)))
    if program is None:
        raise GitUnusable("git was not found on the PATH.", "Install git.")
    return await run_program(
        (program, *words), folder, environment, data=data, most=most, seconds=seconds, is_one_stream=is_one_stream
    )


async def run_program(
    words: Sequence[str],
    folder: Path,
    environment: ChildEnvironment,
    *,
    data: bytes = b"",
    most: int,
    seconds: float,
    is_one_stream: bool = False,
) -> Answer:
    """Run git, or a program that runs it. Raises GitUnusable."""
    tree = environment.get("GIT_WORK_TREE") or os.fspath(folder)
    name = " ".join((os.path.basename(words[0]), *words[1:2]))
    process = await _start_program(words, folder, environment, is_one_stream=is_one_stream)
    try:
        with watch_program(partial(find_blocking_below, tree, GIT_LISTS), partial(_end_process, process)) as watch:
            async with asyncio.timeout(seconds):
                stop = partial(_end_process, process)
                output, errors, _ = await asyncio.gather(
                    _read_bounded(process.stdout, most, stop),
                    _read_bounded(process.stderr, most, stop),
                    _feed_input(process, data),
                )
                code = None if len(output) > most else await process.wait()
        if watch.found:
            raise GitUnusable(f"{name} would hang: {watch.found}.", "Then try again.")
    except TimeoutError:
        raise GitUnusable(f"{name} took longer than {seconds:g} s.", "Try again with fewer files.") from None
    finally:
        _end_process(process)
        await process.wait()
    return Answer(code, output[:most], errors)


async def _start_program(
    words: Sequence[str], folder: Path, environment: ChildEnvironment, *, is_one_stream: bool
) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    try:
        return await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            env=environment,
            stdin=pipe,
            stdout=pipe,
            stderr=asyncio.subprocess.STDOUT if is_one_stream else pipe,
            process_group=0,
        )
    except OSError as error:
        raise GitUnusable(f"{words[0]} did not start in {folder}: {error.strerror}.", "Check the folder.") from error


def _end_process(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _feed_input(process: asyncio.subprocess.Process, data: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()


async def _read_bounded(stream: asyncio.StreamReader | None, most: int, stop: Callable[[], None]) -> bytes:
    """Read to the end, but keep little more than `most`; a program that prints more is stopped.

    What it has printed is read all the same: the end of a process is not seen while its pipes hold something.
    """
    data = bytearray()
    while stream is not None and (chunk := await stream.read(1 << 16)):
        if len(data) <= most:
            data += chunk
            if len(data) > most:
                stop()
    return bytes(data)
