import os
import subprocess

import pytest

from halocline.hosts.shell.environment import clean_environment
from halocline.hosts.shell.shell import LocalShell
from halocline.ports.host import ShellCommand
from halocline.protocol.events import ShellMoved

pytestmark = pytest.mark.process


async def test_a_judged_command_meets_no_function_and_no_program_of_an_earlier_one(run, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "wc").write_text("#!/bin/sh\ntouch pwned\n")
    (tmp_path / "bin" / "wc").chmod(0o755)
    await run('export PATH="$PWD/bin:$PATH"; ls() { touch pwned; }; export -f ls; export BASH_ENV=x LD_PRELOAD= IFS=l')
    result = await run("ls; wc -l < /dev/null", judged=True)
    assert "pwned" not in os.listdir(tmp_path)
    assert result.output.split() == ["bin", "0"]


async def test_a_judged_command_leaves_its_folder_and_keeps_what_others_exported(run, tmp_path):
    (tmp_path / "sub").mkdir()
    await run("export A=1")
    moved = await run("cd sub", judged=True)
    assert moved.moved == ShellMoved(str(tmp_path / "sub"), ("A",))
    assert (await run("pwd; echo $A")).output.split() == [str(tmp_path / "sub"), "1"]


async def test_programs_of_the_workspace_are_not_found_by_name(tmp_path, monkeypatch):
    for name in ("bin", "w"):
        (tmp_path / name).mkdir()
    (tmp_path / "w" / "ls").write_text("#!/bin/sh\necho pwned\n")
    (tmp_path / "w" / "ls").chmod(0o755)
    (tmp_path / "link").symlink_to(tmp_path / "w")
    path = f".:{tmp_path}/w:{tmp_path}/link:/usr/bin:/bin"
    assert clean_environment({"PATH": path}, str(tmp_path / "w"))["PATH"] == "/usr/bin:/bin"
    monkeypatch.setenv("PATH", path)
    shell = LocalShell(tmp_path / "outputs", workspace=str(tmp_path / "w"))
    try:
        result = await shell.run(ShellCommand("ls", str(tmp_path / "w"), 20, judged=True), lambda _: None)
    finally:
        await shell.close()
    assert result.output == "ls\n"


async def test_git_runs_no_program_that_a_repository_names(run, tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "evil").write_text("#!/bin/sh\ntouch pwned\n")
    (tmp_path / "evil").chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "core.editor", "pager.status"):
        subprocess.run(["git", "-C", tmp_path, "config", key, "./evil"], check=True)
    subprocess.run(["git", "-C", tmp_path, "-c", "core.fsmonitor=false", "add", "evil"], check=True)
    await run("git --no-pager status; git --no-pager diff --no-ext-diff --no-textconv; git --no-pager log", judged=True)
    assert "pwned" not in os.listdir(tmp_path)
    await run("git status")
    assert "pwned" in os.listdir(tmp_path)


def test_only_what_is_known_to_be_harmless_is_handed_on():
    environment = {"HOME": "/h", "GIT_DIR": "x", "NODE_OPTIONS": "x", "PYTHONPATH": "x", "MY_TOKEN": "x", "LC_ALL": "C"}
    handed = clean_environment(environment, "")
    assert set(environment) & set(handed) == {"HOME", "LC_ALL"}
