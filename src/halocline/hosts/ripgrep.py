"""Search with ripgrep: fast, honors ignore files, ignores ripgrep's own configuration.

What must stay true: nothing found means that it is not there, or `LeftOut` counts where it was not looked for.
"""

import asyncio
import os
import re
import subprocess
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from errno import EFBIG
from functools import partial
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import IO, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from halocline.context.budget import MATCH_LINE, shorten_line
from halocline.files.blocking import (
    SEARCH_LISTS,
    find_blocking,
    find_blocking_below,
    watch_program,
)
from halocline.hosts.executables import find_ripgrep
from halocline.hosts.files.local import LocalFiles
from halocline.hosts.search_rules import find_places
from halocline.hosts.search_source import Source, search_source
from halocline.ports.host import LeftOut, Match, Scope, SearchQuery, SearchResult
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later

T = TypeVar("T")
Collect: TypeAlias = Callable[[IO[bytes], Source], T]

_COMMON = ("--no-config", "--no-messages", "--no-require-git", "--no-ignore-parent", "--hidden")
_FILES = ("--files", "--null")
_NOT_UTF8 = ("--files-with-matches", "--null", "--text", "--line-regexp", "--invert-match", r"--regexp=[^\x00]*")
"""Files with bytes that are not UTF-8, and those with NUL."""
_TIME_LIMIT = 30.0
_COUNTING = 5.0
_MOST_DECODED, _BYTES_DECODED = 2_000, 100_000_000
_PLAIN = compile_later(r"(?:[\w \"'#%&,:;<=>@`~!/-]|\\[^\w\s]|\\b)*", re.ASCII)
"""Expressions that match the same bytes in all encodings that extend ASCII."""
_CROSSES = compile_later(r"\n|\\[nr]|\\x0[aAdD]|\(\?[a-zA-Z]*s[a-zA-Z-]*[:)]")
_BLANKS_WITHIN = compile_later(r"(?s).*[^\s(^|].*\\s[*+{?]?[^$|)].*")
_MAY_CROSS = compile_later(r"\\[sWDP]|\[\^")
_LINE_END = compile_later(r"(\[\^?\]?(?:\\.|[^\]\\])*\]|\\[^nr])|(?:\\r\??|\r)?(?:\\n|\n)", re.DOTALL)
"""An end of a line, as it is written in an expression; the first group is what only looks like one."""
_MOST_MARKED = 20
"""Lines of one match that are shown."""
BLOCKED = "Nothing was searched, because ripgrep would wait forever: {found}, or search another folder."
_OWN_LISTS = (".gitconfig", ".config/git/config", ".config/git/ignore")
_LONGEST_RECORD = 1 << 20
_BEGINNING = 1 << 14
"""Bytes of a record that hold the name of its file."""
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


class _Found(msgspec.Struct):
    start: int
    end: int


class _Data(msgspec.Struct):
    path: _Content | None = None
    lines: _Content | None = None
    line_number: int | None = None
    absolute_offset: int = 0
    submatches: tuple[_Found, ...] = ()


class _Record(msgspec.Struct):
    type: str
    data: _Data


_record, _content = msgspec.json.Decoder(_Record), msgspec.json.Decoder(_Content)
_PATH = compile_later(rb'"path":(\{"(?:text|bytes)":"(?:[^"\\]|\\.)*"\})')


