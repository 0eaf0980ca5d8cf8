import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.hosts.conftest import Runner
from tests.hosts.sandbox.conftest import Make

from halocline.hosts.sandbox.mounts import SandboxRequest
from halocline.hosts.sandbox.sandbox import Sandbox
from halocline.protocol.errors import ToolFailure


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        path = Path(folder)
        (path / "victim").write_text("untouched")
        yield path


@pytest.mark.parametrize(
    "attack",
    [
        "echo x > {0}/victim",
        "rm -rf {0}/victim",
        "mv {0}/victim stolen",
        "touch {0}/new",
        "mkdir {0}/new",
        "ln {0}/victim hard && echo x > hard",
        "ln -s {0}/victim soft && echo x > soft",
        "ln -s {0} way && touch way/new",
        "mv a.txt {0}/new",
        "truncate -s 0 {0}/victim",
        "chmod 777 {0}/victim",
        "touch -d 2001-01-01 {0}/victim",
        "cd / && echo x > .{0}/victim",
        "echo x > /proc/self/root{0}/victim",
        "dd if=/dev/zero of={0}/victim count=1",
    ],
)
async def test_nothing_outside_the_workspace_is_changed(run: Runner, elsewhere: Path, attack: str):
    before = (elsewhere / "victim").stat()
    await run(attack.format(elsewhere))
    after = (elsewhere / "victim").stat()
    assert os.listdir(elsewhere) == ["victim"]
    assert (elsewhere / "victim").read_text() == "untouched"
    assert (before.st_mode, before.st_mtime_ns, before.st_nlink) == (after.st_mode, after.st_mtime_ns, after.st_nlink)


async def test_the_same_commands_do_reach_there_without_a_sandbox(run: Runner, elsewhere: Path):
    result = await run(f"echo x > {elsewhere}/victim", unsandboxed=True)
    assert (result.exit_code, result.sandboxed) == (0, False)
    assert (elsewhere / "victim").read_text() == "x\n"


async def test_the_workspace_can_be_written(run: Runner, wishes: SandboxRequest):
    result = await run("echo b >> a.txt; mkdir new; mv a.txt new; cat new/a.txt")
    assert (result.exit_code, result.output, result.sandboxed) == (0, "a\nb\n", True)
    assert (wishes.workspace / "new" / "a.txt").read_text() == "a\nb\n"


async def test_devices_that_every_program_needs_are_there(run: Runner):
    result = await run("echo x > /dev/null; head -c 2 /dev/zero | od -An -tx1; head -c 1 /dev/urandom | wc -c")
    assert result.output.split() == ["00", "00", "1"]


async def test_a_further_folder_can_be_written_when_it_was_named(
    make: Make, run: Runner, wishes: SandboxRequest, elsewhere: Path
):
    run = make(Sandbox(replace(wishes, writable=(elsewhere,))))
    assert (await run(f"echo x > {elsewhere}/victim")).exit_code == 0
    assert (elsewhere / "victim").read_text() == "x\n"


@pytest.mark.parametrize("path", ["home/.ssh/id_ed25519", "home/.netrc", "state/log.jsonl", "workspace/.env"])
async def test_what_opens_doors_cannot_be_read(run: Runner, tmp_path: Path, path: str):
    result = await run(f"cat {tmp_path / path}; cp -r {(tmp_path / path).parent} copy; cat copy/*; ls copy; true")
    assert "s3cret" not in result.output
    assert (tmp_path / path).read_text().endswith(("s3cret", "s3cret\n"))


@pytest.mark.parametrize("name", [".env", ".env.local", ".envrc", "id_rsa", ".git-credentials"])
@pytest.mark.parametrize("folder", [".", "app", "app/web"])
async def test_a_secret_of_the_workspace_cannot_be_read(run: Runner, wishes: SandboxRequest, folder: str, name: str):
    place = wishes.workspace / folder
    place.mkdir(parents=True, exist_ok=True)
    for one in (name, ".env.example", "server.pem"):
        (place / one).write_text(f"s3cret of {one}\n")
    assert f"of {name}" not in (await run(f"cat {folder}/{name}")).output
    assert (await run(f"cat {folder}/.env.example {folder}/server.pem")).exit_code == 0


async def test_a_home_outside_of_tmp_is_masked_and_otherwise_read(
    make: Make, run: Runner, wishes: SandboxRequest, elsewhere: Path
):
    (elsewhere / ".aws").mkdir()
    (elsewhere / ".aws" / "credentials").write_text("s3cret")
    (elsewhere / ".pgpass").write_text("s3cret")
    run = make(Sandbox(replace(wishes, home=elsewhere)))
    result = await run(
        f"cat {elsewhere}/victim {elsewhere}/.pgpass {elsewhere}/.aws/credentials; ls -A {elsewhere}/.aws"
    )
    assert result.output.startswith("untouched")
    assert "s3cret" not in result.output
    assert "Permission denied" in result.output


