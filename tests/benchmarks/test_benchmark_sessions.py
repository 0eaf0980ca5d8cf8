import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.process import left_running
from benchmarks.scenarios import SCENARIOS
from benchmarks.session import FLOOR, Arena, Contestant
from benchmarks.workspace import make_template

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    make_template(folder)
    return folder


@pytest.fixture
def arena(tmp_path: Path, template: Path) -> Arena:
    return Arena(FLOOR, tmp_path / "floor", template, latency=0.0)


def idle(_port: int, _workspace: Path) -> list[str]:
    return [sys.executable, "-S", "-c", "print('word00000 word00001 word00002 word00003')"]


@pytest.fixture
def lazy(tmp_path: Path, template: Path) -> Arena:
    return Arena(Contestant("lazy", idle, []), tmp_path / "lazy", template, latency=0.0)


def test_the_repository_has_211_files_and_git_finds_them_unchanged(arena: Arena, tmp_path: Path) -> None:
    arena.play("S4-few")
    workspace = tmp_path / "floor" / "workspace"
    files = [path for path in workspace.rglob("*") if path.is_file() and ".git" not in path.parts]
    changed = subprocess.run(["git", "-C", str(workspace), "diff-files", "--name-only"], capture_output=True)
    assert (len(files), changed.stdout) == (211, b"")


@pytest.mark.parametrize("name", ["S1", "S2", "S4", "S4-few"])
def test_the_floor_does_all_the_work_of_a_scenario(arena: Arena, name: str) -> None:
    run = arena.play(name)
    assert run.problems == []
    assert len(run.exchanges) == len(SCENARIOS[name].calls) + 1


def test_a_run_is_measured_in_the_order_in_which_things_happen(arena: Arena) -> None:
    run = arena.play("S1")
    assert run.start > 0
    assert run.exit > 0
    assert all(gap > 0 for gap in run.gaps)
    assert run.start + sum(run.gaps) + run.exit < run.outcome.wall
    assert run.outcome.cpu > 0
    assert run.outcome.peak > 1_000_000


def test_a_program_that_asks_nothing_and_edits_nothing_does_not_count(lazy: Arena) -> None:
    assert lazy.play("S1").problems == ["0 requests instead of 3", "src/module_0.py lacks 'VALUE_0 = 100\\n'"]


@pytest.fixture
def straggler() -> Iterator[None]:
    environment = {"PATH": os.environ["PATH"], "BENCH_MARKER": "a process that stays"}
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as cat:
        assert cat.stdin
        assert cat.stdout
        cat.stdin.write(b"ready\n")  # The kernel shows the environment of a new program only once it runs.
        cat.stdin.flush()
        cat.stdout.readline()
        yield


@pytest.mark.usefixtures("straggler")
def test_a_process_that_outlives_its_run_is_found() -> None:
    assert left_running("BENCH_MARKER=a process that stays") == ["cat"]
