"""Search with ripgrep: fast, honors ignore files, ignores ripgrep's own configuration.

What must stay true: nothing found means that it is not there, or `LeftOut` counts where it was not looked for.
"""

import asyncio
import os
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from errno import EFBIG
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import IO, TypeVar

import msgspec
from msgspec.structs import replace

from halocline.context.budget import MATCH_LINE, shorten_line
from halocline.hosts.executables import find_ripgrep
from halocline.hosts.files.local import LocalFiles
from halocline.hosts.search_program import Running
from halocline.hosts.search_rules import find_places
from halocline.hosts.search_source import LARGEST_DECODED, Source, search_source
from halocline.ports.host import LeftOut, Match, Scope, SearchQuery, SearchResult
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later

T = TypeVar("T")

_FILES = ("--files", "--null")
_NOT_UTF8 = (
    *("--count", "--include-zero", "--null", "--text", "--line-regexp", "--invert-match", r"--regexp=[^\x00]*"),
    f"--max-filesize={LARGEST_DECODED}",
)
"""Counts for each file the lines with bytes that are not UTF-8, or NUL. A large one may be one line, held in memory."""
_COUNTED = compile_later(rb"\./(.*?)\0(\d+)\n", re.DOTALL)
_COUNTS = 1 << 26
"""Bytes of such counts that are read."""
_TIME_LIMIT = 30.0
_DECODING = _COUNTING = 5.0
_MOST_DECODED, _BYTES_DECODED = 2_000, 100_000_000
_LONGEST_REGEX = 4_000
_CROSSES = compile_later(r"\n|\\[nr]|\\x0[aAdD]|\(\?[a-zA-Z]*s[a-zA-Z-]*[:)]")
_BLANKS_WITHIN = compile_later(r"(?s).*[^\s(^|].*\\s[*+{?]?[^$|)].*")
_MAY_CROSS = compile_later(r"\\[sWDP]|\[\^")
_LINE_END = compile_later(r"(\[\^?\]?(?:\\.|[^\]\\])*\]|\\[^nr])|(?:\\r\??|\r)?(?:\\n|\n)", re.DOTALL)
"""An end of a line, as it is written in an expression; the first group is what only looks like one."""
_MULTILINE = "--multiline"
_MOST_MARKED = 20
"""Lines of one match that are shown."""
_LONGEST_LINE, _LONGEST_LINES = 1 << 20, 1 << 26
"""Bytes of a record: over lines, matches that touch each other are one."""
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
        if len(query.regex) > _LONGEST_REGEX:
            raise ToolFailure(f"The expression has over {_LONGEST_REGEX:,} characters. Search for a part of it.")
        query = replace(query, regex=query.regex.replace("\0", r"\x00"))
        found = await self._work(self._time_limit, partial(_search_whole, query=query))
        if found.cut and not found.matches:
            raise ToolFailure(f"The search took over {self._time_limit:g} s. Search a smaller folder.")
        names, left_out = await self._list(Path(query.path), query.glob)
        found = _merge_results(found, await self._search_decoded(query, names))
        # What is ignored is counted only where it may be what was wanted: there may be much of it.
        if found.matches and not query.glob:
            return replace(found, left_out=found.left_out + LeftOut(left_out.secrets))
        left_out = await self._count_ignored(Path(query.path), query.glob, names, left_out)
        return replace(found, left_out=found.left_out + replace(left_out, unreadable=0))

    async def files(self, path: Path, limit: int, glob: str = "") -> tuple[list[str], bool]:
        return await self._work(self._time_limit, partial(_list_nearest, path=path, limit=limit, glob=glob))

    async def count_left_out(self, path: Path, glob: str = "") -> LeftOut:
        return await self._count_ignored(path, glob, *await self._list(path, glob))

    async def _list(self, path: Path, glob: str) -> tuple[list[str], LeftOut]:
        """Return the names below a folder, and what they say is left out. A file has none."""
        if not await asyncio.to_thread(path.is_dir):
            return [], LeftOut()
        names, found = await self._work(_COUNTING, partial(_list_judged, path=path, glob=glob))
        return names, replace(found, secrets=await self._keep_present(path, found.secrets))

    async def _count_ignored(self, path: Path, glob: str, names: list[str], left_out: LeftOut) -> LeftOut:
        if not await asyncio.to_thread(path.is_dir):
            return left_out
        count = partial(_count_ignored, path=path, glob=glob, names=names, left_out=left_out)
        found = await self._work(_COUNTING, count)
        return replace(found, places=await self._keep_present(path, found.places))

    async def _keep_present(self, path: Path, names: tuple[str, ...]) -> tuple[str, ...]:
        """Name only what is there: the walk was ripgrep's own, and a folder may have led elsewhere."""
        return tuple(await LocalFiles(scope=self._scope).present(path, names)) if names else ()

    async def _search_decoded(self, query: SearchQuery, names: list[str]) -> SearchResult:
        """Search those of the files that are in other encodings. What was found before stands if that fails."""
        try:
            return await self._work(_DECODING, partial(_search_decoded, query=query, names=names))
        except (OSError, ToolFailure):
            return SearchResult((), left_out=LeftOut(more=True))

    async def _work(self, patience: float, does: Callable[[Running], T]) -> T:
        running = Running(self.program, self._scope, patience, self._encodings)
        try:
            return await asyncio.to_thread(running.work, does)
        finally:
            running.stop()  # the thread sees the end of the stream


