"""A repository with a main folder and worktrees, for tests of both."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from halocline.git.worktrees import open_worktree
from halocline.policy.gate import PolicyContext
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.permission_rules import RuleBook
from halocline.runtime.history.worktrees import Worktrees

LINES = "".join(f"line {n}\n" for n in range(1, 21))


@dataclass
class WorktreeBench:
    main: Path
    home: Path

    @property
    def worktrees(self) -> Worktrees:
        return Worktrees(self.main, self.home / "checkpoints")

    def context(self, book: RuleBook | None = None) -> PolicyContext:
        return PolicyContext(self.main, self.home, Mode.ACT, ApprovalMode.ASK, book=book or RuleBook())

    def git(self, *words: str, folder: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words], cwd=folder or self.main, env=dict(os.environ), check=True, capture_output=True, text=True
        )
        return done.stdout

    def commit(self, folder: Path | None = None) -> None:
        self.git("add", "--all", folder=folder)
        self.git("commit", "--quiet", "--allow-empty", "-m", "More", folder=folder)

    async def open(self, name: str = "x") -> Path:
        return (await open_worktree(self.main, name)).folder


def make_bench(folder: Path, monkeypatch: pytest.MonkeyPatch) -> WorktreeBench:
    """Make a repository with one commit, and a person's git settings."""
    person = folder / "person"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (person / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n")
    made = WorktreeBench(folder / "project", folder / "home")
    made.main.mkdir()
    made.git("init", "--quiet")
    (made.main / "a.txt").write_text(LINES)
    (made.main / "gone.txt").write_text("old\n")
    (made.main / "run.sh").write_text("#!/bin/sh\n")
    (made.main / ".gitignore").write_text("build/\n*.local\n")
    made.commit()
    return made


def change_line(path: Path, n: int, text: str) -> None:
    """Replace one line of a file, counted from 1."""
    lines = path.read_text().splitlines()
    lines[n - 1] = text
    path.write_text("\n".join(lines) + "\n")
