"""The language servers that run for one workspace: started by need, asked for diagnostics, ended if they hang."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from halocline.edits.text import BinaryContent, decode_text
from halocline.files.opening import open_resolved, require_regular
from halocline.files.regular import read_from
from halocline.git.diffs import changed_files
from halocline.hosts.files.declared_encodings import find_declared
from halocline.hosts.language_servers.connection import ServerGone
from halocline.hosts.language_servers.finding import Finder, Found
from halocline.hosts.language_servers.judging import judge_edits
from halocline.hosts.language_servers.server import Server
from halocline.hosts.shell.processes import Processes
from halocline.ports.diagnostics import LARGEST_TEXT, EditedText, Problem
from halocline.protocol.child_environment import ChildEnvironment, child_environment

MOST_STARTS = 3
MOST_SERVERS = 4
_GIT_PATIENCE = 3.0


class RunningServers:
    """`patience` is in seconds: a server that is silent for longer counts as hung and is killed."""

    def __init__(
        self,
        finder: Finder,
        environment: Mapping[str, str],
        hidden: frozenset[str],
        patience: float,
        encodings: Mapping[str, str],
    ) -> None:
        self._finder = finder
        self._encodings = encodings
        self._given = environment, hidden
        self._patience = patience
        self._servers: dict[tuple[str, Path], Server] = {}
        self._starts: dict[tuple[str, Path], int] = {}

    @cached_property
    def _environment(self) -> ChildEnvironment:
        return child_environment(*self._given)

    @cached_property
    def _processes(self) -> Processes:
        return Processes(self._environment)

    @property
    def alive(self) -> list[Server]:
        return [server for server in self._servers.values() if not server.gone.is_set()]

    def start(self, found: Found) -> Server | None:
        """The running server, started if needed; None when it ended too often or too many run."""
        key = found.row.name, found.root
        server = self._servers.get(key)
        if server is not None and not server.gone.is_set():
            return server
        starts = self._starts.get(key, 0)
        if starts == MOST_STARTS or (server is None and len(self._servers) == MOST_SERVERS):
            return None
        self._starts[key] = starts + 1
        self._servers[key] = server = Server(found, self._processes, self._finder.environment(self._environment))
        return server

    async def learn(self, server: Server, path: Path) -> None:
        """Send the server the file as it is on disk, unless an edit came first."""
        text = await asyncio.to_thread(_text_of, path, self._encodings)
        with suppress(ServerGone, TimeoutError):
            async with asyncio.timeout(self._patience):
                await server.when_ready()
            if text is None or path in server.documents:
                return
            async with asyncio.timeout(self._patience):
                await server.answer(server.open(path, text))

    async def judge(self, server: Server, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
        """The errors that edits introduced; none if the server is gone or hangs."""
        try:
            async with asyncio.timeout(self._patience):
                return await judge_edits(server, edits)
        except ServerGone:
            return ()
        except TimeoutError:
            if server.ready.is_set():
                await server.give_up()
            return ()

    async def check_files(self, server: Server, paths: Sequence[Path]) -> tuple[Problem, ...] | None:
        """The errors on disk in these files and in all that the server has open; None if it is gone."""
        try:
            await server.when_ready()
            async with server.turn:
                documents = []
                for path in dict.fromkeys((*paths, *server.documents)):
                    if (text := await asyncio.to_thread(_text_of, path, self._encodings)) is not None:
                        documents.append(server.open(path, text))
                        server.doubt(documents[-1])
                await asyncio.gather(*map(server.answer, documents))
        except ServerGone:
            return None
        return tuple(problem for document in documents for problem in document.problems)

    async def changed_files(self) -> Sequence[Path]:
        """The files of the workspace that differ from the last commit."""
        return await changed_files(self._finder.workspace, _GIT_PATIENCE)

    async def close(self) -> None:
        await asyncio.gather(*(server.close() for server in self._servers.values()))
        if processes := self.__dict__.get("_processes"):  # most tasks start no server
            await processes.close()


def _text_of(path: Path, encodings: Mapping[str, str]) -> str | None:
    """The text of a file as edits see it; None if it is not text or too long."""
    with suppress(OSError, BinaryContent), open_resolved(path) as (fd, place, found):
        require_regular(found, path)
        if found.st_size <= LARGEST_TEXT:
            return decode_text(read_from(fd, LARGEST_TEXT), find_declared(place, encodings)).text
    return None
