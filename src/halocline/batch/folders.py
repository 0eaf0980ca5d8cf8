"""The folders of batches: their queues and results in Halocline's home, their places in the cache of the user.

Places are no part of the home, which no task may read or change.
"""

import os
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from halocline.batch.queue import LOG_NAME, Standing
from halocline.files.durable import write_whole
from halocline.protocol.errors import UsageError
from halocline.store.paths import Home

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def find_batch(home: Home, name: str) -> Path:
    """Return the folder of a batch, which may not exist yet. Raises UsageError for a name that it cannot have."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name for a batch.", "Use up to 40 letters, digits, and . _ - between them: --name NAME"
        )
    return home.batches / name


def list_batches(home: Home) -> list[Path]:
    """Return the folders of all batches, by name."""
    return sorted(path.parent for path in home.batches.glob(f"*/{LOG_NAME}")) if home.batches.is_dir() else []


def is_known(folder: Path) -> bool:
    """True if there is a queue in the folder of a batch."""
    return (folder / LOG_NAME).exists()


def check_source(folder: Path, source: str) -> None:
    """Note what the items of a batch come from. Raises UsageError if they came from something else before."""
    note = folder / "source"
    known = note.read_text() if note.exists() else source
    if known != source:
        raise UsageError(f"The batch {folder.name} is that of {known}.", "Give this one another name: --name NAME")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(note, source.encode())


def place_folder(folder: Path, environment: Mapping[str, str]) -> Path:
    """Return the folder for the places of a batch, which no batch of another home has."""
    cache = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "halocline" / "batches" / f"{folder.name}-{sha256(bytes(folder)).hexdigest()[:6]}"


def find_store(folder: Path, standing: Standing) -> Path:
    """Return the private git folder of an item, which no task may change: see `TreeChanges`."""
    return folder / "stores" / standing.name
