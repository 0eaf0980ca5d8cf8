"""Checkpoints of 20,000 files, a worktree of 5,000: `python -m benchmarks.checkpoints` measures both sides, as JSON.

The floor is the git commands that do the same, bare: the first checkpoint with the project's index copied and its
objects lent, another one after edits of ten files. Both sides end with a commit under a reference. The floor of a
worktree is `git worktree add`.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.search import make_tree

ROOT = Path(__file__).parent.parent
CHECKPOINTS = {
    "checkpoint_first": "the first checkpoint of a repository of 20,000 files, ms",
    "checkpoint_edits": "a checkpoint after edits of ten of 20,000 files, ms",
    "worktree_add": "a new worktree of a repository of 5,000 files, ms",
}
_FEWER = 5_000
_TIMES = 7
_WHO = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")


class Bare:
    """Plain git on a store of its own."""

    def __init__(self, workspace: Path, store: Path) -> None:
        self._workspace = workspace
        self._store = store
        self._taken = 0
        self._environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self._environment |= {"GIT_DIR": str(store), "GIT_WORK_TREE": str(workspace)}

    def begin(self) -> None:
        """An empty store, as git makes it; not measured."""
        shutil.rmtree(self._store, ignore_errors=True)
        self.git("init", "--quiet")
        self.git("config", "core.untrackedCache", "true")

    def first(self) -> None:
        own = self._workspace / ".git"
        (self._store / "objects" / "info" / "alternates").write_text(f"{own / 'objects'}\n")
        shutil.copy2(own / "index", self._store / "index")
        self.take()

    def take(self) -> None:
        self._taken += 1
        self.git("add", "--all")
        commit = self.git(*_WHO, "commit-tree", self.git("write-tree"), "-m", "bench")
        self.git("update-ref", f"refs/bench/{self._taken}", commit)

    def git(self, *words: str) -> str:
        """What the command prints."""
        done = subprocess.run(
            ["git", *words], cwd=self._workspace, env=self._environment, check=True, stdout=subprocess.PIPE
        )
        return done.stdout.decode().strip()


class Ours:
    """The store of `halocline.checkpoints`, told nothing of what changed."""

    def __init__(self, workspace: Path, store: Path) -> None:
        self._workspace = workspace
        self._store = store

    def begin(self) -> None:
        from halocline.checkpoints.repository.repository import Repository
        from halocline.checkpoints.saved import Limits

        shutil.rmtree(self._store, ignore_errors=True)
        self._repository = Repository(self._store, self._workspace, "bench", "git", Limits())

    def take(self) -> None:
        assert self._repository.save("bench", None, dict).is_new


def commit_all(folder: Path) -> None:
    """A repository as people have them: committed, packed, its index refreshed a while after the last change."""
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    time.sleep(0.05)
    for words in (
        ["init", "--quiet"],
        ["add", "--all"],
        [*_WHO, "commit", "--quiet", "--message", "bench"],
        ["repack", "-adq"],
        ["update-index", "-q", "--refresh"],
    ):
        subprocess.run(["git", *words], cwd=folder, env=environment, check=True)


def edit_ten(folder: Path, turn: int) -> None:
    paths = sorted(folder.glob(f"part_{turn % 40}/*.py"))[:10]
    for path in paths:
        path.write_text(f"{path.read_text()}# {turn}\n")


def measure(workspace: Path, stores: Path, times: int = _TIMES, fewer: int = _FEWER) -> dict[str, tuple[float, float]]:
    """For each figure the floor's milliseconds and ours: medians, in turn, after one uncounted run of both."""
    bare, ours = Bare(workspace, stores / "bare"), Ours(workspace, stores / "ours")
    first, edits = [], []
    for turn in range(times + 1):
        bare.begin()
        ours.begin()
        first.append(_in_turn(turn, bare.first, ours.take))
    for turn in range(times + 1):
        edit_ten(workspace, turn)
        edits.append(_in_turn(turn, bare.take, ours.take))
    worktrees = measure_worktrees(stores / "small", times, fewer)
    return {
        name: (median(low for low, _ in pairs[1:]), median(high for _, high in pairs[1:]))
        for name, pairs in zip(CHECKPOINTS, (first, edits, worktrees), strict=True)
    }


def measure_worktrees(project: Path, times: int, files: int) -> list[tuple[float, float]]:
    """Milliseconds of both, in turn; each worktree is removed again."""
    from halocline.git.worktrees import open_worktree

    project.mkdir()
    make_tree(project, files)
    commit_all(project)
    place = project.with_name(f"{project.name}-worktrees")

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=project, check=True)

    def begin(turn: int) -> tuple[float, float]:
        floor, ours = f"floor-{turn}", f"ours-{turn}"
        took = _in_turn(
            turn,
            lambda: git("worktree", "add", "--quiet", "-b", floor, str(place / floor), "HEAD"),
            lambda: asyncio.run(open_worktree(project, ours)),
        )
        for name in (floor, ours):
            git("worktree", "remove", "--force", str(place / name))
        return took

    return [begin(turn) for turn in range(times + 1)]


def _in_turn(turn: int, floor: Callable[[], None], ours: Callable[[], None]) -> tuple[float, float]:
    """Milliseconds of both, the first of the two changing."""
    if turn % 2:
        return _timed(floor), _timed(ours)
    high = _timed(ours)
    return _timed(floor), high


def _timed(act: Callable[[], None]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1e3


def figures(rounds: int) -> list[Figure]:
    """Medians over rounds, each in a process of its own with a repository of its own."""
    command = [sys.executable, "-m", __name__]
    runs = [json.loads(subprocess.check_output(command, cwd=ROOT)) for _ in range(max(1, rounds // 3))]
    return [
        Figure(name, title, *(median(run[name][side] for run in runs) for side in (0, 1)))
        for name, title in CHECKPOINTS.items()
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        project = Path(place, "project")
        project.mkdir()
        make_tree(project)
        commit_all(project)
        print(json.dumps(measure(project, Path(place))))
