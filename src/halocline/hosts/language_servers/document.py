"""A text that a server has open, with its version and its latest diagnostics."""

import asyncio
from pathlib import Path
from urllib.parse import unquote

from halocline.ports.diagnostics import Problem

SETTLE = 0.3
"""Seconds of silence after which the diagnostics of a server that names no version count as complete."""
SETTLE_VERSIONED = 0.05
"""The same for one that does. But pyright sends an empty list for a file it has just opened, before it checks it."""


class Document:
    """One open file. `problems` belong to `version` once `is_answered`; until then they may be older."""

    def __init__(self, path: Path, text: str, silence: float) -> None:
        self._silence = silence
        self._slowest = 0.0
        self._is_known = False
        self.path = path
        self.uri = path.as_uri()
        self.version = 1
        self.problems: tuple[Problem, ...] = ()
        self._record_message = asyncio.Event()
        self._last: float | None = None
        self._settle = SETTLE
        self._set(text)

    def is_at(self, uri: str) -> bool:
        """True if a URI is this file's; servers quote URIs differently."""
        return uri == self.uri or unquote(uri) == unquote(self.uri)

    def change(self, text: str) -> None:
        self.version += 1
        self._set(text)

    def doubt(self) -> None:
        """Ask again, though the text is the same."""
        self._last = None

    def hear(self, version: int | None, problems: tuple[Problem, ...], *, final: bool = False) -> None:
        """Take diagnostics from the server; those that name another version do not count."""
        if version not in (None, self.version):
            return
        now = asyncio.get_running_loop().time()
        if self._is_known:
            self._slowest = max(self._slowest, now - self._changed)
        self._is_known = True
        self.problems = problems
        is_sure = version is not None and (self.version > 1 or bool(problems))
        self._settle = 0.0 if final else SETTLE_VERSIONED if is_sure else SETTLE
        self._last = now
        self._record_message.set()

    @property
    def is_answered(self) -> bool:
        return self._last is not None and asyncio.get_running_loop().time() >= self._last + self._settle

    async def settled(self) -> None:
        """Wait until the server sent diagnostics for this version, and then nothing more for a moment."""
        while not self.is_answered:
            if self._last is None:
                await self._wait_for_diagnostics()
            else:
                await asyncio.sleep(max(0.001, self._last + self._settle - asyncio.get_running_loop().time()))

    async def _wait_for_diagnostics(self) -> None:
        """Wait for diagnostics. If a server that knows this file sends none, nothing has changed."""
        silence = max(self._silence, 2 * self._slowest) if self._is_known else None
        try:
            async with asyncio.timeout(silence):
                await self._record_message.wait()
        except TimeoutError:
            self._last, self._settle = self._changed, 0.0

    def _set(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines()
        self._last = None
        self._changed = asyncio.get_running_loop().time()
        self._record_message.clear()
