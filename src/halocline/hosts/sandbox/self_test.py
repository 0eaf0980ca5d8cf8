"""Tests a sandbox: tries in it what must fail and what must work. The result counts until the next boot."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from halocline.hosts.keeper import FILTER_FD
from halocline.hosts.sandbox.backends import Backend, list_backends
from halocline.hosts.sandbox.mounts import SandboxRequest, Seen, list_masked
from halocline.hosts.sandbox.scan import Scan
from halocline.protocol.child_environment import child_environment, declare_environment
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import SandboxStanding

MUST_WORK = frozenset({"write inside", "start a program"})
BY_NETWORK = frozenset({"connect by TCP", "send by UDP"})
_PROBE = str(Path(__file__).with_name("probe.py"))
_LONGEST = 20.0
_APPARMOR = (
    "this system does not let ordinary users create namespaces; enable your distribution's AppArmor profile for bwrap "
    "(on Ubuntu: package apparmor-profiles, file bwrap-userns-restrict)"
)
_NAMESPACES = ("uid map", "RTM_NEWADDR", "new namespace", "Creating new")
INSTALL = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"


@dataclass(frozen=True, slots=True)
class Found:
    """The backend to use, if there is one, and how well it works."""

    backend: Backend | None
    checked: SandboxChecked


def find_backend(request: SandboxRequest, *, required: bool) -> Found:
    """Test this machine's backends; return the first that works in full, else the first that works in part."""
    if request.refusal:
        return Found(None, SandboxChecked(SandboxStanding.NONE, (request.refusal,), required))
    partial: Found | None = None
    reasons: list[str] = []
    for backend in list_backends():
        lacks, reason = examine_backend(backend, request)
        if reason:
            reasons.append(f"{backend.name}: {reason}")
        elif not lacks:
            return Found(backend, SandboxChecked(SandboxStanding.FULL, (), required, backend.name))
        else:
            partial = partial or Found(backend, SandboxChecked(SandboxStanding.PARTIAL, lacks, required, backend.name))
    why = tuple(reasons) or (INSTALL if sys.platform == "linux" else "not available on this system",)
    return partial or Found(None, SandboxChecked(SandboxStanding.NONE, why, required))


def examine_backend(backend: Backend, request: SandboxRequest) -> tuple[tuple[str, ...], str]:
    """Its gaps, or the reason it does not work at all."""
    with _make_world() as world:
        try:
            succeeded = _try_backend(backend, world.adapt_request(request), world)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return (), _read_reason(str(error))
    if missing := MUST_WORK - succeeded:
        return (), f"commands inside cannot {' or '.join(sorted(missing))}"
    let_through = succeeded - MUST_WORK - (BY_NETWORK if request.network else frozenset())
    return (*backend.lacks, *(f"a command can {name}" for name in sorted(let_through))), ""


@dataclass(frozen=True, slots=True)
class _World:
    """Places to try: a temporary folder, and sockets that listen outside the sandbox."""

    root: Path
    outside: Path
    tcp: int
    udp: socket.socket

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def unix(self) -> str:
        return str(self.workspace / "socket")

    def adapt_request(self, request: SandboxRequest) -> SandboxRequest:
        """The same request for these places."""
        root = self.root
        return replace(
            request, workspace=self.workspace, roots=(), home=root / "home", state=root / "state", own=root / "own"
        )

    def has_file_outside(self) -> bool:
        """True if something was written outside."""
        return any(self.outside.iterdir())

    def has_datagram(self) -> bool:
        """True if a datagram arrived; sending one succeeds even when it reaches nothing."""
        try:
            return bool(self.udp.recv(1, socket.MSG_DONTWAIT))
        except OSError:
            return False


@contextmanager
def _make_world() -> Iterator[_World]:
    with ExitStack() as stack:
        # resolved, because a sandbox gets paths without links
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="halocline-"))).resolve()
        place = "/var/tmp" if os.access("/var/tmp", os.W_OK) else None
        outside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="halocline-", dir=place))).resolve()
        for name in ("workspace", "home", "state", "own/tmp"):
            (root / name).mkdir(parents=True)
        kinds = (socket.SOCK_STREAM, socket.SOCK_DGRAM)
        tcp, udp = (stack.enter_context(socket.socket(socket.AF_INET, kind)) for kind in kinds)
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        for sock in (tcp, udp):
            sock.bind(("127.0.0.1", 0))
        world = _World(root, outside, tcp.getsockname()[1], udp)
        unix.bind(world.unix)
        for sock in (tcp, unix):
            sock.listen()
        yield world


def _try_backend(backend: Backend, request: SandboxRequest, world: _World) -> frozenset[str]:
    places = (world.workspace / "inside", world.outside / "outside", world.unix)
    numbers = (world.tcp, world.udp.getsockname()[1], os.getpid())
    words = [sys.executable, "-I", "-S", _PROBE, *map(str, places), *map(str, numbers), _pid_namespace()]
    there = Seen({}, list_masked(request, Scan()))
    held = backend.hold(request, words, str(request.workspace), there)
    with held.passing() as fds:
        done = subprocess.run(
            [word if word != str(FILTER_FD) or not fds else str(fds[0]) for word in held.words],
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            pass_fds=fds,
            cwd=held.folder,
            env=declare_environment(child_environment({"PATH": os.defpath}), held.environment),
        )
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().rpartition("\n")[2] or f"the test exited with code {done.returncode}")
    seen = {"write outside": world.has_file_outside(), "send by UDP": world.has_datagram()}
    return (frozenset(json.loads(done.stdout)) - seen.keys()) | {name for name, held in seen.items() if held}


def _pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _read_reason(message: str) -> str:
    return f"{message}; {_APPARMOR}" if any(word in message for word in _NAMESPACES) else message


def boot_id() -> str:
    """An id of this boot; empty where there is none."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""