def _search_whole(running: Running, query: SearchQuery) -> SearchResult:
    """Search what is UTF-8. If it took too long, there may be `more`."""
    found = _search_lines(running, query)
    left_out = replace(found.left_out, unreadable=len(running.unreadable))
    if running.is_stopped:
        return SearchResult(found.matches, True, replace(left_out, more=True))
    return replace(found, left_out=left_out)


def _search_lines(running: Running, query: SearchQuery) -> SearchResult:
    """Search line by line, and over lines where an expression may match their ends."""
    if _CROSSES.search(query.regex):
        regex = _LINE_END.sub(lambda found: found[1] or r"(?:\r?\n)", query.regex)
        return _search_once(running, replace(query, regex=regex), _MULTILINE)
    found = _search_once(running, query)
    within = _BLANKS_WITHIN.fullmatch(query.regex)
    if not (within or (not found.matches and _MAY_CROSS.search(query.regex))):
        return found
    return _merge_results(found, _search_once(running, query, _MULTILINE, over_lines=True))


def _search_once(running: Running, query: SearchQuery, *more: str, over_lines: bool = False) -> SearchResult:
    options = ("--json", "--crlf", f"--context={query.context}", f"--regexp={query.regex}", *more)
    build = partial(_build_result, query=query, is_whole=_MULTILINE in more, over_lines=over_lines)
    return running.run(query.path, options, build, query.glob)


def _search_decoded(running: Running, query: SearchQuery, names: list[str]) -> SearchResult:
    """Search the files in other encodings as UTF-8, and count those that are not text."""
    from tempfile import TemporaryDirectory  # no start loads it, and few projects have such files

    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        places, left_out = _decode_below(running, query, folder, names)
        decoded = SearchResult(())
        if places:
            running.scope = None
            decoded = _search_lines(running, replace(query, path=folder, glob=""))
    matches = tuple(replace(one, path=places[one.path]) for one in decoded.matches)
    left_out += replace(decoded.left_out, long=tuple(places[one] for one in decoded.left_out.long))
    return SearchResult(matches, decoded.cut, replace(left_out, more=left_out.more or running.is_stopped))


def _decode_below(
    running: Running, query: SearchQuery, copies: str, names: list[str]
) -> "tuple[dict[str, str], LeftOut]":
    if not os.path.isdir(query.path):
        with search_source(query.path, running.scope) as source:
            places, left_out = _decode_files([""], source, copies, running)
            return places, replace(left_out, undecodable=0)  # it was searched byte by byte

    def decode(stream: IO[bytes], source: Source) -> tuple[dict[str, str], LeftOut]:
        counts = {os.fsdecode(name): count for name, count in _COUNTED.findall(stream.read(_COUNTS))}
        odd = [name for name, count in counts.items() if count != b"0"]
        large = [name for name in names if name not in counts]
        return _decode_files(source.shown([*odd, *large]), source, copies, running)

    return running.run(query.path, _NOT_UTF8, decode, query.glob)


def _list_nearest(running: Running, path: Path, limit: int, glob: str) -> tuple[list[str], bool]:
    names = running.run(str(path), _FILES, partial(_read_linked_names, running=running), glob)
    names.sort(key=lambda name: (name.rstrip("/").count("/"), name))
    return names[:limit], running.is_stopped or len(names) > limit or len(names) >= _MOST_FILES


def _list_judged(running: Running, path: Path, glob: str) -> tuple[list[str], LeftOut]:
    names, found = running.run(str(path), _FILES, _read_judged_names, glob)
    more = running.is_stopped or len(names) >= _MOST_FILES
    return names, replace(found, unreadable=len(running.unreadable), more=more)


def _count_ignored(running: Running, path: Path, glob: str, names: list[str], left_out: LeftOut) -> LeftOut:
    """Add what is there beside the names of files, but ignored, and how many files there are if none fits the glob."""
    every = running.run(str(path), _FILES, _read_shown_names, glob, all=True)
    known = set(names)
    more = left_out.more or running.is_stopped or len(every) >= _MOST_FILES
    ignored = [] if more else [name for name in every if name not in known]
    shown = running.run(str(path), _FILES, _read_shown_names) if glob and (ignored or not names) else names
    places, unfitting = find_places(ignored, shown), 0 if names else len(shown)
    more = more or running.is_stopped
    return replace(left_out, ignored=len(ignored), places=places, unfitting=unfitting, more=more)


