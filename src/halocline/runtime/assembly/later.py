"""Stand-ins for parts of a task that are built, and their modules loaded, when they are first used."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from halocline.ports.host import Scope, Search, Shell
from halocline.ports.jobs import Jobs
from halocline.protocol.events.jobs import JobInfo

T = TypeVar("T")
ShellT = TypeVar("ShellT", bound=Shell)


def build_later(build: Callable[[], T]) -> T:
    """Return a stand-in for what `build` returns."""
    return cast(T, _Later(build))


def build_shell_later(build: Callable[[], ShellT]) -> ShellT:
    """Return a stand-in for a shell. Closing one that ran nothing, and asking for its jobs, does not build it."""
    return cast(ShellT, _LaterShell(build))


def build_search_later(build: Callable[[], Search]) -> Search:
    """Return a stand-in for the search of files, whose restriction to a scope is one, too."""
    return cast(Search, _LaterSearch(build))


class _Later(Generic[T]):
    """Passes everything on to what it builds."""

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._built: T | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._get(), name)

    def _get(self) -> T:
        if self._built is None:
            self._built = self._build()
        return self._built


class _LaterSearch(_Later[Search]):
    def only(self, scope: Scope) -> Search:
        return build_later(lambda: self._get().only(scope))


class _LaterShell(_Later[Shell]):
    on_end: Callable[[JobInfo], None] | None = None

    @property
    def jobs(self) -> Jobs:
        return self._built.jobs if self._built else cast(Jobs, _NoJobs(self))

    async def close(self) -> None:
        if self._built:
            await self._built.close()

    def _get(self) -> Shell:
        is_new, shell = self._built is None, super()._get()
        if is_new and self.on_end:
            shell.jobs.begin(self.on_end)
        return shell


class _NoJobs(_Later[Jobs]):
    """The jobs of a shell that is not built yet."""

    def __init__(self, shell: _LaterShell) -> None:
        super().__init__(lambda: shell._get().jobs)
        self._shell = shell

    def begin(self, on_end: Callable[[JobInfo], None]) -> None:
        self._shell.on_end = on_end

    def list(self) -> tuple[JobInfo, ...]:
        return ()

    async def find_ports(self) -> None:
        pass

    async def settle(self) -> None:
        pass

    def collect_changes(self) -> tuple[()]:
        return ()
