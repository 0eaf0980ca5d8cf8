import subprocess
import sys
from pathlib import Path

import pytest
from scripts.install import Progress, count_packages, is_whole, run_program
from tests.architecture.sources import ROOT

LOCK = """\
# comment
anyio==4.9.0 \\
    --hash=sha256:00
uvicorn[standard]==0.30.0 \\
    --hash=sha256:00
"""


def test_packages_of_a_lock_are_counted():
    assert count_packages(LOCK) == 2


def test_a_line_says_which_package_pip_is_at(capsys):
    progress = Progress(3)
    for line in (
        "Collecting anyio==4.9.0 (from x)\n",
        "  Downloading anyio.whl\n",
        "Collecting rich==1\n",
    ):
        progress.read_line(line)
    progress.print_line()
    progress.read_line("Installing collected packages: anyio, rich\n")
    progress.print_line()
    assert [line.split("s  ")[1] for line in capsys.readouterr().out.splitlines()] == [
        "package 2 of 3: rich",
        "unpacking 3 packages",
    ]


def test_what_a_program_wrote_is_shown_if_it_fails(capsys):
    with pytest.raises(SystemExit) as ended:
        run_program([sys.executable, "-c", "print('no such file'); raise SystemExit(3)"], Progress(1))
    assert ended.value.code == 3
    assert "no such file" in capsys.readouterr().err


def test_the_environment_that_runs_this_is_whole():
    assert is_whole(Path(sys.executable))


@pytest.mark.process
def test_an_environment_without_pip_is_not_whole_as_debian_without_venv_leaves_it(tmp_path: Path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    assert not is_whole(tmp_path / "venv/bin/python")


def test_an_environment_whose_python_was_removed_is_not_whole(tmp_path: Path):
    (tmp_path / "python").symlink_to(tmp_path / "gone")
    assert not is_whole(tmp_path / "python")


@pytest.mark.parametrize("text", [b"", b"#!/nowhere"])
def test_an_environment_whose_python_does_not_run_is_not_whole(tmp_path: Path, text: bytes):
    (tmp_path / "python").write_bytes(text)
    assert not is_whole(tmp_path / "python")


@pytest.mark.process
def test_a_python_without_venv_is_named_in_a_sentence_and_leaves_nothing(tmp_path: Path):
    (tmp_path / "lock").write_text(LOCK)
    hidden = (
        "import runpy, sys; sys.modules['ensurepip'] = None; runpy.run_module('scripts.install', run_name='__main__')"
    )
    words = [sys.executable, "-c", hidden, tmp_path / "venv", tmp_path / "lock"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (1, "")
    (said,) = done.stderr.splitlines()
    assert "apt install python3." in said
    assert not (tmp_path / "venv").exists()
