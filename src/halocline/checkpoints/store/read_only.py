"""Reads a store that is not writable through a copy without its objects, because git writes even when it only reads."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from halocline.checkpoints.store import layout

_OBJECTS = "objects"


@contextmanager
def copy_store(store: Path) -> Iterator[Path]:
    """Create a temporary store that finds the objects of another one; anything added to it is discarded."""
    with TemporaryDirectory(prefix="halocline-") as folder:
        copy = Path(folder, "store")
        shutil.copytree(store, copy, ignore=lambda place, _: {_OBJECTS} if place == str(store) else set())
        (copy / _OBJECTS).mkdir()
        layout.set_alternate(copy, store / _OBJECTS)
        layout.mend_store(copy)
        yield copy
