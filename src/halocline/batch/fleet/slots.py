"""Slots: folders of a node in which a host has its attempts. One host at a time has a slot; the next continues them."""

import os
import secrets
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from halocline.protocol.errors import HaloclineError
from halocline.protocol.file_locks import LockHeld, lock_file

_LATE = 30.0
"""Seconds for a host that was killed to give back its slot."""
_MOST = 1_000


class Slot:
    """A slot that this process has until `close`; `id` tells it from all others. `node` is the one of the cluster."""

    def __init__(self, around: Path, node: str) -> None:
        """Take the slot that this node had, one that is free, or a new one. Raises HaloclineError. Blocks."""
        self._held = ExitStack()
        self.folder = self._take(around, node)
        self.id = self._name_slot()
        (self.folder / "node").write_text(node)

    def close(self) -> None:
        self._held.close()

    def _take(self, around: Path, node: str) -> Path:
        around.mkdir(parents=True, exist_ok=True, mode=0o700)
        names = [f"{socket.gethostname()}-{number}" for number in range(_MOST)]
        known = [around / name for name in names if (around / name).is_dir()]
        mine = [folder for folder in known if _read(folder / "node") == node]
        fresh = [around / name for name in names if not (around / name).is_dir()]
        for folder in (*mine, *known, *fresh):
            folder.mkdir(exist_ok=True, mode=0o700)
            try:
                patience = _LATE if folder in mine else 0.0
                self._held.enter_context(lock_file(folder / "lock", "runs items of a batch", patience))
            except LockHeld:
                continue
            return folder
        raise HaloclineError(f"All places in {around} are taken.", "Remove what no batch needs.")

    def _name_slot(self) -> str:
        note = self.folder / "id"
        if not _read(note):
            note.write_text(f"{self.folder.name}-{secrets.token_hex(4)}")
        return note.read_text()


def _read(note: Path) -> str:
    return note.read_text() if note.exists() else ""


def find_slots(batch: str, key: str, environment: Mapping[str, str]) -> Path:
    """Return the folder for the slots of a batch on this machine."""
    cache = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "halocline" / "fleet" / f"{batch}-{key}"
