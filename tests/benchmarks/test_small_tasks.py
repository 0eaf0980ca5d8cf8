"""The checks of the ten small tasks: nothing done is not done, a right result is, a near miss is not."""

from pathlib import Path

import pytest
from benchmarks.small_model import Reply, Run
from benchmarks.small_tasks import TASKS, Outcome, SmallTask

pytestmark = pytest.mark.process

RIGHT: dict[str, tuple[str, dict[str, str]]] = {
    "answer from a file": ("The port is 8417.", {}),
    "find where it is": ("It is in calc.py.", {}),
    "run and report": ("It prints 4711.", {}),
    "create and run": ("", {"hello.py": 'print("Hello from the tide")\n'}),
    "create JSON": ("", {"harbour.json": '{"piers": 3, "name": "Kiel"}'}),
    "rename a file": ("", {"journal.txt": "The tide was high.\n", "notes.txt": ""}),
    "change a value": ("", {"settings.py": "30 => 60"}),
    "add a docstring": ("", {"shapes.py": 'def area(radius):\n => def area(radius):\n    """Return it."""\n'}),
    "append a line": ("", {"requirements.txt": "httpx\nrich\nmsgspec\n"}),
    "fix a bug": ("", {"calc.py": "a - b => a + b"}),
}
"""By task: an answer, and files: a text, a change in the text that is there, or nothing for one that is gone."""
WRONG: dict[str, tuple[str, dict[str, str]]] = {
    "answer from a file": ("The port is 80.", {}),
    "find where it is": ("Either calc.py or shapes.py.", {}),
    "create JSON": ("", {"harbour.json": '{"piers": "3", "name": "Kiel"}'}),
    "change a value": ("", {"settings.py": "3 => 6"}),
    "add a docstring": ("", {"shapes.py": "def area(radius):\n => def area(radius):\n    # Return it.\n"}),
    "append a line": ("", {"requirements.txt": "msgspec\n"}),
    "fix a bug": ("", {"test_calc.py": "5 => -1"}),
}


def after(task: SmallTask, folder: Path, answer: str, files: dict[str, str]) -> Outcome:
    for name, text in task.files.items():
        (folder / name).write_text(text)
    for name, text in files.items():
        old, arrow, new = text.partition(" => ")
        if name in task.files and arrow:
            (folder / name).write_text(task.files[name].replace(old, new))
        elif text:
            (folder / name).write_text(text)
        else:
            (folder / name).unlink()
    return Outcome(folder, answer)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_nothing_done_is_not_done_and_a_right_result_is(task: SmallTask, tmp_path: Path) -> None:
    (tmp_path / "idle").mkdir()
    assert not task.is_done(after(task, tmp_path / "idle", "I have done it.", {}))
    (tmp_path / "right").mkdir()
    assert task.is_done(after(task, tmp_path / "right", *RIGHT[task.name]))


@pytest.mark.parametrize("task", [task for task in TASKS if task.name in WRONG], ids=lambda task: task.name)
def test_a_near_miss_is_not_done(task: SmallTask, tmp_path: Path) -> None:
    assert not task.is_done(after(task, tmp_path, *WRONG[task.name]))


@pytest.mark.parametrize(
    ("replies", "reuse"),
    [
        ([Reply(100, 0, 9)], 1.0),
        ([Reply(100, 0, 9), Reply(30, 100, 9)], 1.0),
        ([Reply(100, 0, 9), Reply(80, 50, 9)], 0.5),
        ([Reply(100, 0, 9), Reply(20, 100, 9), Reply(130, 0, 9)], 100 / 220),
    ],
)
def test_reuse_is_the_part_of_the_earlier_requests_that_was_not_read_again(replies: list[Reply], reuse: float) -> None:
    assert Run("halo", "task", True, 1.0, tuple(replies), "", "").reuse == pytest.approx(reuse)
