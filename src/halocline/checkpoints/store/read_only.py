"""Reads a store that cannot be written, in a copy that has none of its objects: git writes even where it only looks."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from halocline.checkpoints.store import layout

_OBJECTS = "objects"


@contextmanager
def copy_store(store: Path) -> Iterator[Path]:
    """Make a store in a temporary folder that finds the objects of another one; what is added to it is thrown away."""
    with TemporaryDirectory(prefix="halocline-") as folder:
        copy = Path(folder, "store")
        shutil.copytree(store, copy, ignore=lambda place, _: {_OBJECTS} if place == str(store) else set())
        (copy / _OBJECTS).mkdir()
        layout.lend_objects(copy, store / _OBJECTS)
        layout.mend_store(copy)
        yield copy
