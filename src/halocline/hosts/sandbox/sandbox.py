"""The sandbox of one task's commands: tested before the first command, then put around each.

It reports what the self-test found, including that there is no sandbox. A command never runs with less than the
settings require: where the sandbox is required and does not hold in full, it does not run.
"""

import asyncio
import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from halocline.hosts.executables import find_program
from halocline.hosts.sandbox.backends import SYSTEM_FOLDERS, Held, list_backends
from halocline.hosts.sandbox.git_places import describe_bounds, find_git_places
from halocline.hosts.sandbox.mounts import SandboxRequest, Seen, audit_protected, list_masked
from halocline.hosts.sandbox.scan import Identity, Scan, identify_git_parts
from halocline.hosts.sandbox.self_test import Found, boot_id, find_backend
from halocline.policy.paths import is_within
from halocline.ports.shell_facts import Hides
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import SandboxStanding
from halocline.protocol.private_files import open_private

_BLOCKS_PER_MB = 1024
_TMP = "/tmp"


class Sandbox:
    """With `required`, no command may run without it."""

    def __init__(self, request: SandboxRequest, *, required: bool = False) -> None:
        self.request = request
        self._required = required
        self._found: Found | None = None
        self._checking: asyncio.Task[Found] | None = None
        self._scan = Scan()

    async def check(self) -> SandboxChecked:
        """Find out how well this machine's sandbox works. Tested once; a full result is kept until the next boot."""
        if self._found is None:
            self._checking = self._checking or asyncio.create_task(asyncio.to_thread(self.examine))
            self._found = await asyncio.shield(self._checking)
        return self._found.checked

    def examine(self) -> Found:
        """The same, blocking."""
        found = self._load_result() or self._save_result(find_backend(self.request, required=self._required))
        return Found(found.backend, replace(found.checked, network=self.request.network))

    def hold(
        self, words: list[str], folder: str, hides: Hides | None = None, *, shows_secrets: bool = False
    ) -> Held | None:
        """Put a command into the sandbox; None when there is none. Call `check` first.

        It cannot read what `hides` says, nor secret files unless it `shows_secrets`. Raises ToolFailure if those are
        more than can be hidden.
        """
        if self._found is None or self._found.backend is None:
            return None
        os.makedirs(self.request.tmp, mode=0o700, exist_ok=True)
        masked = list_masked(self.request, self._scan, hides, shows_secrets=shows_secrets)
        protected = self._scan.find_protected(self.request.folders)
        git = find_git_places(self.request, protected, masked) if self._found.backend.keeps_git else ()
        hidden = [path for path in git if hides and hides(str(path), None)]
        git = tuple(path for path in git if path not in hidden)
        seen = Seen(protected | identify_git_parts(git), [*masked, *hidden], git)
        return self._found.backend.hold(self.request, words, folder, seen)

    def describe_bounds(self) -> str:
        """Say what commands can reach in it, for one that it may have stopped."""
        backend = self._found and self._found.backend
        return describe_bounds(self.request, keeps_git=backend.keeps_git) if backend else ""

    @property
    def limits(self) -> str:
        """Shell code that runs before the command; limits once lowered cannot be raised again."""
        request, words = self.request, ["ulimit -c 0"]
        if request.processes:
            words.append(f"ulimit -u {request.processes}")
        if request.file_size:
            words.append(f"ulimit -f {int(request.file_size * _BLOCKS_PER_MB)}")
        return "; ".join(words) + "; "

    def close(self) -> None:
        """Remove the task's `/tmp`."""
        shutil.rmtree(self.request.tmp, ignore_errors=True)

    def audit(self, before: dict[Path, Identity]) -> tuple[str, ...]:
        """Set aside what a command made that other programs would obey; returns a message for each."""
        return audit_protected(self.request, before, self._scan)

    def outside(self, folder: str) -> str:
        """Map a folder in the sandbox to its path on this machine: its `/tmp` is the task's own."""
        own = self._found and self._found.backend and self._found.backend.own_tmp
        if not own or any(is_within(folder, str(place)) for place in self.request.places):
            return folder
        if is_within(folder, "/run") or not is_within(folder, _TMP):
            return "" if is_within(folder, "/run") else folder
        return str(self.request.tmp) + folder[len(_TMP) :]

    @property
    def _memory(self) -> Path:
        return self.request.state / "sandbox.json"

    def _load_result(self) -> Found | None:
        """A full result from this boot. Other results are tested again: what was missing may have been installed."""
        with suppress(OSError, ValueError):
            if not self.request.refusal and json.loads(self._memory.read_text(encoding="utf-8")) == self._key():
                backend = next(list_backends())
                return Found(backend, SandboxChecked(SandboxStanding.FULL, (), self._required, backend.name))
        return None

    def _save_result(self, found: Found) -> Found:
        if found.checked.standing is SandboxStanding.FULL:
            fresh = self._memory.with_suffix(f".{os.getpid()}")
            with suppress(OSError):
                with open(fresh, "w", encoding="utf-8", opener=open_private) as file:
                    file.write(json.dumps(self._key()))
                fresh.replace(self._memory)
        return found

    def _key(self) -> list[object]:
        """The facts that the result depends on. Raises OSError when there is no backend."""
        backend = next(list_backends(), None)
        if backend is None or not boot_id():
            raise FileNotFoundError
        return [
            boot_id(),
            os.geteuid(),
            backend.name,
            self.request.network,
            os.stat(sys.executable).st_mtime_ns,
            *_bubblewrap_version(),
        ]


def _bubblewrap_version() -> list[int]:
    """Modification time of bubblewrap, if installed."""
    program = find_program("bwrap", SYSTEM_FOLDERS)
    return [os.stat(program).st_mtime_ns] if program else []
