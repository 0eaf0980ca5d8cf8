"""`halo web --install`: what systemd is told, as systemd reads it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo

from halocline.hosts.executables import find_program
from halocline.protocol.errors import UsageError
from halocline.surfaces.web.user_service import NAME, write_unit

JUDGE = find_program("systemd-analyze")


def lines(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def test_the_service_runs_this_python_with_these_arguments():
    unit = lines(write_unit(["--port", "4180", "/srv/work"], Path("/srv/work"), {"PATH": "/bin", "SECRET_KEY": "k"}))
    assert unit["ExecStart"] == f'"{sys.executable}" "-m" "halocline" "web" "--no-open" "--port" "4180" "/srv/work"'
    assert unit["WorkingDirectory"] == "/srv/work"
    assert unit["Environment"] == '"PATH=/bin"'


def test_what_systemd_would_replace_in_a_word_stays_as_it_is():
    folder = '/srv/50% of "$HOME" \\ it'
    unit = lines(write_unit([folder], Path(folder), {}))
    assert unit["ExecStart"].endswith(r'"/srv/50%% of \"$$HOME\" \\ it"')
    assert unit["WorkingDirectory"] == r'/srv/50%% of "$HOME" \ it'


def test_a_folder_that_could_add_a_line_is_refused():
    with pytest.raises(UsageError, match="control character"):
        write_unit(["/srv/a\nExecStartPre=/bin/evil"], Path("/srv"), {})


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(not JUDGE, reason="systemd-analyze is not installed")
def test_systemd_accepts_the_service(tmp_path: Path):
    folder = tmp_path / "a folder of 50%"
    folder.mkdir()
    (tmp_path / NAME).write_text(write_unit([str(folder)], folder, {"PATH": "/usr/bin"}))
    judged = subprocess.run([JUDGE, "verify", "--user", tmp_path / NAME], capture_output=True, text=True, check=False)
    assert NAME not in judged.stderr, judged.stderr


RUNS = """
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/user/0 && chmod 700 /run/user/0 || exit 1
export XDG_RUNTIME_DIR=/run/user/0
/lib/systemd/systemd --user > /dev/null 2>&1 & manager=$!
trap 'kill $manager' EXIT
for _ in $(seq 50); do systemctl --user show --property Version > /dev/null 2>&1 && break; sleep 0.2; done
"$@" --install --port 0 . >&2 || exit 2
systemctl --user show halocline-web.service --property ActiveState --property UnitFileState
"$@" --uninstall >&2 || exit 3
systemctl --user show halocline-web.service --property LoadState
"""
"""A manager of services for one user, in a mount namespace in which the machine looks as if systemd had started it."""


def can_manage() -> bool:
    tried = ("unshare", "--mount", "test", "-x", "/lib/systemd/systemd")
    return bool(find_program("unshare")) and not subprocess.run(tried, capture_output=True, check=False).returncode


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(not can_manage(), reason="needs systemd and the right to a mount namespace")
def test_a_running_systemd_starts_the_service_and_removes_it(tmp_path: Path):
    home = {"HOME": str(tmp_path), "HALOCLINE_HOME": str(tmp_path / "halo"), "PATH": os.environ["PATH"]}
    words = ("unshare", "--mount", "bash", "-c", RUNS, "bash", sys.executable, "-m", "halocline", "web")
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=home, timeout=60)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {"ActiveState=active", "UnitFileState=enabled", "LoadState=not-found"}
    assert not (tmp_path / ".config/systemd/user" / NAME).exists()


@pytest.mark.process
@pytest.mark.slow
async def test_without_systemd_the_command_says_where_the_file_is(halo: Halo, tmp_path: Path):
    done = await halo.run("web", "--install", env={"XDG_CONFIG_HOME": str(tmp_path / "config"), "PATH": "/nowhere"})
    file = tmp_path / "config" / "systemd" / "user" / NAME
    assert done.code == 2
    assert f"The service's file is {file}." in done.err
    assert str(halo.folder) in file.read_text()


async def test_a_service_that_is_not_there_cannot_be_removed(halo: Halo, tmp_path: Path):
    done = await halo.run("web", "--uninstall", env={"XDG_CONFIG_HOME": str(tmp_path)})
    assert (done.code, "The service is not installed." in done.err) == (2, True)
