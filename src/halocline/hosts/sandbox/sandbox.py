"""The sandbox of one task's commands: examined when the first one needs it, then put around each.

What it says of itself is what the self-test found; a machine without a sandbox is told as such. A command never runs
in less than what was asked for: where the sandbox is required and does not hold, it does not run.
"""

import asyncio
import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from halocline.hosts.sandbox.backends import SYSTEM_FOLDERS, Held, list_backends
from halocline.hosts.sandbox.mounts import Identity, SandboxRequest, audit_protected
from halocline.hosts.sandbox.self_test import Found, boot_id, find_backend
from halocline.hosts.shell.executables import find_program
from halocline.protocol.events import SandboxChecked, SandboxStanding
from halocline.protocol.private_files import open_private

_BLOCKS_PER_MB = 1024
_TMP = "/tmp"


class Sandbox:
    """`required` says that nothing may run without it."""

    def __init__(self, wishes: SandboxRequest, *, required: bool = False) -> None:
        self.wishes = wishes
        self._required = required
        self._found: Found | None = None
        self._checking: asyncio.Task[Found] | None = None

    async def check(self) -> SandboxChecked:
        """What this machine's sandbox holds. Tried once; remembered for as long as the machine runs."""
        if self._found is None:
            self._checking = self._checking or asyncio.create_task(asyncio.to_thread(self.examine))
            self._found = await asyncio.shield(self._checking)
        return self._found.checked

    def examine(self) -> Found:
        """The same, waiting for it."""
        return self._remembered() or self._remember(find_backend(self.wishes, required=self._required))

    def hold(self, words: list[str], folder: str) -> Held | None:
        """How to start a command in it; None when there is no sandbox. `check` came before."""
        if self._found is None or self._found.way is None:
            return None
        os.makedirs(self.wishes.tmp, mode=0o700, exist_ok=True)
        return self._found.way.hold(self.wishes, words, folder)

    @property
    def limits(self) -> str:
        """What a shell is told first; what it takes from itself it cannot get again."""
        wishes, words = self.wishes, ["ulimit -c 0"]
        if wishes.processes:
            words.append(f"ulimit -u {wishes.processes}")
        if wishes.file_size:
            words.append(f"ulimit -f {int(wishes.file_size * _BLOCKS_PER_MB)}")
        return "; ".join(words) + "; "

    def close(self) -> None:
        """The task's `/tmp` ends with it."""
        shutil.rmtree(self.wishes.tmp, ignore_errors=True)

    def audit(self, before: dict[Path, Identity]) -> tuple[str, ...]:
        """Put aside what a command made that other programs would obey; says what."""
        return audit_protected(self.wishes, before)

    def outside(self, folder: str) -> str:
        """Where a folder of the sandbox is on this machine: its `/tmp` is the task's own."""
        own = self._found and self._found.way and self._found.way.own_tmp
        if not own or any(_is_within(folder, str(place)) for place in self.wishes.places):
            return folder
        if _is_within(folder, "/run") or not _is_within(folder, _TMP):
            return "" if _is_within(folder, "/run") else folder
        return str(self.wishes.tmp) + folder[len(_TMP) :]

    @property
    def _memory(self) -> Path:
        return self.wishes.state / "sandbox.json"

    def _remembered(self) -> Found | None:
        """A full result of this boot. Others are found anew: somebody may have mended what was missing."""
        with suppress(OSError, ValueError):
            if not self.wishes.refusal and json.loads(self._memory.read_text(encoding="utf-8")) == self._key():
                way = next(list_backends())
                return Found(way, SandboxChecked(SandboxStanding.FULL, (), self._required, way.name))
        return None

    def _remember(self, found: Found) -> Found:
        if found.checked.standing is SandboxStanding.FULL:
            fresh = self._memory.with_suffix(f".{os.getpid()}")
            with suppress(OSError):
                with open(fresh, "w", encoding="utf-8", opener=open_private) as file:
                    file.write(json.dumps(self._key()))
                fresh.replace(self._memory)
        return found

    def _key(self) -> list[object]:
        """What the result depends on. Raises OSError when there is no way."""
        way = next(list_backends(), None)
        if way is None or not boot_id():
            raise FileNotFoundError
        return [
            boot_id(),
            os.geteuid(),
            way.name,
            self.wishes.network,
            os.stat(sys.executable).st_mtime_ns,
            *_bubblewrap_version(),
        ]


def _bubblewrap_version() -> list[int]:
    """When bubblewrap was put here, if it was."""
    program = find_program("bwrap", SYSTEM_FOLDERS)
    return [os.stat(program).st_mtime_ns] if program else []


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
