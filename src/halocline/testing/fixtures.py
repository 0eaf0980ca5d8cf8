"""Fixtures for pytest: `pytest_plugins = ["halocline.testing.fixtures"]` in a conftest.py.

Tests that use them touch neither the person's settings nor their tasks.
"""

from pathlib import Path

import pytest

from halocline.providers.scripted.model import Scripted, Turn


@pytest.fixture
def halocline_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give Halocline a home of its own for the test: no settings, no keys, no tasks. Return its folder."""
    home = tmp_path / "halocline-home"
    monkeypatch.setenv("HALOCLINE_HOME", str(home))
    monkeypatch.setenv("HOME", str(tmp_path))
    return home


@pytest.fixture
def workspace(tmp_path: Path, halocline_home: Path) -> Path:
    """Return an empty folder for tasks to work in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def scripted() -> "type[Script]":
    """Return the class of scripted models: `scripted(Turn(calls=…), "done")`."""
    return Script


class Script(Scripted):
    """A scripted model from its turns; a text is a reply without calls."""

    def __init__(self, *turns: Turn | str) -> None:
        super().__init__([Turn(text=turn) if isinstance(turn, str) else turn for turn in turns])
