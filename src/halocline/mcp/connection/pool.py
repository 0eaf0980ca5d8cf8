"""The MCP servers that the tasks of one process share: ten tasks in a folder with five servers start five programs.

What must stay true: tasks share a server only with the same workspace, the same roots and identical settings and
variables. Every user gets its messages; when the last one leaves, it ends after a grace period. During that period a
task with other roots may take it over, and the server is notified of the new roots.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from halocline.mcp.connection.setup import Setup
from halocline.mcp.connection.supervisor import Supervisor
from halocline.ports.mcp_servers import Server
from halocline.ports.programs import Programs

GRACE = 30.0
"""Seconds an unused server keeps running: the next task may start at once."""

Tell = Callable[[str], None]


class _Shared:
    """One server and the users that get its messages."""

    def __init__(self, server: Server, setup: Setup) -> None:
        self.setup = setup
        self.users: list[Tell] = []
        self.leaving: asyncio.TimerHandle | None = None
        self.supervisor = Supervisor(server, replace(setup, tell=self._tell))

    def is_for(self, server: Server, setup: Setup) -> bool:
        mine = self.setup
        return (
            is_same(self.supervisor.server, server)
            and (mine.workspace, mine.sampling, mine.env) == (setup.workspace, setup.sampling, setup.env)
            and (mine.folders == setup.folders or not self.users)
        )

    def root(self, folders: tuple[Path, ...]) -> None:
        self.setup = replace(self.setup, folders=folders)
        self.supervisor.root(folders)

    def _tell(self, text: str) -> None:
        for tell in (*self.users,):
            tell(text)


class Pool:
    """All servers of a process."""

    def __init__(self, programs: Programs, grace: float = GRACE) -> None:
        self.programs = programs
        self._grace = grace
        self._shared: list[_Shared] = []
        self._ending: set[asyncio.Task[None]] = set()

    def take(self, server: Server, setup: Setup) -> Supervisor:
        """Return a supervisor for the server, shared where possible; `setup.tell` identifies the user."""
        fitting = [one for one in self._shared if one.is_for(server, setup)]
        found = next((one for one in fitting if one.setup.folders == setup.folders), fitting[0] if fitting else None)
        if found is None:
            self._shared.append(found := _Shared(server, setup))
        if found.leaving is not None:
            found.leaving.cancel()
            found.leaving = None
        found.users.append(setup.tell)
        found.root(setup.folders)
        found.supervisor.server = server  # settings that do not affect a running one
        return found.supervisor

    def release(self, supervisor: Supervisor, setup: Setup, *, now: bool = False) -> None:
        """Remove a user. After the last one the server ends when the grace is over; `now` if its settings changed."""
        found = next((one for one in self._shared if one.supervisor is supervisor), None)
        if found is None or setup.tell not in found.users:
            return
        found.users.remove(setup.tell)
        if found.users:
            return
        if now or not supervisor.is_running:
            self._end(found)
        else:
            found.leaving = asyncio.get_running_loop().call_later(self._grace, self._end, found)

    async def close(self) -> None:
        """End all servers immediately, and wait until they are gone."""
        for shared in (*self._shared,):
            self._end(shared)
        await asyncio.gather(*self._ending)
        await self.programs.close()

    def _end(self, shared: _Shared) -> None:
        if shared.leaving is not None:
            shared.leaving.cancel()
        self._shared.remove(shared)
        ending = asyncio.create_task(shared.supervisor.close())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


def is_same(before: Server, now: Server) -> bool:
    """True if a running server is set up as it would be now."""
    return (before.name, before.essence, before.problem, before.owner) == (
        now.name, now.essence, now.problem, now.owner,
    )  # fmt: skip
