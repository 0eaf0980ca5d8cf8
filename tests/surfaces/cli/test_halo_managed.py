"""Managed settings at their real place: `/etc/halocline`, in a mount namespace whose `/etc` is a copy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from halocline.hosts.executables import find_program

pytestmark = [pytest.mark.process, pytest.mark.slow]
MOUNTED = """
mount -t tmpfs tmpfs /mnt && cp -a /etc /mnt/ && mount --bind /mnt/etc /etc && mkdir -p /etc/halocline || exit 77
cat > /etc/halocline/settings.toml <<'TOML'
allowed_models = ["scripted/*"]
modes_off = ["yolo"]
max_cost = 5
sandbox = "require"
TOML
"""
FILE = "/etc/halocline/settings.toml"
OURS = f"set by your administrator in {FILE}"


def run_managed(folder: Path, script: str) -> str:
    """Run a shell script on such a machine, in which `$halo` is the command; return all that is printed."""
    (folder / "script.toml").write_text('[[turn]]\ntext = "one"\n')
    env = {"HOME": str(folder), "HALOCLINE_HOME": str(folder / "home"), "PATH": os.environ["PATH"]}
    env |= {"halo": f"{sys.executable} -m halocline", "model": f"scripted/{folder}/script.toml"}
    words = ("unshare", "--mount", "bash", "-c", MOUNTED + script)
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, env=env, timeout=60)
    if done.returncode == 77:
        pytest.skip("the copy of /etc cannot be mounted")
    return done.stdout + done.stderr


needs_namespace = pytest.mark.skipif(
    not find_program("unshare") or os.geteuid() != 0, reason="needs the right to a mount namespace"
)


@needs_namespace
def test_the_command_line_keeps_to_the_file_and_names_it(tmp_path: Path) -> None:
    said = run_managed(tmp_path, "HALOCLINE_SANDBOX=off $halo config list --explain sandbox 2>&1")
    assert f"sandbox = require  ({OURS})" in said
    for words in ("config set sandbox off", "-p -y -m $model hi", "-p --approval-mode yolo -m $model hi"):
        assert OURS in run_managed(tmp_path, f"$halo {words} 2>&1; test $? = 2 || echo FAILED")
    said = run_managed(tmp_path, "$halo -p -m openai/gpt-5 hi 2>&1")
    assert "may not be used here; allowed are: scripted/*" in said
    said = run_managed(tmp_path, "$halo -p --max-cost 50 -m $model hi 2>&1; $halo doctor 2>&1")
    assert f"max_cost stays 5.0: it is {OURS}." in said
    assert f"{OURS}: allowed_models" in said


@needs_namespace
def test_a_file_that_others_can_write_to_stops_every_command_but_the_doctor(tmp_path: Path) -> None:
    said = run_managed(tmp_path, f"chmod 666 {FILE}; $halo -p -m $model hi 2>&1; echo code $?; $halo doctor 2>&1")
    assert f"Users other than root can write to {FILE}" in said
    assert "code 2" in said
    assert "✗ settings" in said