async def test_a_masked_folder_takes_nothing(make: Make, run: Runner, wishes: SandboxRequest, elsewhere: Path):
    (elsewhere / ".ssh").mkdir()
    run = make(Sandbox(replace(wishes, home=elsewhere)))
    assert (await run(f"echo key > {elsewhere}/.ssh/authorized_keys")).exit_code == 1
    assert list((elsewhere / ".ssh").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="others cannot read it anyway")
async def test_the_systems_passwords_are_not_read_by_root(run: Runner):
    assert "Permission denied" in (await run("wc -c < /etc/shadow")).output


@pytest.mark.parametrize(
    "attack",
    [
        "echo x > .git/hooks/post-checkout",
        "echo x >> .git/config",
        "git config core.fsmonitor ./evil",
        "echo x > .git/commondir",
        "mv .git old && mkdir .git && echo x > .git/config",
        "rm -rf .git",
        "echo '{}' > .vscode/tasks.json",
        "mv .vscode old",
        "rmdir .vscode && ln -s /tmp .vscode",
        "umount .git; echo x > .git/config",
        "mount -o remount,rw .git; echo x > .git/config",
    ],
)
async def test_what_other_programs_obey_stays_as_it_is(run: Runner, wishes: SandboxRequest, attack: str):
    await run(attack)
    git = wishes.workspace / ".git"
    assert sorted(os.listdir(git)) == ["config", "hooks"]
    assert (git / "config").read_text() == "[core]\n"
    assert os.listdir(git / "hooks") == []
    assert list((wishes.workspace / ".vscode").iterdir()) == []
    assert not (wishes.workspace / ".vscode").is_symlink()


async def test_git_reads_a_repository_that_it_cannot_write(run: Runner, wishes: SandboxRequest):
    await run("rm -rf .git; git init -q; git add a.txt", unsandboxed=True)
    result = await run("git status --short; git commit -qm x")
    assert result.output.startswith("A  a.txt\n")
    assert "Read-only file system" in result.output


async def test_git_can_be_let_write_all_but_what_it_obeys(make: Make, run: Runner, wishes: SandboxRequest):
    run = make(Sandbox(replace(wishes, git_writes=True)))
    await run("rm -rf .git; git init -q; git config user.name a; git config user.email a@b", unsandboxed=True)
    result = await run("git add a.txt && git commit -qm first && git log --format=%s; git config core.pager evil")
    assert result.output.startswith("first\n")
    assert result.exit_code != 0
    for attack in ("echo x > .git/hooks/post-commit", "mv .git/hooks old", "mv .git old", "rm -rf .git/config"):
        assert (await run(attack)).exit_code != 0
    assert "evil" not in (wishes.workspace / ".git" / "config").read_text()


@pytest.mark.parametrize(
    "name",
    [
        *(".mcp.json", ".envrc", ".husky/pre-commit", "sub/.git/config", ".github/workflows"),
        *("AGENTS.md", "sub/CLAUDE.md", ".cursorrules", ".github/copilot-instructions.md"),
    ],
)
async def test_what_others_would_obey_is_put_aside_when_it_is_new(run: Runner, wishes: SandboxRequest, name: str):
    result = await run(f"mkdir -p $(dirname {name}); echo evil > {name}")
    (told,) = result.set_aside
    assert told.startswith(f"{name.removesuffix('/pre-commit').removesuffix('/config')} was moved to ")
    assert not (wishes.workspace / name).exists()
    assert "evil" in "".join(path.read_text() for path in (wishes.own / "quarantine").rglob("*") if path.is_file())


@pytest.mark.parametrize("folder", [".", "sub", "sub/deep"])
async def test_a_new_folder_that_git_would_take_for_a_repository_is_not_obeyed(
    run: Runner, wishes: SandboxRequest, folder: str
):
    (wishes.workspace / ".git").rename(wishes.workspace / "aside")
    place = wishes.workspace / folder
    result = await run(
        f"git init -q --bare made && mkdir -p {folder} && mv made/* {folder} && cd {folder} && "
        "git config core.bare false && git config core.worktree . && git config core.fsmonitor 'touch evil'"
    )
    assert (result.exit_code, len(result.set_aside)) == (0, 3)
    words = ["git", "status"]
    subprocess.run(words, cwd=place, env={"PATH": os.environ["PATH"], "HOME": str(wishes.home)}, check=False)
    assert not (place / "evil").exists()


