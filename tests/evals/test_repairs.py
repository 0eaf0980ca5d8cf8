"""The repair tasks: each can be solved, is not solved by doing nothing, is Harbor's format, and gives nothing away."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from tests.samples import choose
from tests.surfaces.harbor_set_up import MISSING, harbor

from halocline.batch.harbor import read_tasks

REPAIRS = Path(__file__).parents[2] / "evals" / "repairs"
TASKS = sorted(path for path in REPAIRS.iterdir() if path.is_dir())
LEVELS = {"easy": 10, "middle": 12, "hard": 8}
PARTS = {"task.toml", "instruction.md", "environment", "solution", "tests"}
VALIDATE = """
import sys
from pathlib import Path
from types import ModuleType
sys.modules["toml"] = ModuleType("toml")  # only what writes such files needs it
from harbor.models.task.config import TaskConfig
for path in sys.argv[1:]:
    config = TaskConfig.model_validate_toml(Path(path).read_text())
    assert config.agent.timeout_sec and config.verifier.timeout_sec, path
"""


def read_metadata(task: Path) -> dict:
    return tomllib.loads((task / "task.toml").read_text())["metadata"]


def judge(task: Path, folder: Path) -> str:
    logs = folder.with_name(f"{folder.name}.logs")
    places = {"APP_DIR": str(folder), "TESTS_DIR": str(task / "tests"), "LOGS_DIR": str(logs)}
    subprocess.run(["bash", task / "tests" / "test.sh"], env={**os.environ, **places}, capture_output=True, timeout=60)
    return (logs / "reward.txt").read_text().strip()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("task", TASKS[:: choose(1, 6)], ids=lambda task: task.name)
def test_the_solution_is_accepted_and_doing_nothing_is_not(task: Path, tmp_path: Path) -> None:
    missing = [program for program in read_metadata(task)["programs"] if not shutil.which(program)]
    if missing:
        pytest.skip(f"this machine has no {', '.join(missing)}")
    idle, solved = (shutil.copytree(task / "environment", tmp_path / name) for name in ("idle", "solved"))
    assert judge(task, idle) == "0"
    subprocess.run(["bash", task / "solution" / "solve.sh"], cwd=solved, check=True)
    assert judge(task, solved) == "1"


def test_there_are_thirty_of_three_levels_and_each_has_all_parts() -> None:
    assert Counter(read_metadata(task)["difficulty"] for task in TASKS) == LEVELS
    assert [task.name for task in TASKS if {path.name for path in task.iterdir()} != PARTS] == []
    assert all({"category", "tags", "programs"} <= {*read_metadata(task)} for task in TASKS)
    assert [item.id for item in read_tasks(REPAIRS)] == [task.name for task in TASKS]


def test_an_environment_is_small_and_is_copied_to_app() -> None:
    for task in TASKS:
        files = [path for path in (task / "environment").rglob("*") if path.is_file()]
        assert len(files) <= 8, task.name
        assert "COPY . /app/" in (task / "environment" / "Dockerfile").read_text()


def test_nothing_of_the_hidden_tests_is_in_an_environment() -> None:
    for task in TASKS:
        there = {path.name for path in (task / "environment").rglob("*")}
        hidden = {path.name for path in (task / "tests").glob("test*")}
        assert hidden
        assert not there & hidden, task.name


def test_no_instruction_has_a_line_of_the_solution() -> None:
    for task in TASKS:
        instruction = (task / "instruction.md").read_text()
        lines = {line.strip() for line in (task / "solution" / "solve.sh").read_text().splitlines()}
        assert [line for line in lines if len(line) > 9 and line in instruction] == [], task.name


@pytest.mark.skipif(harbor() is None, reason=MISSING)
@pytest.mark.process
def test_harbor_takes_each_task_file() -> None:
    files = [str(task / "task.toml") for task in TASKS]
    environment = {**os.environ, "PYTHONPATH": str(harbor())}
    run = subprocess.run([sys.executable, "-c", VALIDATE, *files], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
