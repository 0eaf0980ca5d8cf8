"""Commands, and files, in a container or on another machine: each through one program that runs a command there."""

import asyncio
import os
import shlex
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from halocline.ports.own import CommandResult
from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import HaloclineError

_CHUNK = 1 << 16
_LARGEST = 1 << 26
_NO_FILE = 44
"""Exit code of our own commands for a file that is not there."""
_STOPPING = 10.0
"""Seconds that the program gets to stop a command there."""


class ProgramShell:
    """Implements `ports.own.Shell`: `words` run a command for `sh` there, which is added behind them.

    `stays`: a command there does not end with the program that started it here, so it is stopped by its number.
    """

    def __init__(self, words: Sequence[str], *, stays: bool, key: str = "") -> None:
        """With a `key`, commands that a process of ours left there can be ended by the next one (`end_left`)."""
        self._words = tuple(words)
        self._stays = stays
        self._key = key or f"{os.getpid()}-{id(self):x}"
        self._count = 0

    async def run(self, command: str, folder: Path, on_output: Callable[[str], None]) -> CommandResult:
        self._count += 1
        note = f"/tmp/.halocline-{self._key}-{self._count}"
        text = f"cd {shlex.quote(os.fspath(folder))} && eval {shlex.quote(command)}"
        if self._stays:  # its group is noted, and a signal to that ends all of it
            # The `exit` keeps the shell from becoming setsid, which waits for no command if it leads a group itself:
            # BusyBox has no `-w` for that.
            noted = shlex.quote(f"echo $$ > {note}; ({text}); code=$?; rm -f {note}; exit $code")
            text = f"setsid sh -c {noted}; exit $?"
        stop = partial(self._stop, note) if self._stays else None
        process = await _start((*self._words, text), stdin=DEVNULL, stderr=STDOUT, stop=stop)
        try:
            output = await _read_text(process, on_output)
            return CommandResult(await process.wait(), output)
        finally:
            if process.returncode is None and self._stays:
                await asyncio.shield(self._stop(note))
            await _kill(process)

    async def give(self, command: str, data: bytes = b"") -> tuple[int, bytes, str]:
        """Run a short command of ours with bytes as its input; return exit code, output and errors."""
        return await run_program(*self._words, command, data=data)

    async def end_left(self) -> None:
        """End the commands that run there by the notes of a process that was killed. Raises HaloclineError."""
        end = '[ -f "$note" ] && kill -KILL -$(cat "$note"); rm -f "$note"'
        await self.give(f"for note in /tmp/.halocline-{self._key}-*; do {end}; done 2>/dev/null; :")

    async def _stop(self, note: str) -> None:
        with suppress(TimeoutError, HaloclineError):
            async with asyncio.timeout(_STOPPING):
                await self.give(f"kill -KILL -$(cat {note}) 2>/dev/null; rm -f {note}")


async def run_program(*words: str, data: bytes = b"") -> tuple[int, bytes, str]:
    """Run a program to its end; return exit code, output and errors. Raises HaloclineError if it does not start."""
    process = await _start(words, stdin=PIPE, stderr=PIPE)
    try:
        output, errors = await process.communicate(data)
    finally:
        await _kill(process)
    return process.returncode or 0, output, errors.decode(errors="replace").strip()


async def _start(
    words: Sequence[str], *, stdin: int, stderr: int, stop: Callable[[], Awaitable[None]] | None = None
) -> Process:
    """Start a program in a group of its own. Raises HaloclineError; a cancellation leaves nothing of it.

    `stop` ends what the program started elsewhere, which would hold its output open.
    """
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *words, stdin=stdin, stdout=PIPE, stderr=stderr, process_group=0, env=child_environment(os.environ)
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:  # it may run already, and have children
        process = await starting
        if stop:
            await asyncio.shield(stop())
        await _kill(process)
        raise
    except OSError as error:
        raise HaloclineError(f"{words[0]} did not start: {error.strerror}.", "Install it.") from error


class ProgramFiles:
    """Implements `ports.own.Files` by short commands through a shell."""

    def __init__(self, shell: ProgramShell) -> None:
        self._shell = shell

    async def read(self, path: Path) -> bytes:
        name = shlex.quote(os.fspath(path))
        return await self._run(f"[ -f {name} ] || exit {_NO_FILE}; cat -- {name}", path)

    async def write(self, path: Path, data: bytes) -> None:
        name, folder, half = (shlex.quote(text) for text in (str(path), str(path.parent), f"{path}.halo-half"))
        keep = f"[ -x {name} ] && chmod +x {half}"
        await self._run(f"mkdir -p -- {folder} && cat > {half} && {{ {keep}; mv -f -- {half} {name}; }}", path, data)

    async def remove(self, path: Path) -> None:
        await self._run(f"rm -f -- {shlex.quote(str(path))}", path)

    async def list(self, path: Path) -> Sequence[str]:
        name = shlex.quote(os.fspath(path))
        found = await self._run(f"[ -d {name} ] || exit {_NO_FILE}; ls -1Ap -- {name}", path)
        return found.decode(errors="surrogateescape").splitlines()

    async def _run(self, command: str, path: Path, data: bytes = b"") -> bytes:
        code, output, errors = await self._shell.give(command, data)
        if code == _NO_FILE:
            raise FileNotFoundError(2, "no such file", str(path))
        if code:
            raise OSError(5, errors.rpartition("\n")[2] or f"exit code {code}", str(path))
        return output


async def _read_text(process: Process, on_output: Callable[[str], None]) -> str:
    import codecs

    assert process.stdout is not None
    decoder, parts, size = codecs.getincrementaldecoder("utf-8")("replace"), list[str](), 0
    while chunk := await process.stdout.read(_CHUNK):
        text = decoder.decode(chunk)
        on_output(text)
        if size < _LARGEST:
            parts.append(text)
        size += len(text)
    return "".join(parts)


async def _kill(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
