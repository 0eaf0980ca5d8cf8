"""The built wheel in the layouts that installers make; it and the single file on each Python that this machine has."""

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from importlib.metadata import distributions
from pathlib import Path

import pytest
from scripts import single_file
from scripts.build_version import read_version
from tests.architecture.sources import ROOT
from tests.docs.test_sdk_page import BLOCKS, list_programs
from tests.once_per_run import once_per_run

pytestmark = [pytest.mark.process, pytest.mark.slow]
SEARCH = """
[[turn]]
[[turn.call]]
tool = "search_files"
arguments = { path = ".", regex = "needle" }
[[turn]]
text = "Found."
"""
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
MOST_BYTES, MOST_DISTRIBUTIONS = 80_000_000, 45
"""What an installation without extras may take, before Python compiles it."""


def run(*words: str | Path, cwd: Path | None = None, **env: str) -> str:
    kept = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "HTTP", "http", "SSL_"))}
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", **kept, **env}
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(once_per_run(tmp_path_factory, "wheel", build_wheel))


def build_wheel(place: Path) -> str:
    words = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", place]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (built,) = place.iterdir()
    return str(built)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(once_per_run(tmp_path_factory, "archive", lambda place: str(single_file.pack(ROOT, place))))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a file to find; beside it an empty home and the script of a model that searches."""
    for name in ("project", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "project/a.txt").write_text("a needle\n")
    (tmp_path / "script.toml").write_text(SEARCH)
    return tmp_path / "project"


def search(*halo: str | Path, folder: Path, **env: str) -> str:
    """Run a task that searches, without any `rg` on PATH; gives its events."""
    model = f"scripted/{folder.parent}/script.toml"
    words = ("run", "--output-format", "stream-json", "-C", folder, "-m", model, "-y", "find it")
    return run(*halo, *words, **env, PATH=str(folder.parent))


def home_of(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder.parent / "home"), "HALOCLINE_HOME": str(folder.parent / "halo")}


@pytest.mark.parametrize("layout", ["venv", "user", "target"])
def test_the_wheel_works_where_installers_put_it(layout: str, wheel: Path, project: Path, tmp_path: Path) -> None:
    base = getattr(sys, "_base_executable", sys.executable)
    place, env = tmp_path / "place", home_of(project)
    python: str | Path = base
    match layout:
        case "venv":
            run(base, "-m", "venv", place)
            python = place / "bin" / "python"
            run(python, *PIP, wheel)
        case "user":
            env["PYTHONUSERBASE"] = str(place)
            run(base, *PIP, "--user", "--ignore-installed", wheel, **env)
        case _:
            env["PYTHONPATH"] = str(place)
            run(base, *PIP, "--target", place, wheel)
    halo = (place / "bin" / "halo",) if (place / "bin" / "halo").exists() else (python, "-m", "halocline")
    assert run(*halo, "--version", **env) == f"halo {read_version()}\n"
    assert "a needle" in search(*halo, folder=project, **env)
    commands = {path.name for path in (place / "bin").iterdir()}
    assert {"halo", "halocline"} <= commands


def find_python(version: str) -> str:
    """Return a Python of that version: of pyenv, of uv or on PATH. Skips if there is none that makes environments."""
    kept = [Path.home() / ".pyenv/versions", Path.home() / ".local/share/uv/python"]
    found = [str(one) for place in kept for one in sorted(place.glob(f"*{version}.*/bin/python3"))]
    about = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    for python in (*found, shutil.which(f"python{version}")):
        if python and subprocess.run([python, "-c", about], capture_output=True, text=True).stdout.strip() == version:
            return python
    pytest.skip(f"Python {version} is not on this machine")


@pytest.mark.parametrize("version", single_file.PYTHONS)
def test_the_wheel_works_on_each_python(version: str, wheel: Path, project: Path, tmp_path: Path) -> None:
    python, env = find_python(version), home_of(project)
    run(python, "-m", "venv", tmp_path / "place")
    programs = tmp_path / "place/bin"
    run(programs / "python", *PIP, wheel)
    assert run(programs / "halo", "--version", **env) == f"halo {read_version()}\n"
    assert "a needle" in search(programs / "halo", folder=project, **env)
    assert "done ·" in run(programs / "halo", "demo", "-y", **env)
    (tmp_path / "script.toml").write_text(BLOCKS["asyncio.run(main())"][0])
    (tmp_path / "program.py").write_text(list_programs()[0])
    env["HALOCLINE_MODEL"] = f"scripted/{tmp_path}/script.toml"
    printed = run(programs / "python", tmp_path / "program.py", cwd=project, **env)
    assert printed.strip() == BLOCKS["asyncio.run(main())"][1]


@pytest.mark.parametrize("version", single_file.PYTHONS)
def test_the_single_file_works_on_each_python(version: str, archive: Path, project: Path) -> None:
    halo, env = (find_python(version), archive), home_of(project)
    assert run(*halo, "--version", **env) == f"halo {read_version()}\n"
    assert "a needle" in search(*halo, folder=project, **env)
    assert "done ·" in run(*halo, "demo", "-y", **env)
    assert "<title>Halocline</title>" in read_page(*halo, folder=project, **env)


@pytest.mark.parametrize(
    ("version", "home", "why"),
    [("3.10", "/nowhere", "not 3.10. Name one: python3.12 "), ("3.11", "/proc/no", "SHIV_ROOT=/path")],
)
def test_a_single_file_that_cannot_start_says_why_in_a_sentence(
    version: str, home: str, why: str, archive: Path
) -> None:
    words = (find_python(version), archive, "--version")
    done = subprocess.run(words, env={"PATH": "/usr/bin:/bin", "HOME": home}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    (said,) = done.stderr.splitlines()
    assert why in said


def read_page(*halo: str | Path, folder: Path, **env: str) -> str:
    """Start `halo web`, read the page that it names, and end it."""
    words = (*halo, "web", folder, "--port", "0", "--no-open")
    server = subprocess.Popen(words, env={"PATH": "/usr/bin:/bin", **env}, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
        with urllib.request.urlopen(address, timeout=60) as answer:
            return str(answer.read().decode())
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
        server.stdout.close()


def test_two_packings_give_the_same_bytes(archive: Path, tmp_path: Path) -> None:
    assert single_file.pack(ROOT, tmp_path).read_bytes() == archive.read_bytes()


def test_an_installation_without_extras_is_small(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, *PIP, "--no-compile", "--target", tmp_path / "place", wheel)
    found = list(distributions(path=[str(tmp_path / "place")]))
    size = sum(path.lstat().st_size for path in (tmp_path / "place").rglob("*") if path.is_file())
    assert len(found) <= MOST_DISTRIBUTIONS, f"{len(found)} distributions"
    assert size <= MOST_BYTES, f"{size / 1e6:.0f} MB"
