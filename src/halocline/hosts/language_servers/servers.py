"""The language servers of one task: which file belongs to which, when one is started, how long to wait.

What must stay true: a server starts in the background, and no edit waits for it before it is warm; an edit waits at
most `wait` seconds; nothing starts for files that no server knows. Heavy modules are imported with the first file.
"""

import asyncio
import os
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halocline.edits.text import BinaryContent, decode_text
from halocline.files.opening import open_resolved, require_regular
from halocline.files.regular import read_from
from halocline.hosts.shell.processes import Processes
from halocline.ports.diagnostics import EditedText, Problem
from halocline.protocol.child_environment import ChildEnvironment, child_environment

if TYPE_CHECKING:
    from halocline.hosts.language_servers.finding import Finder, Found
    from halocline.hosts.language_servers.server import Server
    from halocline.hosts.language_servers.servers_table import Row

LARGEST = 1_000_000
"""Largest text in bytes that is sent to a server."""
MOST_STARTS = 3
MOST_SERVERS = 4
PATIENCE = 30.0
"""Seconds without an answer after which a server counts as hung and is killed."""
MOST_ASKED = 20
"""Largest number of changed files opened per server when you ask for all problems."""
CURRENT_WAIT = 10.0
"""Longest wait in seconds when you ask for all problems, including the start of servers."""
_GIT_PATIENCE = 3.0


class LanguageServers:
    """Implements `ports.diagnostics.Diagnostics` for one workspace.

    `wait` is in seconds. Servers do not get the environment variables named in `hidden`, nor those that look like
    secrets. `project_programs` allows programs in the workspace to be started.
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
    ) -> None:
        self._workspace = workspace
        self._wait = wait
        self._project_programs = project_programs
        self._patience = patience
        self._given = environment, hidden
        self._finder: Finder | None = None
        self._processes: Processes | None = None
        self._found: dict[tuple[str, Path], Found | None] = {}
        self._servers: dict[tuple[str, Path], Server] = {}
        self._starts: dict[tuple[str, Path], int] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._late: list[tuple[Server, Problem]] = []
        self._closed = False

    @cached_property
    def _environment(self) -> ChildEnvironment:
        return child_environment(*self._given)

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
        server = self._server_for(path)
        if server is not None and path not in server.documents:
            self._in_background(self._learn(server, path))

    async def introduced(self, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
        groups: dict[Server, list[EditedText]] = {}
        for edit in edits:
            if max(len(edit.before or ""), len(edit.after or "")) <= LARGEST and (
                server := self._server_for(edit.path)
            ):
                groups.setdefault(server, []).append(edit)
        if not groups:
            return ()
        asked = {self._in_background(self._judge(server, group)): server for server, group in groups.items()}
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

    async def current(self, paths: Sequence[Path]) -> tuple[Problem, ...] | None:
        from halocline.git.diffs import changed_files

        wanted: dict[Server, list[Path]] = {server: [] for server in self._servers.values() if not server.gone.is_set()}
        for path in dict.fromkeys((*paths, *await changed_files(self._workspace, _GIT_PATIENCE))):
            if (server := self._server_for(path)) and len(wanted.setdefault(server, [])) < MOST_ASKED:
                wanted[server].append(path)
        answers = [self._in_background(self._all_of(*pair)) for pair in wanted.items()]
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
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(server.close() for server in self._servers.values()))
        if self._processes is not None:
            await self._processes.close()

    def _server_for(self, path: Path) -> "Server | None":
        """The server for a file, started if needed; None when there is none or it ended too often."""
        if self._closed or not path.is_relative_to(self._workspace):
            return None
        from halocline.hosts.language_servers.servers_table import rows_for

        for row in rows_for(path):
            found = self._find(row, path)
            if found is not None and found.allowed:
                return self._start_server(found)
        return None

    def _find(self, row: "Row", path: Path) -> "Found | None":
        key = row.name, path.parent
        if key not in self._found:
            if self._finder is None:
                from halocline.hosts.language_servers.finding import Finder

                self._finder = Finder(self._workspace, self._project_programs, self._given[0].get("PATH", ""))
            self._found[key] = self._finder.find(row, path)
        return self._found[key]

    def _start_server(self, found: "Found") -> "Server | None":
        from halocline.hosts.language_servers.server import Server

        assert self._finder is not None
        key = found.row.name, found.root
        server = self._servers.get(key)
        if server is not None and not server.gone.is_set():
            return server
        starts = self._starts.get(key, 0)
        if starts == MOST_STARTS or (server is None and len(self._servers) == MOST_SERVERS):
            return None
        if self._processes is None:
            self._processes = Processes(self._environment)
        self._starts[key] = starts + 1
        self._servers[key] = server = Server(found, self._processes, self._finder.environment(self._environment))
        return server

    def _in_background(self, work: Coroutine[None, None, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _learn(self, server: "Server", path: Path) -> None:
        """Send the server the file as it is on disk, unless an edit came first."""
        from halocline.hosts.language_servers.connection import ServerGone

        text = await asyncio.to_thread(_text_of, path)
        with suppress(ServerGone, TimeoutError):
            async with asyncio.timeout(self._patience):
                await server.when_ready()
            if text is None or path in server.documents:
                return
            async with asyncio.timeout(self._patience):
                await server.answer(server.open(path, text))

    async def _judge(self, server: "Server", edits: Sequence[EditedText]) -> tuple[Problem, ...]:
        from halocline.hosts.language_servers.connection import ServerGone
        from halocline.hosts.language_servers.judging import judge_edits

        try:
            async with asyncio.timeout(self._patience):
                return await judge_edits(server, edits)
        except ServerGone:
            return ()
        except TimeoutError:
            if server.ready.is_set():
                await server.give_up()
            return ()

    async def _all_of(self, server: "Server", paths: Sequence[Path]) -> tuple[Problem, ...] | None:
        """The errors on disk in these files and in all that the server has open."""
        from halocline.hosts.language_servers.connection import ServerGone

        try:
            await server.when_ready()
            async with server.turn:
                documents = []
                for path in dict.fromkeys((*paths, *server.documents)):
                    if (text := await asyncio.to_thread(_text_of, path)) is not None:
                        documents.append(server.open(path, text))
                        server.doubt(documents[-1])
                await asyncio.gather(*map(server.answer, documents))
        except ServerGone:
            return None
        return tuple(problem for document in documents for problem in document.problems)

    def _keep_late(self, server: "Server", task: asyncio.Task[tuple[Problem, ...]]) -> None:
        if not task.cancelled():
            self._late += [(server, problem) for problem in task.result()]


def _is_still_there(server: "Server", problem: Problem) -> bool:
    document = server.documents.get(problem.path)
    return document is not None and problem in document.problems


def _text_of(path: Path) -> str | None:
    """The text of a file as edits see it; None if it is not text or too long."""
    with suppress(OSError, BinaryContent), open_resolved(path) as (fd, _, found):
        require_regular(found, path)
        if found.st_size <= LARGEST:
            return decode_text(read_from(fd, LARGEST)).text
    return None
