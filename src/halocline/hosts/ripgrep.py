"""Search by ripgrep: fast, honouring ignore files, never configured from outside."""

import asyncio
import base64
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from halocline.context.budget import MATCH_LINE, short
from halocline.hosts.programs import ripgrep
from halocline.ports.host import Match, SearchQuery, SearchResult
from halocline.protocol.errors import ToolFailure

T = TypeVar("T")

_COMMON = ("--no-config", "--no-messages", "--no-require-git")
_TIME_LIMIT = 30.0
_LONGEST_RECORD = 1 << 20
_MOST_FILES = 200_000


class _Content(msgspec.Struct):
    """Text as ripgrep writes it: `bytes` is base64, for what is not UTF-8."""

    text: str = ""
    bytes: str = ""

    def __str__(self) -> str:
        return self.text or base64.b64decode(self.bytes).decode("utf-8", "replace")


class _Data(msgspec.Struct):
    path: _Content | None = None
    lines: _Content | None = None
    line_number: int | None = None


class _Record(msgspec.Struct):
    type: str
    data: _Data


_record = msgspec.json.Decoder(_Record)


class Ripgrep:
    """Fulfils `ports.host.Search`. `time_limit` is in seconds."""

    def __init__(self, program: str | None = None, time_limit: float = _TIME_LIMIT) -> None:
        self._program = program
        self._time_limit = time_limit

    @property
    def program(self) -> str:
        """Where `rg` is. Raises ToolFailure when there is none."""
        self._program = self._program or ripgrep()
        return self._program

    async def search(self, query: SearchQuery) -> SearchResult:
        arguments = ["--json", "--crlf", f"--context={query.context}", f"--regexp={query.regex}"]
        if query.glob:
            arguments.append(f"--glob={query.glob}")
        arguments += ["--", query.path]
        return await self._run(arguments, None, lambda stream: _result(stream, query.limit))

    async def files(self, path: Path, limit: int) -> tuple[list[str], bool]:
        names = await self._run(["--files", "--null"], path, _names)
        names.sort(key=lambda name: (name.count("/"), name))
        return names[:limit], len(names) > limit

    async def _run(self, arguments: list[str], cwd: Path | None, collect: Callable[[IO[bytes]], T]) -> T:
        process = _started([self.program, *_COMMON, *arguments], cwd)
        try:
            async with asyncio.timeout(self._time_limit):
                return await asyncio.to_thread(_finish, process, collect)
        except TimeoutError:
            raise ToolFailure(f"The search took over {self._time_limit:g} s. Search a smaller folder.") from None
        finally:
            # The thread sees the end of the stream and collects the process.
            process.kill()


def _started(command: list[str], cwd: Path | None) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)


def _finish(process: subprocess.Popen[bytes], collect: Callable[[IO[bytes]], T]) -> T:
    """Read what is wanted, end the process and judge it; runs in a thread."""
    with process:
        assert process.stdout
        assert process.stderr
        result = collect(process.stdout)
        if process.stdout.read(1):
            process.kill()
        message = process.stderr.read().decode("utf-8", "replace").strip()
    # A file that could not be read also gives code 2, but no message.
    if process.returncode > 1 and message:
        raise ToolFailure(f"ripgrep could not search: {_explained(message)}")
    return result


def _explained(message: str) -> str:
    """What ripgrep says, without an option that it names and nobody here can set."""
    said, advice, _ = message.partition("\n\nConsider enabling PCRE2")
    return f"{said}\nWrite it in another way." if advice else said


def _result(stream: IO[bytes], limit: int) -> SearchResult:
    found: list[Match] = []
    count, cut = 0, False
    for match in _matches(stream):
        count += match.is_match
        if count > limit:
            cut = True
            break
        found.append(match)
    return SearchResult(tuple(sorted(found, key=lambda match: (match.path, match.line))), cut)


def _matches(stream: IO[bytes]) -> Iterator[Match]:
    for line in _records(stream):
        record = _record.decode(line)
        data = record.data
        if record.type in ("match", "context") and data.path and data.lines and data.line_number:
            text = str(data.lines).rstrip("\r\n")
            yield Match(str(data.path), data.line_number, short(text, MATCH_LINE), record.type == "match")


def _records(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of the stream; those of absurd length are left out."""
    whole = True
    while line := stream.readline(_LONGEST_RECORD):
        if whole and line.endswith(b"\n"):
            yield line
        whole = line.endswith(b"\n")


def _names(stream: IO[bytes]) -> list[str]:
    names: list[str] = []
    rest = b""
    while len(names) < _MOST_FILES and (chunk := stream.read(1 << 16)):
        *whole, rest = (rest + chunk).split(b"\0")
        names += map(os.fsdecode, whole)
    return names
