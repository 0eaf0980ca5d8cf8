"""Search with ripgrep: fast, honors ignore files, ignores ripgrep's own configuration."""

import asyncio
import os
import subprocess
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from stat import S_ISDIR
from threading import Lock
from typing import IO, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from halocline.context.budget import MATCH_LINE, shorten_line
from halocline.files.blocking import (
    SEARCH_LISTS,
    find_blocking,
    find_blocking_above,
    find_blocking_below,
    watch_program,
)
from halocline.files.opening import look_at
from halocline.hosts.executables import find_ripgrep
from halocline.hosts.search_source import Source, search_source
from halocline.ports.host import Match, Scope, SearchQuery, SearchResult
from halocline.protocol.errors import ToolFailure

T = TypeVar("T")
Collect: TypeAlias = Callable[[IO[bytes], Source], T]

_UNSEARCHED = Path(__file__).with_name("unsearched.txt")
_COMMON = ("--no-config", "--no-messages", "--no-require-git", f"--ignore-file={_UNSEARCHED}")
_FILES = ("--files", "--null")
_TIME_LIMIT = 30.0
BLOCKED = "Nothing was searched, because ripgrep would wait forever: {found}, or search another folder."
_OWN_LISTS = (".gitconfig", ".config/git/config", ".config/git/ignore")
_LONGEST_RECORD = 1 << 20
_MOST_FILES = 200_000


class _Content(msgspec.Struct):
    """Text as ripgrep writes it; `bytes` is base64, for text that is not UTF-8."""

    text: str = ""
    base64: str = msgspec.field(default="", name="bytes")

    @property
    def raw(self) -> bytes:
        return self.text.encode() if self.text else b64decode(self.base64)

    def __str__(self) -> str:
        return self.text or self.raw.decode("utf-8", "replace")


class _Data(msgspec.Struct):
    path: _Content | None = None
    lines: _Content | None = None
    line_number: int | None = None
    absolute_offset: int = 0


class _Record(msgspec.Struct):
    type: str
    data: _Data


_record = msgspec.json.Decoder(_Record)


class Ripgrep:
    """Implements `ports.host.Search`. `time_limit` is in seconds; `scope` is the argument of `only`."""

    def __init__(self, program: str | None = None, time_limit: float = _TIME_LIMIT, scope: Scope | None = None) -> None:
        self._program = program
        self._time_limit = time_limit
        self._scope = scope

    @property
    def program(self) -> str:
        """Path of `rg`. Raises ToolFailure when there is none."""
        self._program = self._program or find_ripgrep()
        return self._program

    def only(self, scope: Scope) -> "Ripgrep":
        return Ripgrep(self._program, self._time_limit, scope)

    async def search(self, query: SearchQuery) -> SearchResult:
        found = await self._matches(query)
        # Listing them costs as much as a search, so it is done only where they may be what was wanted.
        return found if found.matches and not query.glob else replace(found, left_out=await self._secrets(query))

    async def files(self, path: Path, limit: int) -> tuple[list[str], bool]:
        names = await self._run(str(path), _FILES, _read_names)
        names.sort(key=lambda name: (name.count("/"), name))
        return names[:limit], len(names) > limit

    async def _matches(self, query: SearchQuery) -> SearchResult:
        options = ("--json", "--crlf", f"--context={query.context}", f"--regexp={query.regex}", *_list_globs(query))
        return await self._run(query.path, options, partial(_build_result, limit=query.limit))

    async def _secrets(self, query: SearchQuery) -> tuple[str, ...]:
        """Files that are not searched because they may contain secrets, whether or not they match."""
        found = look_at(query.path) if self._scope else None
        if found is None or not S_ISDIR(found.st_mode):
            return ()
        return await self._run(query.path, (*_FILES, *_list_globs(query)), _secret_names)

    async def _run(self, path: str, options: Sequence[str], collect: Collect[T]) -> T:
        running = _Running([self.program, *_COMMON, *options])
        try:
            async with asyncio.timeout(self._time_limit):
                return await asyncio.to_thread(running.collect, path, self._scope, collect)
        except TimeoutError:
            raise ToolFailure(f"The search took over {self._time_limit:g} s. Search a smaller folder.") from None
        finally:
            # The thread sees the end of the stream and collects the process.
            running.stop()


