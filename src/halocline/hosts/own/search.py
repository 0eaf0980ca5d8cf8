"""Search in files of a program: each is read. Expressions are Python's, which read most of what Rust's do."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

from halocline.files.encodings import decode_text
from halocline.files.patterns import matches_any, split_patterns
from halocline.ports.host import Files, LeftOut, Match, Scope, SearchQuery, SearchResult
from halocline.protocol.errors import ToolFailure

LARGEST = 4_000_000
"""Bytes of a file that is searched."""


class OwnSearch:
    """Implements `ports.host.Search` over the files of a task."""

    def __init__(self, files: Files, scope: Scope | None = None) -> None:
        self._files = files.only(lambda path: False, scope)
        self._whole, self._scope = files, scope

    def only(self, scope: Scope) -> "OwnSearch":
        return OwnSearch(self._whole, scope)

    async def search(self, query: SearchQuery) -> SearchResult:
        try:
            wanted = re.compile(query.regex, re.MULTILINE)
        except re.error as error:
            raise ToolFailure(f"The expression is not valid: {error}.") from error
        matches: list[Match] = []
        unread = LeftOut()
        async for path in self._walk(Path(query.path), query.glob):
            text = await self._read(path)
            unread += text if isinstance(text, LeftOut) else LeftOut()
            matches += [] if isinstance(text, LeftOut) else _match_lines(str(path), text, wanted, query.context)
            if sum(one.is_match for one in matches) > query.limit:
                return SearchResult(tuple(matches), cut=True)
        return SearchResult(tuple(matches), left_out=unread + await self.count_left_out(Path(query.path), query.glob))

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

    async def _read(self, path: Path) -> str | LeftOut:
        """Return the text of a file, or that it is left out."""
        data = await self._files.read(path, LARGEST + 1)
        if len(data) > LARGEST:
            return LeftOut(large=1)
        return LeftOut(undecodable=1) if b"\0" in data else decode_text(data)


def _match_lines(path: str, text: str, wanted: re.Pattern[str], context: int) -> list[Match]:
    """Return the lines that match, and those around them."""
    lines = text.splitlines()
    hits = {at for at, line in enumerate(lines) if wanted.search(line)}
    around = {near for at in hits for near in range(at - context, at + context + 1) if 0 <= near < len(lines)}
    return [Match(path, at + 1, lines[at], at in hits) for at in sorted(around)]
