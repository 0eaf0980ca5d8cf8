"""The plug-in for pytest, which finds it wherever Halocline is installed.

Tests that use its fixtures touch neither the person's settings nor their tasks. It loads with every run of pytest, so
it imports nothing of ours before a fixture is used.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from halocline import testing

if TYPE_CHECKING:
    from halocline.providers.scripted.model import Scripted


@pytest.fixture
def halocline_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give Halocline a home of its own for the test: no settings, no keys, no tasks. Return its folder."""
    home = tmp_path / "halocline-home"
    monkeypatch.setenv("HALOCLINE_HOME", str(home))
    monkeypatch.setenv("HOME", str(tmp_path))
    return home


@pytest.fixture
def halocline_workspace(tmp_path: Path, halocline_home: Path) -> Path:
    """Return an empty folder for tasks to work in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def halocline_model(halocline_home: Path) -> "Callable[..., Scripted]":
    """Return what makes scripted models: `halocline_model(Turn(calls=…), "done")`; a text is a turn without calls."""
    return lambda *turns: testing.Scripted(turns)
