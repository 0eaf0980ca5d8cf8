"""Search in files of a program: their texts are copied below a private folder, which ripgrep searches as any other.

What must stay true: no expression of a model runs in this process, which a hostile one would hold.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from halocline.files.encodings import decode_text
from halocline.files.patterns import matches_any, split_patterns
from halocline.hosts.ripgrep import Ripgrep
from halocline.ports.host import Files, LeftOut, Match, Scope, SearchQuery, SearchResult

LARGEST = 4_000_000
"""Bytes of a file that is searched."""
AT_ONCE = 32_000_000
"""Characters that are copied before they are searched."""


class OwnSearch:
    """Implements `ports.host.Search` over the files of a task, `at_once` characters of them at a time."""

    def __init__(self, files: Files, scope: Scope | None = None, at_once: int = AT_ONCE) -> None:
        self._files = files.only(lambda path: False, scope)
        self._whole, self._scope = files, scope
        self._at_once = at_once

    def only(self, scope: Scope) -> "OwnSearch":
        return OwnSearch(self._whole, scope, self._at_once)

    async def search(self, query: SearchQuery) -> SearchResult:
        found = SearchResult(())
        async for texts, left_out in self._read_texts(Path(query.path), query.glob):
            room = query.limit - _count_matches(found.matches)
            more = await _search_copies(texts, replace(query, limit=max(1, room)))
            if not room and more.matches:
                return replace(found, cut=True)
            found = SearchResult(found.matches + more.matches, more.cut, found.left_out + more.left_out + left_out)
            if found.cut:
                return found
        left_out = await self.count_left_out(Path(query.path), query.glob)
        return replace(found, left_out=found.left_out + left_out)

    async def files(self, path: Path, limit: int, glob: str = "") -> tuple[list[str], bool]:
        found = [str(one.relative_to(path)) async for one in self._walk(path, glob)]
        found.sort(key=lambda name: (name.count("/"), name))
        return found[:limit], len(found) > limit

    async def count_left_out(self, path: Path, glob: str = "") -> LeftOut:
        secrets = [str(one.relative_to(path)) async for one in self._walk(path, glob, secrets=True)]
        return LeftOut(tuple(secrets))

    async def _walk(self, top: Path, glob: str, *, secrets: bool = False) -> AsyncIterator[Path]:
        """Yield the files below a folder, or that file, nearest first: those that may be read, or the others."""
        if (found := await self._files.info(top)) and found.is_file:
            yield top
            return
        patterns, waiting = split_patterns(glob), [top] if found else []
        for folder in waiting:
            for name, is_folder in await self._files.list(folder):
                place = folder / name
                is_secret = self._scope is not None and bool(self._scope.refusal(str(place)))
                if is_folder:
                    waiting += [] if is_secret else [place]
                elif is_secret is secrets and (not glob or matches_any(patterns, str(place.relative_to(top)))):
                    yield place

    async def _read_texts(self, top: Path, glob: str) -> AsyncIterator[tuple[dict[str, str], LeftOut]]:
        """Yield the texts of the files by their paths, as many as are searched at once, and what is left out."""
        texts, left_out, room = dict[str, str](), LeftOut(), self._at_once
        async for path in self._walk(top, glob):
            text = await self._read(path)
            if isinstance(text, LeftOut):
                left_out += text
                continue
            texts[str(path)], room = text, room - len(text)
            if room <= 0:
                yield texts, left_out
                texts, left_out, room = {}, LeftOut(), self._at_once
        yield texts, left_out

    async def _read(self, path: Path) -> str | LeftOut:
        """Return the text of a file, or that it is left out."""
        data = await self._files.read(path, LARGEST + 1)
        if len(data) > LARGEST:
            return LeftOut(large=1)
        return LeftOut(undecodable=1) if b"\0" in data else decode_text(data)


async def _search_copies(texts: Mapping[str, str], query: SearchQuery) -> SearchResult:
    """Search texts under names that no ignore file knows, and name their files in the result. Raises ToolFailure."""
    with TemporaryDirectory(prefix="halocline-search-", ignore_cleanup_errors=True) as folder:
        places = {f"{folder}/{at:06}": path for at, path in enumerate(texts)}
        await asyncio.to_thread(_write_copies, {place: texts[path] for place, path in places.items()})
        found = await Ripgrep().search(replace(query, path=folder, glob=""))
    long = tuple(places[one] for one in found.left_out.long)
    matches = tuple(replace(one, path=places[one.path]) for one in found.matches)
    return replace(found, matches=matches, left_out=replace(found.left_out, long=long))


def _write_copies(texts: Mapping[str, str]) -> None:
    for place, text in texts.items():
        Path(place).write_text(text, "utf-8", "replace", newline="")


def _count_matches(found: tuple[Match, ...]) -> int:
    return sum(one.is_match for one in found)