class _Running:
    """A process that is started in one thread and may be ended from another."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def collect(self, path: str, scope: Scope | None, collect: Collect[T]) -> T:
        """Collect the results, end the process and check its exit."""
        look = partial(_find_blocking, os.path.realpath(path))
        with (
            search_source(path, scope) as source,
            self._start(source) as process,
            watch_program(look, self.stop) as watch,
        ):
            assert process.stdout
            assert process.stderr
            result = collect(process.stdout, source)
            if process.stdout.read(1):
                process.kill()
            message = process.stderr.read().decode("utf-8", "replace").strip()
        if watch.found:
            raise ToolFailure(BLOCKED.format(found=watch.found))
        # A file that could not be read also gives code 2, but no message.
        if process.returncode > 1 and message:
            raise ToolFailure(f"ripgrep could not search: {_explain_message(message)}")
        return result

    def _start(self, source: Source) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self._stopped:
                raise ToolFailure("The search was stopped.")
            self._process = source.start([*self._command, "--", source.operand])
            return self._process

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._process:
                self._process.kill()


def _find_blocking(folder: str, is_over: Callable[[], bool]) -> str:
    """Find an ignore file that ripgrep would wait for."""
    own = os.environ.get("HOME", "")
    found = find_blocking(f"{own}/{name}" for name in _OWN_LISTS) or find_blocking_above(folder, SEARCH_LISTS)
    return found or find_blocking_below(folder, SEARCH_LISTS, is_over)


def _list_globs(query: SearchQuery) -> tuple[str, ...]:
    return (f"--glob={query.glob}",) if query.glob else ()


def _explain_message(message: str) -> str:
    """ripgrep's message, without its advice on an option that cannot be set here."""
    problem, advice, _ = message.partition("\n\nConsider enabling PCRE2")
    return f"{problem}\nRewrite the pattern without look-around and backreferences." if advice else problem


def _build_result(stream: IO[bytes], source: Source, limit: int) -> SearchResult:
    found: list[Match] = []
    count, cut = 0, False
    for match in _read_matches(stream, source):
        count += match.is_match
        if count > limit:
            cut = True
            break
        found.append(match)
    return SearchResult(tuple(sorted(found, key=lambda match: (match.path, match.line))), cut)


def _read_matches(stream: IO[bytes], source: Source) -> Iterator[Match]:
    for record in map(_record.decode, _read_records(stream)):
        data = record.data
        if record.type not in ("match", "context") or not (data.path and data.lines and data.line_number):
            continue
        name = data.path.text or os.fsdecode(data.path.raw)
        if source.holds(name, data.line_number, data.absolute_offset, data.lines.raw):
            text = shorten_line(str(data.lines).rstrip("\r\n"), MATCH_LINE)
            yield Match(source.path_of(name), data.line_number, text, record.type == "match")


def _read_records(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of the stream, without overlong ones."""
    whole = True
    while line := stream.readline(_LONGEST_RECORD):
        if whole and line.endswith(b"\n"):
            yield line
        whole = line.endswith(b"\n")


def _secret_names(stream: IO[bytes], source: Source) -> tuple[str, ...]:
    return tuple(sorted(filter(source.is_secret, _read_names(stream, source))))


def _read_names(stream: IO[bytes], source: Source) -> list[str]:
    names: list[str] = []
    rest = b""
    while len(names) < _MOST_FILES and (chunk := stream.read(1 << 16)):
        *whole, rest = (rest + chunk).split(b"\0")
        names += [os.fsdecode(name)[2:] for name in whole]  # each begins with the operand, ./
    return source.shown(names)
