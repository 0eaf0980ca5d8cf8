"""The examples, and the type of each kind of result, as type checkers see them with the built wheel installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT

pytestmark = [pytest.mark.process, pytest.mark.slow]
TYPES = """
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict, assert_type

import halocline


@dataclass
class Point:
    x: int


class Named(TypedDict):
    x: int


async def check(task: halocline.Task) -> None:
    assert_type((await halocline.run("go")).value, None)
    assert_type((await halocline.run("go", result=Point)).value, Point)
    assert_type((await halocline.run("go", result=Named)).value, Named)
    assert_type((await halocline.run("go", result=list[str])).value, list[str])
    assert_type((await halocline.run("go", result=int | None)).value, int | None)
    assert_type((await halocline.run("go", result=Literal["a", "b"])).value, Literal["a", "b"])
    assert_type((await halocline.run("go", result=Annotated[int, "even"])).value, int)
    assert_type((await task.run("go", result=Point | None)).value, Point | None)
    assert_type(halocline.run_sync("go", result=Literal[1]).value, Literal[1])
    assert_type((await halocline.run_all(["go"], result=Point | None))[0].value, Point | None)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the wheel, what the examples import, and both type checkers."""
    folder = tmp_path_factory.mktemp("typed")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder / "dist"]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", folder / "place"], check=True)
    wanted = [*(folder / "dist").iterdir(), "mypy>=2", "pyright", "pytest", "starlette"]
    subprocess.run([folder / "place/bin/python", "-m", "pip", "install", "--quiet", *wanted], check=True)
    (folder / "types_of_results.py").write_text(TYPES)
    return folder


@pytest.mark.parametrize("checker", [("mypy", "--strict"), ("pyright",)], ids=lambda words: words[0])
def test_the_examples_and_every_kind_of_result_check_with_the_installed_wheel(place, checker):
    files = [*sorted((ROOT / "examples").glob("[0-9]*.py")), place / "types_of_results.py"]
    env = {**os.environ, "PATH": f"{place / 'place/bin'}:{os.environ['PATH']}"}
    for file in [files[:-1], files[-1:]]:
        ran = subprocess.run([*checker, *file], cwd=place, env=env, capture_output=True, text=True, timeout=280)
        assert ran.returncode == 0, ran.stdout + ran.stderr
