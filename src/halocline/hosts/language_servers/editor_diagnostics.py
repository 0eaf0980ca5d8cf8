"""Errors that the editor shows, and those of language servers for files that the editor does not check.

An editor says only what is wrong now: the errors of a file are asked for when it is read, and compared after an edit.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from halocline.hosts.language_servers.diagnostics import new_errors
from halocline.ports.diagnostics import Diagnostics, EditedText, Problem
from halocline.ports.editor import ProblemSource
from halocline.protocol.waiting import end_tasks

FIRST_WAIT = 10.0
"""Seconds that the first check of a file may take, in the background."""


class EditorDiagnostics:
    """Implements `ports.diagnostics.Diagnostics`. An edit waits at most `wait` seconds for the editor."""

    def __init__(self, editor: ProblemSource, servers: Diagnostics, wait: float) -> None:
        self._editor = editor
        self._servers = servers
        self._wait = wait
        self._before: dict[Path, tuple[Problem, ...]] = {}
        self._endings: set[str] = set()
        """Endings of files that the editor is known to check."""
        self._looking: dict[Path, asyncio.Task[None]] = {}

    def knows(self, path: Path) -> bool:
        return path.suffix in self._endings or self._servers.knows(path)

    def expect(self, path: Path) -> None:
        if path not in self._before and path not in self._looking:
            looking = self._looking[path] = asyncio.create_task(self._look(path), name=f"errors in {path}")
            looking.add_done_callback(lambda _: self._looking.pop(path, None))

    async def introduced(self, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
        theirs = [edit for edit in edits if edit.path.suffix in self._endings]
        others = [edit for edit in edits if edit not in theirs]
        return (await self._compare(theirs) if theirs else ()) + (
            await self._servers.introduced(others) if others else ()
        )

    def late(self) -> tuple[Problem, ...]:
        return self._servers.late()

    async def current(self, paths: Sequence[Path]) -> tuple[Problem, ...] | None:
        """Return the errors in these files and in those read or edited."""
        found = await self._editor.check([*dict.fromkeys((*paths, *self._before))], self._wait)
        more = await self._servers.current([path for path in paths if path not in found.paths])
        return None if more is None and not found.paths else (*found.problems, *(more or ()))

    async def shown(self) -> tuple[Problem, ...] | None:
        return await self._editor.shown()

    async def close(self) -> None:
        await end_tasks(*self._looking.values())
        await self._servers.close()

    async def _look(self, path: Path) -> None:
        """Ask for the errors in a file before it is edited; if the editor does not check it, start a server for it."""
        found = await self._editor.check([path], FIRST_WAIT)
        if path in found.paths:
            self._endings.add(path.suffix)
            self._before.setdefault(path, found.problems)
        else:
            self._servers.expect(path)

    async def _compare(self, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
        """Return what is wrong now and was not before. Nothing is said of a file whose errors were not known."""
        paths = [edit.path for edit in edits if edit.after is not None]
        found = await self._editor.check(paths, self._wait)
        before, now = list[Problem](), list[Problem]()
        for edit in edits:
            known = self._before.pop(edit.path, () if edit.before is None else None)
            if edit.path in found.paths:
                self._before[edit.path] = tuple(one for one in found.problems if one.path == edit.path)
            if known is not None:
                before += known
                now += self._before.get(edit.path, ())
        return new_errors(before, now)
