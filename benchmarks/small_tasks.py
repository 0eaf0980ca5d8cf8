"""Ten tasks that a model of one or two thousand million parameters can do, each with a check of what came of it."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_SHAPES = """\
import math


def area(radius):
    return math.pi * radius**2


def length(radius):
    return 2 * math.pi * radius
"""
_SETTINGS = """\
HOST = "127.0.0.1"
PORT = 8417
TIMEOUT = 30
RETRIES = 3
"""
_CALC = """\
def add(a, b):
    return a - b


def double(a):
    return 2 * a
"""
_TEST_CALC = """\
import unittest

from calc import add


class TestAdd(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)
"""
_COUNT = "print(sum(range(98)) - 42)\n"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a task left: its folder, and the last words of the agent."""

    folder: Path
    answer: str

    def read(self, name: str) -> str:
        """Return a file's text; empty if it is not there."""
        path = self.folder / name
        return path.read_text(errors="replace") if path.is_file() else ""

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the folder."""
        return subprocess.run(
            [sys.executable, "-B", *words], cwd=self.folder, capture_output=True, text=True, timeout=20, check=False
        )


@dataclass(frozen=True, slots=True)
class SmallTask:
    """`is_done` judges the folder and the answer, not how they came about."""

    name: str
    prompt: str
    files: Mapping[str, str]
    is_done: Callable[[Outcome], bool]


def _has_docstring(outcome: Outcome) -> bool:
    try:
        functions = {node.name: node for node in ast.parse(outcome.read("shapes.py")).body if hasattr(node, "name")}
    except SyntaxError:
        return False
    words = ast.get_docstring(functions["area"]) if isinstance(functions.get("area"), ast.FunctionDef) else None
    same = outcome.run("-c", "import shapes; assert shapes.area(1) > 3.14 and shapes.length(1) > 6.28")
    return bool(words) and same.returncode == 0


def _is_renamed(outcome: Outcome) -> bool:
    return outcome.read("journal.txt") == "The tide was high.\n" and not (outcome.folder / "notes.txt").exists()


def _greets(outcome: Outcome) -> bool:
    ran = outcome.run("hello.py")
    return ran.returncode == 0 and ran.stdout.strip() == "Hello from the tide"


def _has_json(outcome: Outcome) -> bool:
    try:
        return json.loads(outcome.read("harbour.json")) == {"name": "Kiel", "piers": 3}
    except ValueError:
        return False


TASKS = (
    SmallTask(
        "answer from a file",
        "Which port does settings.py set? Read the file and answer with the number.",
        {"settings.py": _SETTINGS},
        lambda outcome: "8417" in outcome.answer,
    ),
    SmallTask(
        "find where it is",
        "Which file defines the function double? Search the files, and answer with the file's name.",
        {"calc.py": _CALC, "shapes.py": _SHAPES, "settings.py": _SETTINGS},
        lambda outcome: "calc.py" in outcome.answer and "shapes.py" not in outcome.answer,
    ),
    SmallTask(
        "run and report",
        "Run `python3 count.py` and tell me the number that it prints.",
        {"count.py": _COUNT},
        lambda outcome: "4711" in outcome.answer,
    ),
    SmallTask(
        "create and run",
        "Create hello.py, which prints: Hello from the tide\nThen run it with python3.",
        {},
        _greets,
    ),
    SmallTask(
        "create JSON",
        'Create the file harbour.json with a JSON object: name is "Kiel", piers is 3.',
        {},
        _has_json,
    ),
    SmallTask(
        "rename a file",
        "Rename the file notes.txt to journal.txt.",
        {"notes.txt": "The tide was high.\n"},
        _is_renamed,
    ),
    SmallTask(
        "change a value",
        "In settings.py, change TIMEOUT from 30 to 60. Change nothing else.",
        {"settings.py": _SETTINGS},
        lambda outcome: outcome.read("settings.py") == _SETTINGS.replace("30", "60"),
    ),
    SmallTask(
        "add a docstring",
        "Add a one-line docstring to the function area in shapes.py.",
        {"shapes.py": _SHAPES},
        _has_docstring,
    ),
    SmallTask(
        "append a line",
        "Add the line `msgspec` to the end of requirements.txt.",
        {"requirements.txt": "httpx\nrich\n"},
        lambda outcome: outcome.read("requirements.txt").split("\n")[:3] == ["httpx", "rich", "msgspec"],
    ),
    SmallTask(
        "fix a bug",
        "The test test_add in test_calc.py fails. Read calc.py, fix the bug, and run: python3 -m unittest -q",
        {"calc.py": _CALC, "test_calc.py": _TEST_CALC},
        lambda outcome: (
            outcome.run("-m", "unittest", "-q").returncode == 0 and outcome.read("test_calc.py") == _TEST_CALC
        ),
    ),
)
