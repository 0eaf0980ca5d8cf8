"""A real VS Code (code-server) as a process of its own, with a home, settings and extensions that nobody else uses.

One for a test run: extension hosts of closed pages live on for a moment, and two servers slow each other down.
"""

import ctypes
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.cached_install import CACHE
from tests.hosts.chromium import needs_chromium
from tests.surfaces.vscode.set_up import MISSING, server_command

START, STOP = 60, 10
"""Seconds that the start and an orderly end may take."""
in_vs_code = [
    needs_chromium,
    pytest.mark.vscode,
    pytest.mark.slow,
    pytest.mark.xdist_group("vscode"),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(server_command() is None, reason=MISSING),
]
"""The marks of every module that drives a VS Code."""
SETTINGS = {
    "chat.disableAIFeatures": True,
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "extensions.ignoreRecommendations": True,
    "files.autoSave": "off",
    "git.openRepositoryInParentFolders": "never",
    "remote.autoForwardPorts": False,
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "terminal.integrated.gpuAcceleration": "off",
    "window.autoDetectColorScheme": False,
    "workbench.colorTheme": "Light Modern",
    "workbench.enableExperiments": False,
    "workbench.reduceMotion": "on",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
}
"""The user's settings at the start of each test. Files are not saved by themselves: so it is on a desktop."""
FLAGS = (
    "--auth=none",
    "--bind-addr=127.0.0.1:0",
    "--disable-telemetry",
    "--disable-update-check",
    "--disable-getting-started-override",
    "--reconnection-grace-time=1",
)


class CodeServer:
    """`address` is where pages are, `home` the user's folder; programs of the tests' Python are on its PATH."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.log = root / "server.log"
        self.address = ""
        self._data, self._extensions = root / "data", root / "extensions"
        self._sockets = tempfile.mkdtemp(prefix="code-")  # a socket's path must be short
        self._process: subprocess.Popen[bytes] | None = None
        for folder in (self.home, self._data / "User", self._data / "Machine", self._extensions):
            folder.mkdir(parents=True)
        self.reset_settings()
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "HALOCLINE_HOME": str(self.home / ".halocline"),
            "LANG": "C.UTF-8",
            "TMPDIR": self._sockets,
            "XDG_RUNTIME_DIR": self._sockets,
            "EXTENSIONS_GALLERY": json.dumps({"serviceUrl": ""}),
        }

    def change_settings(self, changes: Mapping[str, Any]) -> None:
        """Change settings of the user until the next reset, for windows that are opened or reloaded then.

        Settings of scope "machine" are read from those of the machine where the server runs, others from the user's.
        """
        self._settings |= changes
        of_machine = {name: value for name, value in self._settings.items() if name.startswith("halocline.")}
        of_user = {name: value for name, value in self._settings.items() if name not in of_machine}
        for scope, settings in (("User", of_user), ("Machine", of_machine)):
            written = self._data / scope / "settings.json.new"
            written.write_text(json.dumps(settings, indent=2))
            written.replace(written.with_suffix(""))  # an open window may read it at any time

    def reset_settings(self) -> None:
        self._settings = {}
        self.change_settings(SETTINGS)

    def read_unsaved(self) -> str:
        """What windows keep of unsaved texts, for when they are loaded again."""
        kept = (self._data / "User" / "Backups").rglob("*")
        return "".join(path.read_text(errors="replace") for path in kept if path.is_file())

    def install(self, vsix: Path) -> None:
        """Install an extension, or another version of it; pages that are opened or reloaded then have it."""
        ran = self._run("--install-extension", str(vsix), "--force")
        assert "was successfully installed" in ran.stdout, ran.stdout + ran.stderr

    def start(self) -> None:
        """Start it in a process group of its own, on a free port."""
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [*self._command(), *FLAGS],
                env=self.environment,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_end_with_this_process,
            )
        end = time.monotonic() + START
        while not (found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", self.log.read_text())):
            assert self._process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)
        self.address = found[1]

    def stop(self) -> None:
        """End the whole group: the server, its extension hosts and all that they started."""
        if self._process is None:
            return
        shutil.rmtree(self._sockets, ignore_errors=True)
        for kind in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, kind)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP)
        self._process = None

    def _command(self) -> list[str]:
        command = server_command()
        assert command
        return [*command, f"--user-data-dir={self._data}", f"--extensions-dir={self._extensions}"]

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._command(), *words], env=self.environment, capture_output=True, text=True, timeout=START
        )


def _end_with_this_process() -> None:
    """Let Linux end the server when the test run is killed (prctl(2), PR_SET_PDEATHSIG)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


@contextmanager
def running_server(root: Path) -> Iterator[CodeServer]:
    """The one server of a test run. Another run on this machine waits until it has ended."""
    with (CACHE / "code-server.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = CodeServer(root)
        try:
            server.start()
            yield server
        finally:
            server.stop()