@pytest.mark.parametrize("attack", ["echo x >> made/config", "echo x > made/hooks/post-receive"])
async def test_a_repository_without_files_of_its_own_keeps_what_it_obeys(
    run: Runner, wishes: SandboxRequest, attack: str
):
    await run("git init -q --bare made", unsandboxed=True)
    before = (wishes.workspace / "made/config").read_text()
    assert (await run(attack)).exit_code != 0
    assert (wishes.workspace / "made/config").read_text() == before
    assert not (wishes.workspace / "made/hooks/post-receive").exists()


async def test_workflows_stay_as_they_are_and_what_is_beside_them_does_not(run: Runner, wishes: SandboxRequest):
    workflows = wishes.workspace / ".github" / "workflows"
    workflows.mkdir(parents=True)
    result = await run("echo x > .github/notes; echo x > .github/workflows/evil.yml; mv .github old")
    assert (workflows.parent / "notes").exists()
    assert (result.exit_code, list(workflows.iterdir()), result.set_aside) == (1, [], ())


@pytest.mark.parametrize("name", ["AGENTS.md", "sub/AGENTS.md", ".windsurfrules"])
async def test_a_command_writes_no_rules(run: Runner, wishes: SandboxRequest, name: str):
    rules = wishes.workspace / name
    rules.parent.mkdir(exist_ok=True)
    rules.write_text("ours")
    assert (await run(f"echo x > {name}")).exit_code != 0
    assert (await run(f"mv {name} old")).exit_code != 0
    assert rules.read_text() == "ours"


async def test_what_cannot_go_to_another_file_system_is_given_another_name(
    make: Make, run: Runner, wishes: SandboxRequest
):
    if os.stat("/dev/shm").st_dev == wishes.workspace.stat().st_dev:
        pytest.skip("there is no other file system")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        run = make(Sandbox(replace(wishes, own=Path(folder))))
        await run("mkdir .husky; mkfifo .husky/pipe")
    names = [path.name for path in wishes.workspace.iterdir()]
    assert [name.startswith(".husky.put-aside-") for name in names if "husky" in name] == [True]


async def test_a_folder_named_as_variables_are_is_not_masked(run: Runner, wishes: SandboxRequest):
    (wishes.workspace / ".env.d").mkdir()
    assert (await run("echo x > .env.d/x")).exit_code == 0


async def test_what_a_job_made_is_put_aside_at_its_end_and_told_with_the_next_command(
    run: Runner, wishes: SandboxRequest
):
    started = await run("sleep 1.5; sleep 2; mkdir .husky", background=True)
    await run.shell.jobs.read(started.job, 20)
    assert [told.split(" ")[0] for told in (await run("true")).set_aside] == [".husky"]
    assert not (wishes.workspace / ".husky").exists()


async def test_a_repository_that_was_only_moved_stays(run: Runner, wishes: SandboxRequest):
    (wishes.workspace / "sub" / ".git").mkdir(parents=True)
    result = await run("mv sub renamed")
    assert result.set_aside == ()
    assert (result.exit_code, (wishes.workspace / "renamed" / ".git").is_dir()) == (0, True)


async def test_masks_leave_no_files_behind(run: Runner, wishes: SandboxRequest):
    before = sorted(wishes.workspace.rglob("*"))
    await run("true")
    assert sorted(wishes.workspace.rglob("*")) == before


async def test_tmp_is_the_tasks_own_and_lasts_from_one_command_to_the_next(
    run: Runner, wishes: SandboxRequest, tmp_path: Path
):
    secret = Path("/tmp") / f"halocline-{os.getpid()}-{tmp_path.name}"
    secret.write_text("s3cret")
    try:
        result = await run(f"cat {secret}; mkdir -p /tmp/made; cd /tmp/made; echo kept > file")
        assert "s3cret" not in result.output
        assert (await run("pwd; cat file")).output == "/tmp/made\nkept\n"
        assert not Path("/tmp/made").exists()
    finally:
        secret.unlink()


async def test_the_tasks_tmp_ends_with_it(run: Runner, wishes: SandboxRequest):
    await run("echo x > /tmp/file")
    await run.shell.close()
    assert not wishes.tmp.exists()


async def test_run_with_its_sockets_is_hidden(run: Runner):
    assert (await run("ls -A /run")).output == ""


async def test_nothing_runs_unheld_where_the_sandbox_is_required(make: Make, wishes: SandboxRequest):
    run = make(Sandbox(replace(wishes, workspace=wishes.home), required=True))
    with pytest.raises(ToolFailure, match="require the sandbox"):
        await run("echo ran > ran")
    assert not (wishes.home / "ran").exists()
