"""The sandbox backends of this machine, best first. Each builds the command line that starts a command inside."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from halocline.hosts.executables import find_program
from halocline.hosts.sandbox import bubblewrap, landlock, seatbelt, seccomp
from halocline.hosts.sandbox.mounts import SandboxRequest, Seen, existing_paths
from halocline.hosts.sandbox.program import SYSTEM_FOLDERS as SYSTEM_FOLDERS
from halocline.hosts.sandbox.scan import Identity

_CACHES = {"XDG_CACHE_HOME": "/tmp/.cache", "GOCACHE": "/tmp/.cache/go-build"}
"""Cache folders for builds when the settings name no other writable place; your own caches are read-only."""
LANDLOCK_LACKS = (
    ".git and editor settings can be written",
    "secret files of the workspace, and files that an ignore file or a rule hides, can be read",
    "permissions of files elsewhere can be changed",
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm")
LONGEST_ARGUMENT = 100_000
"""In bytes; Linux allows 128 KiB for one argument."""
_LAUNCHER = str(Path(landlock.__file__))
_SIGNALS = "--default-signal=INT,TERM,HUP,QUIT"


@dataclass(frozen=True, slots=True)
class Held:
    """A command in a sandbox: how to start it, its seccomp filter, and the paths protected at its start."""

    words: list[str]
    environment: dict[str, str]
    before: dict[Path, Identity]
    filter: bytes = b""
    patient: bool = False
    """The wrapper ignores signals that ask it to end, so that the command can end by itself."""
    folder: str = "/"

    @contextmanager
    def passing(self) -> Iterator[tuple[int, ...]]:
        """The descriptor from which the wrapper reads the filter, once."""
        if not self.filter:
            yield ()
            return
        reading, writing = os.pipe()
        try:
            with open(writing, "wb") as pipe:
                pipe.write(self.filter)
            yield (reading,)
        finally:
            os.close(reading)


@dataclass(frozen=True, slots=True)
class Backend:
    """`lacks` lists gaps that no self-test can close; with `own_tmp`, `/tmp` is the task's own.

    Only one that `keeps_git` may open git's own folders elsewhere: it keeps what git obeys there as it is.
    """

    name: str
    hold: "Callable[[SandboxRequest, list[str], str, Seen], Held]"
    lacks: tuple[str, ...] = ()
    own_tmp: bool = False
    keeps_git: bool = False


def list_backends() -> Iterator[Backend]:
    """The backends this machine may have; the self-test finds out which work."""
    if sys.platform == "darwin" and os.path.exists(seatbelt.PROGRAM):
        yield Backend("sandbox-exec", _by_seatbelt)
    if sys.platform != "linux" or not seccomp.build_filter(os.uname().machine):
        return
    if program := find_program("bwrap", SYSTEM_FOLDERS):
        yield Backend("bubblewrap", lambda *given: _by_bubblewrap(program, *given), own_tmp=True, keeps_git=True)
    if landlock.landlock_version() >= landlock.OLDEST:
        yield Backend("Landlock", _by_landlock, LANDLOCK_LACKS)


@cache
def visible_paths() -> tuple[Path, ...]:
    """Our interpreter and programs, which the self-test must be able to run wherever they are."""
    places = {Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parent}
    return tuple(sorted(places | {place.resolve() for place in places}))


def _by_bubblewrap(program: str, request: SandboxRequest, words: list[str], folder: str, seen: Seen) -> Held:
    front = bubblewrap.build_arguments(request, folder, seen, visible_paths())
    resets = _reset_signals()
    environment = {"TMPDIR": "/tmp"} | ({} if request.writable else _CACHES)
    filter = seccomp.build_filter(os.uname().machine)
    return Held([program, *front, *resets, *words], environment, seen.protected, filter, bool(resets))


@cache
def _reset_signals() -> tuple[str, ...]:
    """Command line of GNU `env` that restores the default handling of signals."""
    program = find_program("env", SYSTEM_FOLDERS)
    real = os.path.realpath(program) if program else ""
    return (real, _SIGNALS) if os.path.basename(real) == "env" else ()


def _by_landlock(request: SandboxRequest, words: list[str], folder: str, seen: Seen) -> Held:
    writable = [*existing_paths((*request.places, request.tmp)), *map(Path, _DEVICES)]
    sockets = seccomp.WITH_NETWORK if request.network else seccomp.NO_NETWORK
    given = {
        "write": [str(path) for path in writable],
        "read": [str(path) for path in all_but(seen.masked)] + [str(path) for path in writable],
        "filter": seccomp.build_filter(os.uname().machine, sockets).hex(),
        "network": request.network,
    }
    text = json.dumps(given)  # long where hidden files have many neighbours
    pieces = [text[at : at + LONGEST_ARGUMENT] for at in range(0, len(text), LONGEST_ARGUMENT)]
    front = [sys.executable, "-I", "-S", _LAUNCHER, str(len(pieces)), *pieces]
    return Held([*front, *words], {"TMPDIR": str(request.tmp)}, seen.protected, folder=folder)


def _by_seatbelt(request: SandboxRequest, words: list[str], folder: str, seen: Seen) -> Held:
    rules = seatbelt.build_profile(request, seen.protected, seen.masked)
    return Held([seatbelt.PROGRAM, "-p", rules, *words], {"TMPDIR": str(request.tmp)}, seen.protected, folder=folder)


def all_but(hidden: list[Path], root: Path = Path("/")) -> Iterator[Path]:
    """The fewest paths that together cover everything except the hidden ones."""
    if not any(path.is_relative_to(root) for path in hidden):
        yield root
        return
    if root in hidden:
        return
    try:
        children = sorted(root.iterdir())
    except OSError:
        return
    for child in children:
        if not child.is_symlink():
            yield from all_but(hidden, child)
