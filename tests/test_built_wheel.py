"""The built wheel in the layouts that installers make: it says its version, and finds the ripgrep that came with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.build_version import read_version
from tests.architecture.sources import ROOT

pytestmark = [pytest.mark.process, pytest.mark.slow]
SEARCH = """
[[turn]]
[[turn.call]]
tool = "search_files"
arguments = { path = ".", regex = "needle" }
[[turn]]
text = "Found."
"""


def run(*words: str | Path, **env: str) -> str:
    kept = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "HTTP", "http", "SSL_"))}
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", **kept, **env}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", place]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (built,) = place.iterdir()
    return built


@pytest.mark.parametrize("layout", ["venv", "user", "target"])
def test_the_wheel_works_where_installers_put_it(layout: str, wheel: Path, tmp_path: Path) -> None:
    base = getattr(sys, "_base_executable", sys.executable)
    place, env = tmp_path / "place", {"HOME": str(tmp_path / "home"), "HALOCLINE_HOME": str(tmp_path / "halo")}
    (tmp_path / "home").mkdir()
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    python: str | Path = base
    match layout:
        case "venv":
            run(base, "-m", "venv", place)
            python = place / "bin" / "python"
            run(python, *install, wheel)
        case "user":
            env["PYTHONUSERBASE"] = str(place)
            run(base, *install, "--user", "--ignore-installed", wheel, **env)
        case _:
            env["PYTHONPATH"] = str(place)
            run(base, *install, "--target", place, wheel)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("a needle\n")
    (tmp_path / "script.toml").write_text(SEARCH)
    halo = (place / "bin" / "halo",) if (place / "bin" / "halo").exists() else (python, "-m", "halocline")
    assert run(*halo, "--version", **env) == f"halo {read_version()}\n"
    words = (
        "run",
        "--output-format",
        "stream-json",
        "-C",
        folder,
        "-m",
        f"scripted/{tmp_path}/script.toml",
        "-y",
        "find it",
    )
    assert "a needle" in run(*halo, *words, **env, PATH=str(tmp_path))
    commands = {path.name for path in (place / "bin").iterdir()}
    assert {"halo", "halocline"} <= commands
