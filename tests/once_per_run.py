"""Finds out once per test run what takes long: its processes may each have a part of the tests that need it."""

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def once_per_run(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Any:
    """Return as JSON what `make` returned, here or in another process; it gets a new folder."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    found = root / f"{name}.json"
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            folder = root / name
            folder.mkdir()
            found.write_text(json.dumps(make(folder)))
    return json.loads(found.read_text())
