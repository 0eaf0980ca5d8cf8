"""An environment of Harbor without containers: each trial has a root folder of its own, entered by bubblewrap.

Harbor imports it in its own process, with a newer Python than ours may be. Programs and the network are this
machine's; `/app`, `/tests`, `/logs`, `/installed-agent`, `/tmp` and the home folder are the trial's own.
"""

import asyncio
import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any, override

from harbor.environments.base import BaseEnvironment, ExecResult

HOME = "/home/person"
OWN = ("app", "tests", "solution", "logs/agent", "logs/verifier", "logs/artifacts", "installed-agent", "tmp", HOME[1:])
MACHINE = ("usr", "etc", "bin", "sbin", "lib", "lib64", "lib32")
"""Folders of the machine that are in every room; `seen` names more, with a colon between: PATH, or PATH=PLACE."""


class Room(BaseEnvironment):
    """Runs commands in the room of the trial. What they leave running ends with it."""

    def __init__(self, *args: Any, seen: str = "", path: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._seen = [*filter(None, seen.split(":"))]
        self._path = path or os.environ["PATH"]
        self._root = self.trial_paths.trial_dir.absolute() / "room"
        self._groups: set[int] = set()

    @staticmethod
    @override
    def type() -> str:
        return "room"

    @override
    def _validate_definition(self) -> None:
        if not (self.environment_dir / "Dockerfile").is_file():
            raise FileNotFoundError(self.environment_dir / "Dockerfile")

    @override
    async def start(self, force_build: bool) -> None:
        for name in OWN:
            (self._root / name).mkdir(parents=True)
        for path in (Path("/", name) for name in MACHINE):
            if path.is_symlink():
                (self._root / path.name).symlink_to(path.readlink())
        await self.upload_dir(self.environment_dir, "/app")

    @override
    async def stop(self, delete: bool) -> None:
        for group in self._groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)

    def _place(self, path: str) -> Path:
        return self._root / path.lstrip("/")

    @override
    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        self._place(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source_path, self._place(target_path))

    @override
    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        shutil.copytree(source_dir, self._place(target_dir), dirs_exist_ok=True)

    @override
    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        shutil.copy2(self._place(source_path), target_path)

    @override
    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        shutil.copytree(self._place(source_dir), target_dir, dirs_exist_ok=True)

    @override
    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """Run a command. As with an engine, a caller that is cancelled leaves it running until the trial stops."""
        variables = {"PATH": self._path, "HOME": HOME, "LANG": "C.UTF-8", **(self._merge_env(env) or {})}
        running = await asyncio.create_subprocess_exec(
            *self._enter(cwd or "/app"),
            *("bash", "-c", command),
            env=variables,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._groups.add(running.pid)
        output, errors = await asyncio.wait_for(running.communicate(), timeout_sec)
        return ExecResult(stdout=output.decode(), stderr=errors.decode(), return_code=running.returncode or 0)

    def _enter(self, folder: str) -> list[str]:
        own = (Path("/", name) for name in MACHINE)
        seen = [*(str(path) for path in own if path.is_dir() and not path.is_symlink()), *self._seen]
        pairs = (path.partition("=") for path in seen)
        bound = [word for path, _, place in pairs for word in ("--ro-bind", path, place or path)]
        return ["bwrap", "--bind", str(self._root), "/", *bound, "--proc", "/proc", "--dev", "/dev", "--chdir", folder]
