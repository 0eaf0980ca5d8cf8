"""A text that a server has, with its version, and what the server said of it last."""

import asyncio
from pathlib import Path
from urllib.parse import unquote

from halocline.ports.diagnostics import Problem

SETTLE = 0.3
"""Seconds of silence after which a server that names no version seems to have said all of it."""
SETTLE_VERSIONED = 0.05


class Document:
    """One open file. `problems` are those of `version` once `is_answered`, and older ones until then."""

    def __init__(self, path: Path, text: str, silence: float) -> None:
        self._silence = silence
        self._slowest = 0.0
        self._is_known = False
        self.path = path
        self.uri = path.as_uri()
        self.version = 1
        self.problems: tuple[Problem, ...] = ()
        self._heard = asyncio.Event()
        self._last: float | None = None
        self._settle = SETTLE
        self._set(text)

    def is_at(self, uri: str) -> bool:
        """Servers quote in ways of their own."""
        return uri == self.uri or unquote(uri) == unquote(self.uri)

    def change(self, text: str) -> None:
        self.version += 1
        self._set(text)

    def doubt(self) -> None:
        """Ask again, though the text is the same."""
        self._last = None

    def hear(self, version: int | None, problems: tuple[Problem, ...], *, final: bool = False) -> None:
        """The server said something, of a version when it names it. What it says of an older text does not count."""
        if version not in (None, self.version):
            return
        now = asyncio.get_running_loop().time()
        if self._is_known:
            self._slowest = max(self._slowest, now - self._changed)
        self._is_known = True
        self.problems = problems
        self._settle = 0.0 if final else SETTLE if version is None else SETTLE_VERSIONED
        self._last = now
        self._heard.set()

    @property
    def is_answered(self) -> bool:
        return self._last is not None and asyncio.get_running_loop().time() >= self._last + self._settle

    async def settled(self) -> None:
        """Wait until the server has said something of this version, and nothing more for a moment."""
        while not self.is_answered:
            if self._last is None:
                await self._hears()
            else:
                await asyncio.sleep(max(0.001, self._last + self._settle - asyncio.get_running_loop().time()))

    async def _hears(self) -> None:
        """Wait for a word. The silence of a server that knows this file says that nothing is different."""
        silence = max(self._silence, 2 * self._slowest) if self._is_known else None
        try:
            async with asyncio.timeout(silence):
                await self._heard.wait()
        except TimeoutError:
            self._last, self._settle = self._changed, 0.0

    def _set(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines()
        self._last = None
        self._changed = asyncio.get_running_loop().time()
        self._heard.clear()
