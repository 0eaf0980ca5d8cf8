"""The language servers of one task: which file belongs to which, when one is started, how long to wait.

What must stay true: a server starts in the background, and no edit waits for it before it is warm; an edit waits at
most `wait` seconds; nothing starts for files that no server knows. Heavy modules are imported with the first file.
"""

import asyncio
import os
from collections.abc import Coroutine, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from halocline.ports.diagnostics import LARGEST_TEXT, EditedText, Problem
from halocline.protocol.waiting import end_tasks

if TYPE_CHECKING:
    from halocline.hosts.language_servers.finding import Finder, Found
    from halocline.hosts.language_servers.running import RunningServers
    from halocline.hosts.language_servers.server import Server

PATIENCE = 30.0
"""Seconds without an answer after which a server counts as hung and is killed."""
MOST_ASKED = 20
"""Largest number of changed files opened per server when you ask for all problems."""
SOON = 0.02
"""Seconds until the server of a file that was read is looked for."""
CURRENT_WAIT = 10.0
"""Longest wait in seconds when you ask for all problems, including the start of servers."""


class LanguageServers:
    """Implements `ports.diagnostics.Diagnostics` for one workspace.

    `wait` is in seconds. Servers do not get the environment variables named in `hidden`, nor those that look like
    secrets. `project_programs` allows programs in the workspace to be started. `encodings` are those of the settings.
    """

    def __init__(
        self,
        workspace: Path,
        wait: float,
        *,
        project_programs: bool = False,
        hidden: frozenset[str] = frozenset(),
        environment: Mapping[str, str] = os.environ,
        patience: float = PATIENCE,
        encodings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._workspace = workspace
        self._wait = wait
        self._project_programs = project_programs
        self._patience = patience
        self._given = environment, hidden
        self._encodings = encodings
        self._found: dict[tuple[str, Path], Found | None] = {}
        self._running: RunningServers | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._expected: list[Path] = []
        self._learning: dict[Server, set[asyncio.Task[Any]]] = {}
        self._late: list[tuple[Server, Problem]] = []
        self._closed = False

    def knows(self, path: Path) -> bool:
        return self._server_for(path) is not None

    def is_warm(self, path: Path) -> bool:
        """True if an edit of such a file would wait for its server."""
        server = self._server_for(path)
        return server is not None and server.is_warm

    @property
    def is_busy(self) -> bool:
        """True while work with a server is going on."""
        return bool(self._tasks)

    def expect(self, path: Path) -> None:
        self._expected.append(path)
        if len(self._expected) == 1 and not self._closed:
            self._in_background(self._learn_soon())

    async def introduced(self, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
        self._learn_expected()
        groups: dict[Server, list[EditedText]] = {}
        for edit in edits:
            if max(len(edit.before or ""), len(edit.after or "")) <= LARGEST_TEXT and (
                server := self._server_for(edit.path)
            ):
                groups.setdefault(server, []).append(edit)
        if not groups:
            return ()
        asked = {self._in_background(self._servers.judge(server, group)): server for server, group in groups.items()}
        warm = [task for task, server in asked.items() if server.is_warm]
        done: set[asyncio.Task[tuple[Problem, ...]]] = set()
        try:
            if warm:
                done, _ = await asyncio.wait(warm, timeout=self._wait)
        finally:
            for task in asked.keys() - done:
                task.add_done_callback(partial(self._keep_late, asked[task]))
        return tuple(problem for task in asked if task in done for problem in task.result())

    def late(self) -> tuple[Problem, ...]:
        late, self._late = self._late, []
        return tuple(problem for server, problem in late if _is_still_there(server, problem))

    async def shown(self) -> None:
        """They show nothing to the person."""

    async def current(self, paths: Sequence[Path]) -> tuple[Problem, ...] | None:
        self._learn_expected()
        wanted: dict[Server, list[Path]] = {server: [] for server in self._servers.alive}
        for path in dict.fromkeys((*paths, *await self._servers.changed_files())):
            if (server := self._server_for(path)) and len(wanted.setdefault(server, [])) < MOST_ASKED:
                wanted[server].append(path)
        answers = [self._in_background(self._check_files(*pair)) for pair in wanted.items()]
        if not answers:
            return None
        _, waiting = await asyncio.wait(answers, timeout=CURRENT_WAIT)
        for task in waiting:
            task.cancel()
        known = [task.result() for task in answers if task not in waiting]
        found = [problems for problems in known if problems is not None]
        return tuple(problem for problems in found for problem in problems) if found else None

    async def close(self) -> None:
        self._closed = True
        await end_tasks(*self._tasks)
        if self._running is not None:
            await self._running.close()

    def _server_for(self, path: Path) -> "Server | None":
        """The server for a file, started if needed; None when there is none or it ended too often."""
        if self._closed or not path.is_relative_to(self._workspace):
            return None
        key = path.suffix.lower(), path.parent
        if key not in self._found:
            self._found[key] = self._finder.find_allowed(path)
        found = self._found[key]
        return self._servers.start(found) if found else None

    @cached_property
    def _finder(self) -> "Finder":
        from halocline.hosts.language_servers.finding import Finder

        return Finder(self._workspace, self._project_programs, self._given[0].get("PATH", ""))

    @property
    def _servers(self) -> "RunningServers":
        if self._running is None:
            from halocline.hosts.language_servers.running import RunningServers  # most tasks start no server

            self._running = RunningServers(self._finder, *self._given, self._patience, self._encodings)
        return self._running

    async def _learn_soon(self) -> None:
        """Have servers read what is expected. Looking for them takes milliseconds, so the next request goes first."""
        await asyncio.sleep(SOON)
        self._learn_expected()

    def _learn_expected(self) -> None:
        expected, self._expected = self._expected, []
        for path in expected:
            server = self._server_for(path)
            if server is not None and path not in server.documents:
                learning = self._learning.setdefault(server, set())
                learning.add(task := self._in_background(self._servers.learn(server, path)))
                task.add_done_callback(learning.discard)

    async def _check_files(self, server: "Server", paths: Sequence[Path]) -> tuple[Problem, ...] | None:
        """Ask a server for all problems, once it knows the files that were read: it finds nothing in others."""
        if learning := self._learning.get(server):
            await asyncio.wait(learning)
        return await self._servers.check_files(server, paths)

    def _in_background(self, work: Coroutine[None, None, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _keep_late(self, server: "Server", task: asyncio.Task[tuple[Problem, ...]]) -> None:
        if not task.cancelled():
            self._late += [(server, problem) for problem in task.result()]


def _is_still_there(server: "Server", problem: Problem) -> bool:
    document = server.documents.get(problem.path)
    return document is not None and problem in document.problems
