"""A Ray cluster of several node processes on this machine, whose processes are known by a word in their environment."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from tests.batch.fleet.set_up import ray

ROOT = Path(__file__).parents[3]
RAY = (sys.executable, "-m", "ray.scripts.scripts")
_WORD = "HALOCLINE_TEST_NODE"
_OBJECTS = "80000000"
_PATIENT = '{"health_check_timeout_ms":120000,"health_check_failure_threshold":15}'
"""Ray itself counts no node as dead while its network is cut for a while."""


class Cluster:
    """A cluster whose nodes may each have a host. `address` is the machine's within it."""

    def __init__(self, environment: Mapping[str, str], address: str = "127.0.0.1") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hr-", dir="/tmp"))  # sockets' paths are short
        self.address = address
        self._mark = secrets.token_hex(6)
        self._port = find_port()
        place = ray()
        assert place
        self.env = {
            **environment,
            "PYTHONPATH": os.pathsep.join([str(place), str(ROOT / "src"), str(ROOT)]),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ADDRESS": f"{address}:{self._port}",
            "HOME": str(self.folder),  # Ray reads its token there, and the person's is none of ours
            "RAY_AUTH_MODE": "token",  # its ports are open to all who reach this machine
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
        }

    def start_head(self) -> None:
        words = ("--head", f"--port={self._port}", f"--temp-dir={self.folder}/r", "--include-dashboard=false")
        self._start("head", self.address, (*words, f"--system-config={_PATIENT}"))

    def start_node(self, name: str, address: str = "", before: tuple[str, ...] = ()) -> None:
        """Start another node; `before` are the words of a program that runs it elsewhere."""
        self._start(name, address or self.address, (f"--address={self.address}:{self._port}",), before)

    def _start(self, name: str, address: str, words: tuple[str, ...], before: tuple[str, ...] = ()) -> None:
        env = {**self.env, "XDG_CACHE_HOME": str(self.folder / name), _WORD: f"{self._mark}-{name}"}
        del env["RAY_ADDRESS"]
        all_words = ("--num-cpus=1", '--resources={"halocline": 1}', f"--node-ip-address={address}", *words)
        done = subprocess.run(
            [*before, *RAY, "start", *all_words, f"--object-store-memory={_OBJECTS}", "--disable-usage-stats"],
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def find(self, node: str = "", words: str = "") -> Iterator[int]:
        """Yield the processes of a node, or of all, whose command line has these words."""
        mark = f"{_WORD}={self._mark}-{node}".encode()
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                if folder.name.isdecimal() and mark in (folder / "environ").read_bytes():
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    if words in line:
                        yield int(folder.name)

    def kill(self, node: str, words: str = "") -> int:
        """Kill processes of a node, without any warning; return how many."""
        found = [*self.find(node, words)]
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return len(found)

    def close(self) -> None:
        while self.kill(""):
            time.sleep(0.1)
        shutil.rmtree(self.folder, ignore_errors=True)


def find_port() -> int:
    """Return a port that nothing has on any address, outside of those that the system gives away by itself."""
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with socket.socket() as found, suppress(OSError):
            found.bind(("", port))
            return port
