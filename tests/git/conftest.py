import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (folder / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n")
    return folder


@pytest.fixture
def git(home: Path) -> Git:
    def run(folder: Path, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=folder, env=dict(os.environ), check=True, capture_output=True, text=True
        ).stdout

    return run


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    """One commit of two files, of which one has changed since."""
    folder = tmp_path / "w"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "a.txt").write_text("a\n")
    (folder / "b.txt").write_text("b\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Begin")
    (folder / "a.txt").write_text("changed\n")
    return folder