def _build_result(
    stream: IO[bytes], source: Source, query: SearchQuery, is_whole: bool, over_lines: bool
) -> SearchResult:
    found: list[Match] = []
    long: list[bytes] = []
    count, cut = 0, False
    records = _read_records(stream, long, _LONGEST_LINES if is_whole else _LONGEST_LINE)
    for match in _read_matches(records, source, over_lines=over_lines):
        count += match.is_match
        if count > query.limit:
            cut = True
            break
        found.append(match)
    left = tuple(source.path_of(f"./{name}") for name in source.shown(_list_names(long)))
    left_out = LeftOut(more=bool(left)) if is_whole else LeftOut(long=left)
    return SearchResult(_keep_near(found, query.context), cut, left_out)


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
    """Return all lines of both: where both have one, a match, and rather the text that is whole."""
    lines: dict[tuple[str, int], Match] = {}
    for each in (*other.matches, *one.matches):
        known = lines.setdefault((each.path, each.line), each)
        best = known if "\ufffd" in each.text else each
        lines[each.path, each.line] = replace(best, is_match=each.is_match or known.is_match)
    long = Counter(one.left_out.long) | Counter(other.left_out.long)  # both may have seen the same
    return SearchResult(
        tuple(lines[at] for at in sorted(lines)),
        one.cut or other.cut,
        replace(one.left_out + other.left_out, long=tuple(long.elements())),
    )


def _read_matches(records: Iterable[bytes], source: Source, *, over_lines: bool) -> Iterator[Match]:
    for record in map(_record.decode, records):
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
            text = shorten_line(line.rstrip("\r").replace("\0", "\ufffd"), MATCH_LINE)
            yield Match(source.path_of(name), data.line_number + at, text, at in marked)


def _find_marked(data: _Data, *, over_lines: bool) -> set[int]:
    """Return the lines of a match, from 0, without blank ones around it. `over_lines`: only of one over their ends."""
    raw = data.lines.raw if data.lines else b""
    marked: set[int] = set()
    at = first = 0
    for found in data.submatches:
        text = raw[found.start : found.end]
        start = found.start + len(text) - len(text.lstrip()) if text.strip() else found.start
        end = max(start, found.start + len(text.rstrip()) - 1)
        first += raw.count(b"\n", at, start)
        at, last = start, first + raw.count(b"\n", start, end)
        if b"\n" in text or not over_lines:
            marked.update(range(first, min(last + 1, first + _MOST_MARKED)))
    return marked


def _read_records(stream: IO[bytes], long: list[bytes], longest: int) -> Iterator[bytes]:
    """The lines of the stream, without overlong ones; the beginnings of those that are matches go to `long`."""
    whole = True
    while line := stream.readline(longest):
        if whole and line.endswith(b"\n"):
            yield line
        elif whole and line.startswith(b'{"type":"match"'):
            long.append(line[:_BEGINNING])
        whole = line.endswith(b"\n")


def _decode_files(
    names: Iterable[str], source: Source, folder: str, running: Running
) -> tuple[dict[str, str], LeftOut]:
    """Write the texts of the files as UTF-8 below a folder, and return whose they are."""
    places: dict[str, str] = {}
    undecodable, too_large, room = 0, 0, _BYTES_DECODED
    for name in names:
        if running.is_late or room <= 0 or len(places) == _MOST_DECODED:
            return places, LeftOut(undecodable=undecodable, large=too_large, more=True)
        try:
            text = source.decode(name, running.encodings, lambda: running.is_late)
        except OSError as error:
            too_large += error.errno == EFBIG
            continue
        undecodable += text is None
        if text:
            place = f"{folder}/{len(places):05}"
            with open(place, "w", encoding="utf-8", errors="replace", newline="") as file:
                file.write(text)
            places[place] = source.path_of(f"./{name}")
            room -= len(text)
    return places, LeftOut(undecodable=undecodable, large=too_large)


def _read_judged_names(stream: IO[bytes], source: Source) -> tuple[list[str], LeftOut]:
    """Return the names, and those of them that may hold secrets, with the number of links that lead elsewhere."""
    names = _read_shown_names(stream, source)
    links = sum(1 for _ in source.links(names, outside=True))
    return names, LeftOut(tuple(sorted(filter(source.is_secret, names))), links=links)


def _read_linked_names(stream: IO[bytes], source: Source, running: Running) -> list[str]:
    """Return the names, with those of links, which ripgrep leaves out."""
    names = _read_shown_names(stream, source)
    return names if running.is_stopped else [*names, *source.shown([*source.links(names)])]


def _read_shown_names(stream: IO[bytes], source: Source) -> list[str]:
    return source.shown(_read_names(stream, source))


def _read_names(stream: IO[bytes], source: Source) -> list[str]:
    names: list[str] = []
    rest = b""
    while len(names) < _MOST_FILES and (chunk := stream.read(1 << 16)):
        *whole, rest = (rest + chunk).split(b"\0")
        names += [os.fsdecode(name)[2:] for name in whole]  # each begins with the operand, ./
    return names
