"""`halo schedule` with a systemd that runs, and what the command says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.web.test_user_service import can_manage

from halocline.protocol import json_input

pytestmark = [pytest.mark.process, pytest.mark.slow]
RUNS = """
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/user/0 && chmod 700 /run/user/0 || exit 1
export XDG_RUNTIME_DIR=/run/user/0
/lib/systemd/systemd --user > /dev/null 2>&1 & manager=$!
trap 'kill $manager' EXIT
for _ in $(seq 50); do systemctl --user show --property Version > /dev/null 2>&1 && break; sleep 0.2; done
"$@" add often --at '*:*:0/2' --missed run -- run -m "scripted/$SCRIPT" 'say it' || exit 2
for _ in $(seq 100); do "$@" show often | grep -q 'exit code 0' && break; sleep 0.2; done
"$@" show often
timer=$(cd "$HOME/.config/systemd/user" && echo halocline-schedule-often-*.timer)
"$@" pause often
systemctl --user show "$timer" --property ActiveState
"$@" list
"$@" resume often
systemctl --user show "$timer" --property ActiveState
"$@" remove often
systemctl --user show "$timer" --property LoadState
"""


@pytest.mark.skipif(not can_manage(), reason="needs systemd and the right to a mount namespace")
def test_a_running_systemd_starts_the_runs(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text('[[turn]]\ntext = "said"\n')
    home = {"HOME": str(tmp_path), "HALOCLINE_HOME": str(tmp_path / "halo"), "PATH": os.environ["PATH"]}
    words = ("unshare", "--mount", "bash", "-c", RUNS, "bash", sys.executable, "-m", "halocline", "schedule")
    env = {**home, "SCRIPT": str(script)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=env, timeout=90)
    assert done.returncode == 0, done.stderr
    assert "Added, started by systemd: often  *:*:0/2" in done.stdout
    assert "missed runs:  one is made up for" in done.stdout
    states = [line.partition("=")[2] for line in done.stdout.splitlines() if line.startswith(("Active", "Load"))]
    assert states == ["inactive", "active", "not-found"]
    assert "(paused)" in done.stdout
    assert [*(tmp_path / "halo/tasks").iterdir()]
    assert not [*(tmp_path / ".config/systemd/user").glob("halocline*")]


async def test_without_anything_that_starts_runs_the_command_says_so(halo: Halo) -> None:
    done = await halo.run("schedule", "add", "a", "--at", "daily", "--", "run", "x", env={"PATH": "/nowhere"})
    assert (done.code, "Neither your own systemd" in done.err) == (2, True)
    assert (await halo.run("schedule")).out == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run",), "The run has no prompt"),
        (("run", "--mode", "plan", " "), "The run has no prompt"),
        (("batch", "-j", "4"), "The batch has no tasks"),
        (("run", "--no-such-option", "x"), "no-such-option"),
        (("run", "--until", "make"), "Neither your own systemd"),
        (("batch", "--name", "sweep"), "Neither your own systemd"),
    ],
)
async def test_a_command_that_every_run_would_refuse_is_not_added(halo: Halo, words, said) -> None:
    done = await halo.run("schedule", "add", "a", "--at", "daily", "--", *words, env={"PATH": "/nowhere"})
    assert (done.code, said in done.err) == (2, True), done.err


async def test_keys_in_words_of_schedules_are_not_shown(halo: Halo) -> None:
    (halo.home / "schedules").mkdir(parents=True)
    words = ["run", "--api-key", "k-1234", "--api-key=k-1234", "x"]
    kept = {"name": "a", "words": words, "folder": str(halo.folder), "at": "daily"}
    (halo.home / "schedules/a.json").write_text(json.dumps(kept))
    for shown in (("list",), ("list", "--json"), ("show", "a"), ("show", "a", "--json")):
        out = (await halo.run("schedule", *shown)).out
        assert ("k-1234" in out, out.count("[hidden]")) == (False, 2), shown


async def test_the_words_behind_the_dashes_stay_as_they_are(halo: Halo) -> None:
    (halo.home / "schedules").mkdir(parents=True)
    kept = {"name": "a", "words": ["run", "--help"], "folder": str(halo.folder), "at": "0 9 * * 1-5"}
    (halo.home / "schedules/a.json").write_text(json.dumps(kept))
    listed = (await halo.run("schedule", "list")).out
    assert listed.startswith("a  0 9 * * 1-5  (not started: ")
    assert listed.endswith(")  halo run --help\n")
    (line,) = (await halo.run("schedule", "list", "--json")).lines
    assert line["schedule"]["words"] == ["run", "--help"]
    done = await halo.run("schedule", "run", "a")
    assert (done.code, json_input.decode((halo.home / "schedules/a.last").read_bytes())["code"]) == (0, 0)
    shown = (await halo.run("schedule", "show", "a")).out
    assert "for systemd:  Mon,Tue,Wed,Thu,Fri *-*-* 9:0:00" in shown
    assert "exit code 0" in shown
    refused = await halo.run("schedule", "show", "b")
    assert "There is no schedule 'b'. " in refused.err.replace("\n      ", " ")