class Ripgrep:
    """Implements `ports.host.Search`. `time_limit` is in seconds; `scope` is the argument of `only`.

    `encodings` are those of the settings.
    """

    def __init__(
        self,
        program: str | None = None,
        time_limit: float = _TIME_LIMIT,
        scope: Scope | None = None,
        encodings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._program = program
        self._encodings = encodings
        self._time_limit = time_limit
        self._scope = scope

    @property
    def program(self) -> str:
        """Path of `rg`. Raises ToolFailure when there is none."""
        self._program = self._program or find_ripgrep()
        return self._program

    def only(self, scope: Scope) -> "Ripgrep":
        return Ripgrep(self._program, self._time_limit, scope, self._encodings)

    async def search(self, query: SearchQuery) -> SearchResult:
        found = await self._matches(query)
        if not (found.matches and _PLAIN.fullmatch(query.regex)) or any("\ufffd" in one.text for one in found.matches):
            found = await self._add_decoded(query, found)
        # Counting costs as much as a search, so it is done only where what is left out may be what was wanted.
        if found.matches and not query.glob:
            return replace(found, left_out=found.left_out + await self._find_secrets(Path(query.path)))
        return replace(found, left_out=found.left_out + await self.count_left_out(Path(query.path), query.glob))

    async def files(self, path: Path, limit: int, glob: str = "") -> tuple[list[str], bool]:
        (names, _), cut = await self._names(path, glob, self._time_limit)
        names.sort(key=lambda name: (name.count("/"), name))
        return names[:limit], cut or len(names) > limit

    async def count_left_out(self, path: Path, glob: str = "") -> LeftOut:
        if not await asyncio.to_thread(path.is_dir):
            return LeftOut()
        there, every = self._names(path, glob, _COUNTING), self._names(path, glob, _COUNTING, all=True)
        ((names, secrets), cut), ((all_names, _), more) = await asyncio.gather(there, every)
        ignored = () if cut else set(all_names).difference(names)
        others = 0
        if glob and not names:
            (unfitting, _), _ = await self._names(path, "", _COUNTING)
            others = len(unfitting)
        # The walk was ripgrep's own, and a folder may have led elsewhere: name only what is there.
        present = partial(LocalFiles(scope=self._scope).present, path)
        places = tuple(await present(find_places(ignored, names)))
        return LeftOut(tuple(await present(secrets)), len(ignored), places, unfitting=others, more=cut or more)

    async def _find_secrets(self, path: Path) -> LeftOut:
        if self._scope is None or not await asyncio.to_thread(path.is_dir):
            return LeftOut()
        (_, secrets), cut = await self._names(path, "", _COUNTING)
        return LeftOut(tuple(await LocalFiles(scope=self._scope).present(path, secrets)), more=cut)

    async def _matches(self, query: SearchQuery) -> SearchResult:
        """Search line by line, and over lines where an expression may match their ends."""
        if _CROSSES.search(query.regex):
            regex = _LINE_END.sub(lambda found: found[1] or r"(?:\r?\n)", query.regex)
            return await self._lines(replace(query, regex=regex), "--multiline")
        found = await self._lines(query)
        within = _BLANKS_WITHIN.fullmatch(query.regex)
        if not (within or (not found.matches and _MAY_CROSS.search(query.regex))):
            return found
        return _merge_results(found, await self._lines(query, "--multiline", over_lines=True))

    async def _lines(self, query: SearchQuery, *more: str, over_lines: bool = False) -> SearchResult:
        options = ("--json", "--crlf", f"--context={query.context}", f"--regexp={query.regex}", *more)
        build = partial(_build_result, query=query, over_lines=over_lines)
        return await self._run(query.path, options, build, query.glob)

    async def _add_decoded(self, query: SearchQuery, found: SearchResult) -> SearchResult:
        """Search the files in other encodings as UTF-8, and count those that are not text."""
        from tempfile import TemporaryDirectory  # no start loads it, and few projects have such files

        with TemporaryDirectory() as folder:
            decode = partial(_decode_files, folder=folder, encodings=self._encodings)
            places, left_out = await self._run(query.path, _NOT_UTF8, decode, query.glob)
            found = replace(found, left_out=found.left_out + left_out)
            if not places:
                return found
            plain = Ripgrep(self._program, self._time_limit)
            decoded = await plain._matches(replace(query, path=folder, glob=""))
        others = tuple(one for one in found.matches if one.path not in places.values())
        known = tuple(replace(one, path=places[one.path]) for one in decoded.matches)
        long = [one for one in found.left_out.long if one not in places.values()]
        long += [places[one] for one in decoded.left_out.long]
        left_out = replace(found.left_out, long=tuple(long))
        return _merge_results(replace(found, matches=others, left_out=left_out), replace(decoded, matches=known))

    async def _names(
        self, path: Path, glob: str, patience: float, *, all: bool = False
    ) -> tuple[tuple[list[str], tuple[str, ...]], bool]:
        """Return the files below a folder, those of them that may hold secrets, and True if these are not all."""
        running = _Running(self.program, _FILES, glob, all=all)
        timer = asyncio.get_running_loop().call_later(patience, running.stop)
        try:
            names = await asyncio.to_thread(running.collect, str(path), self._scope, _read_judged_names)
            return names, running.is_stopped or len(names[0]) >= _MOST_FILES
        finally:
            timer.cancel()
            running.stop()

    async def _run(self, path: str, options: Sequence[str], collect: Collect[T], glob: str = "") -> T:
        running = _Running(self.program, options, glob)
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

    def __init__(self, program: str, options: Sequence[str], glob: str, *, all: bool = False) -> None:
        self._command = [program, *_COMMON, *(["--no-ignore"] if all else []), *options]
        self._glob, self._all = glob, all
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.is_stopped = False

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
        rules = source.set_rules(self._glob, all=self._all)
        with self._lock:
            if self.is_stopped:
                raise ToolFailure("The search was stopped.")
            self._process = source.start([*self._command, *rules.options], rules.text)
            return self._process

    def stop(self) -> None:
        with self._lock:
            self.is_stopped = True
            if self._process:
                self._process.kill()


def _find_blocking(folder: str, is_over: Callable[[], bool]) -> str:
    """Find an ignore file that ripgrep would wait for."""
    own = os.environ.get("HOME", "")
    return find_blocking(f"{own}/{name}" for name in _OWN_LISTS) or find_blocking_below(folder, SEARCH_LISTS, is_over)


def _explain_message(message: str) -> str:
    """ripgrep's message, without its advice on an option that cannot be set here."""
    problem, advice, _ = message.partition("\n\nConsider enabling PCRE2")
    return f"{problem}\nRewrite the pattern without look-around and backreferences." if advice else problem


def _build_result(stream: IO[bytes], source: Source, query: SearchQuery, over_lines: bool) -> SearchResult:
    found: list[Match] = []
    long: list[bytes] = []
    count, cut = 0, False
    for match in _read_matches(stream, source, long, over_lines=over_lines):
        count += match.is_match
        if count > query.limit:
            cut = True
            break
        found.append(match)
    names = (source.path_of(f"./{name}") for name in source.shown(_list_names(long)))
    return SearchResult(_keep_near(found, query.context), cut, LeftOut(long=tuple(names)))


def _list_names(records: Iterable[bytes]) -> list[str]:
    """Return the names in the beginnings of records."""
    paths = (_content.decode(found[1]) for one in records if (found := _PATH.search(one)))
    return [(path.text or os.fsdecode(path.raw)).removeprefix("./") for path in paths]


def _keep_near(found: Iterable[Match], context: int) -> tuple[Match, ...]:
    """Return the matches by place, with no more than that many lines around them."""
    marked = {(one.path, one.line) for one in found if one.is_match}
    lines = {(one.path, one.line): one for one in sorted(found, key=lambda one: one.is_match)}
    near = range(-context, context + 1)
    return tuple(lines[at] for at in sorted(lines) if any((at[0], at[1] + by) in marked for by in near))


def _merge_results(one: SearchResult, other: SearchResult) -> SearchResult:
    lines = {(each.path, each.line): each for each in (*other.matches, *one.matches) if not each.is_match}
    lines |= {(each.path, each.line): each for each in (*other.matches, *one.matches) if each.is_match}
    left_out = replace(one.left_out, long=max(one.left_out.long, other.left_out.long, key=len))
    return SearchResult(tuple(lines[at] for at in sorted(lines)), one.cut or other.cut, left_out)


def _read_matches(stream: IO[bytes], source: Source, long: list[bytes], *, over_lines: bool) -> Iterator[Match]:
    for record in map(_record.decode, _read_records(stream, long)):
        data = record.data
        if record.type not in ("match", "context") or not (data.path and data.lines and data.line_number):
            continue
        marked = _find_marked(data, over_lines=over_lines) if record.type == "match" else set()
        if over_lines and record.type == "match" and not marked:
            continue
        name = data.path.text or os.fsdecode(data.path.raw)
        if not source.holds(name, data.line_number, data.absolute_offset, data.lines.raw):
            continue
        for at, line in enumerate(str(data.lines).removesuffix("\n").split("\n")):
            text = shorten_line(line.rstrip("\r"), MATCH_LINE)
            yield Match(source.path_of(name), data.line_number + at, text, at in marked)


def _find_marked(data: _Data, *, over_lines: bool) -> set[int]:
    """Return the lines of a match, from 0, without blank ones around it. `over_lines`: only if there are several."""
    raw = data.lines.raw if data.lines else b""
    marked: set[int] = set()
    for found in data.submatches:
        text = raw[found.start : found.end]
        start = found.start + len(text) - len(text.lstrip()) if text.strip() else found.start
        end = max(start, found.start + len(text.rstrip()) - 1)
        first, last = raw.count(b"\n", 0, start), raw.count(b"\n", 0, end)
        if last > first or not over_lines:
            marked.update(range(first, min(last + 1, first + _MOST_MARKED)))
    return marked


def _read_records(stream: IO[bytes], long: list[bytes]) -> Iterator[bytes]:
    """The lines of the stream, without overlong ones; the beginnings of those that are matches go to `long`."""
    whole = True
    while line := stream.readline(_LONGEST_RECORD):
        if whole and line.endswith(b"\n"):
            yield line
        elif whole and line.startswith(b'{"type":"match"'):
            long.append(line[:_BEGINNING])
        whole = line.endswith(b"\n")


def _decode_files(
    stream: IO[bytes], source: Source, folder: str, encodings: Mapping[str, str]
) -> tuple[dict[str, str], LeftOut]:
    """Write the texts of the files named as UTF-8 below a folder, and return whose they are."""
    places: dict[str, str] = {}
    undecodable, large, room = 0, 0, _BYTES_DECODED
    for name in _read_names(stream, source):
        if room <= 0 or len(places) >= _MOST_DECODED:
            large += 1
            continue
        try:
            text = source.decode(name, encodings)
        except OSError as error:
            large += error.errno == EFBIG
            continue
        if text is None:
            undecodable += 1
        else:
            place = f"{folder}/{len(places):05}"
            with open(place, "w", encoding="utf-8", errors="replace", newline="") as file:
                file.write(text)
            places[place] = source.path_of(f"./{name}")
            room -= len(text)
    return places, LeftOut(undecodable=undecodable, large=large)


def _read_judged_names(stream: IO[bytes], source: Source) -> tuple[list[str], tuple[str, ...]]:
    names = _read_names(stream, source)
    return names, tuple(sorted(filter(source.is_secret, names)))


def _read_names(stream: IO[bytes], source: Source) -> list[str]:
    names: list[str] = []
    rest = b""
    while len(names) < _MOST_FILES and (chunk := stream.read(1 << 16)):
        *whole, rest = (rest + chunk).split(b"\0")
        names += [os.fsdecode(name)[2:] for name in whole]  # each begins with the operand, ./
    return source.shown(names)
