"""Real git in the sandbox: it commits in each kind of work tree, and changes nothing there that programs obey."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.hosts.conftest import Runner
from tests.pairings import each_with_each

from halocline.git.git_folder import list_own_folders
from halocline.hosts.sandbox.mounts import SandboxRequest
from halocline.hosts.sandbox.sandbox import Sandbox
from halocline.hosts.shell.shell import LocalShell
from halocline.protocol.kinds import SandboxStanding

pytestmark = pytest.mark.process
KINDS = {"plain": "main", "linked": "linked", "submodule": "main/module", "subfolder": "main/sub"}
AS_SOMEONE = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n"
WORK = """set -e
was=$(git symbolic-ref --short HEAD)
echo b >> a.txt; git add -A; git commit -qm two
git branch third; git checkout -q third; echo c > c.txt; git add c.txt; git commit -qm three; git checkout -q "$was"
echo d > d.txt; git add d.txt; git stash -q; git stash pop -q; git add -A; git commit -qm four
git merge -q --no-edit third
git checkout -q -b fifth HEAD~1; echo e > e.txt; git add e.txt; git commit -qm five; git rebase -q third
git gc -q 2> /dev/null
git log --format=%s -2; git status --short
"""
ATTACKS = """
files="config config.worktree commondir gitdir"
git=$(cd "$(git rev-parse --git-dir)" && pwd); common=$(cd "$(git rev-parse --git-common-dir)" && pwd)
git config user.name evil; git config core.fsmonitor ./evil; git remote add evil /evil; git worktree add ../evil
for place in $git $common; do
    for name in hooks/pre-commit info/attributes modules/m/config worktrees/w/config $files
    do mkdir -p $(dirname $place/$name); echo evil > $place/$name; rm -f $place/$name; echo evil > $place/$name; done
    for name in hooks info worktrees config; do mv $place/$name $place/old && cp -r $place/old $place/$name; done
    mv $place $place.old
done
"""


def call(folder: Path, text: str) -> str:
    script = f"set -e\n{AS_SOMEONE}{text}"
    settings = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=settings, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def place() -> Iterator[Path]:
    """A repository with a linked work tree, one more, a submodule and a subfolder; not in the sandbox's own `/tmp`."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name).resolve()
        for one in ("main", "lib"):
            (folder / one).mkdir()
            call(
                folder / one,
                "git init -q -b main; mkdir sub; tee a.txt sub/a.txt <<< a; git add -A; git commit -qm one",
            )
        call(folder / "main", "git -c protocol.file.allow=always submodule add -q ../lib module; git commit -qm more")
        call(folder / "main", "git worktree add -q ../linked -b linked; git worktree add -q ../other -b other")
        for one in ("home", "state", "own"):
            (folder / one).mkdir()
        yield folder


@pytest.fixture
async def sandboxed(place: Path) -> AsyncIterator["Sandboxed"]:
    made = Sandboxed(place)
    yield made
    await asyncio.gather(*(shell.close() for shell in made.shells))


class Sandboxed:
    """Makes runners of commands in the full sandbox with a workspace below a place."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.shells: list[LocalShell] = []

    async def __call__(self, workspace: str, **changes: object) -> Runner:
        root = self.place
        wishes = SandboxRequest(root / workspace, root / "home", root / "state", root / "own", git_writes=True)
        shell = LocalShell(root / "outputs", sandbox=Sandbox(replace(wishes, **changes)))
        self.shells.append(shell)
        found = await shell.sandbox()
        if found.standing is not SandboxStanding.FULL:
            pytest.skip(f"no full sandbox on this machine: {'; '.join(found.lacks)}")
        return Runner(shell, root / workspace)


def read_obeyed(folder: Path) -> dict[str, str]:
    """Return the texts of all files in a git folder that programs may obey, and of its `.git` files."""
    names = ("hooks/*", "config*", "info/*", "commondir", "gitdir")
    inside = (path for name in names for path in folder.rglob(name) if path.is_file())
    return {str(path): path.read_text() for path in inside if path.name != "refs" and "old" not in path.parts}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_git_does_all_its_work_in_each_kind_of_work_tree(sandboxed: Sandboxed, kind: str) -> None:
    run = await sandboxed(KINDS[kind])
    result = await run(AS_SOMEONE + WORK, timeout=60)
    assert (result.exit_code, result.output, result.set_aside) == (0, "five\nfour\n", ())
    assert call(run.folder, "git log --format=%s -1; git fsck --no-dangling") == "five\n"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_what_git_obeys_stays_as_it_is_in_each_kind_of_work_tree(sandboxed: Sandboxed, kind: str) -> None:
    run = await sandboxed(KINDS[kind])
    git = sandboxed.place / "main" / ".git"
    before, names = read_obeyed(git), {path.name for path in git.iterdir()}
    await run(AS_SOMEONE + ATTACKS, timeout=60)
    assert read_obeyed(git) == before
    assert {path.name for path in git.iterdir()} - {"old"} == names
    assert call(run.folder, "git rev-parse --is-inside-work-tree; git status --short .") == "true\n"


async def test_in_a_superproject_git_commits_in_its_submodule(sandboxed: Sandboxed) -> None:
    run = await sandboxed("main")
    result = await run(f"{AS_SOMEONE} cd module && echo b > b.txt && git add b.txt && git commit -qm within")
    assert (result.exit_code, call(run.folder / "module", "git log --format=%s -1")) == (0, "within\n")


async def test_without_git_writes_no_kind_of_work_tree_is_written(sandboxed: Sandboxed) -> None:
    for workspace in KINDS.values():
        run = await sandboxed(workspace, git_writes=False)
        result = await run("echo b > b.txt; git add b.txt")
        assert "Read-only file system" in result.output
        assert "sandbox_git_writes is off" in result.bounds


HOSTILE = {
    "a folder": "echo 'gitdir: {victim}' > .git",
    "a repository": "echo 'gitdir: {victim}/.git' > .git",
    "a link": "ln -s {victim}/.git .git",
    "another's linked work tree": "echo 'gitdir: {victim}/.git/worktrees/tree' > .git",
    "a work tree of another repository": "git init -q x; mkdir -p x/.git/worktrees/n; here=$PWD; "
    "cd x/.git/worktrees/n; touch HEAD; echo {victim}/.git > commondir; echo $here/.git > gitdir; "
    "cd $here; echo 'gitdir: x/.git/worktrees/n' > .git",
    "a repository that shares another's": "git init -q; echo {victim}/.git > .git/commondir",
    "a repository whose work tree is another": "git init -q; mkdir -p .git/worktrees/n; cd .git/worktrees/n; "
    "touch HEAD; echo ../.. > commondir; echo {victim}/.git > gitdir",
    "a repository whose linked work tree is another's": "git init -q; mkdir -p .git/worktrees/n; cd .git/worktrees/n; "
    "touch HEAD; echo ../.. > commondir; echo {victim}/tree/.git > gitdir",
    "parts that are links": "git init -q; rm -r .git/refs .git/objects; "
    "ln -s {victim}/.git/refs .git/refs; ln -s {victim}/.git/objects .git/objects",
    "a pipe": "mkfifo .git",
    "a name that is none": "printf 'gitdir: a\\0b' > .git",
}


@pytest.mark.slow
@pytest.mark.parametrize(("what", "where"), each_with_each(list(HOSTILE), [".", "nested"]))
async def test_a_git_file_of_others_opens_no_folder(sandboxed: Sandboxed, what: str, where: str) -> None:
    victim, workspace = sandboxed.place / "victim", sandboxed.place / "hostile"
    (workspace / where).mkdir(parents=True)
    victim.mkdir()
    call(victim, "git init -q; git commit -q --allow-empty -m one; git worktree add -q tree; echo mine > notes.txt")
    call(workspace / where, HOSTILE[what].format(victim=victim))
    assert not any(folder.is_relative_to(victim) for folder in list_own_folders(workspace / where))
    run = await sandboxed("hostile")
    before = sorted(victim.rglob("*"))
    await run(f"cd {victim}; for f in . tree .git .git/objects .git/refs .git/worktrees/tree; do echo x > $f/x; done")
    await run(f"cd {victim}; rm -rf notes.txt tree .git; cd {workspace}/{where}; git branch evil; git gc")
    assert sorted(victim.rglob("*")) == before


async def test_a_home_that_is_a_repository_is_not_opened_for_a_folder_in_it(sandboxed: Sandboxed) -> None:
    home = sandboxed.place / "home"
    (home / "project").mkdir()
    call(home, "git init -q; git commit -q --allow-empty -m mine")
    run = await sandboxed("home/project")
    result = await run("echo a > a.txt; git add a.txt")
    assert "Read-only file system" in result.output
    assert f"{home}/.git is read-only" in result.bounds


class Hiding:
    """Hides one folder, as a rule of the person does."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.key = ((self.folder, "/"),)
        self.names = self

    def __call__(self, path: str, found: os.stat_result | None) -> bool:
        return path == self.folder


async def test_a_git_folder_that_a_rule_hides_is_neither_read_nor_written(sandboxed: Sandboxed) -> None:
    run = await sandboxed("linked")
    git = sandboxed.place / "main" / ".git"
    result = await run(f"cat {git}/config; echo x > {git}/x; git add -A", hides=Hiding(git))
    assert "bare = false" not in result.output
    assert not (git / "x").exists()


async def test_what_you_change_in_the_repository_meanwhile_is_not_put_aside(sandboxed: Sandboxed) -> None:
    run = await sandboxed("linked")
    main = sandboxed.place / "main"
    running = asyncio.create_task(run("touch up; while [ ! -e go ]; do sleep 0.02; done"))
    async with asyncio.timeout(20):
        while not (run.folder / "up").exists():
            await asyncio.sleep(0.02)
    call(main, "git config user.name mine; git worktree add -q ../third")
    (run.folder / "go").touch()
    assert (await running).set_aside == ()
    assert call(main, "git config user.name") == "mine\n"


async def test_a_work_tree_that_a_command_cannot_see_is_not_pruned(sandboxed: Sandboxed) -> None:
    main = sandboxed.place / "main"
    with tempfile.TemporaryDirectory(dir="/tmp") as unseen:
        call(main, f"git worktree add -q {unseen}/tree -b unseen")
        run = await sandboxed("main")
        await run("git worktree prune")
        assert call(Path(unseen) / "tree", "git rev-parse --abbrev-ref HEAD") == "unseen\n"


async def test_a_failed_command_is_told_what_git_may_do(sandboxed: Sandboxed) -> None:
    result = await (await sandboxed("linked"))("git config user.name x")
    assert "Device or resource busy" in result.output
    assert f"git can commit in {sandboxed.place}/linked, but not change what programs obey (hooks, " in result.bounds


@pytest.mark.parametrize("workspace", ["lib", "lib/sub"])
async def test_a_first_work_tree_that_you_make_meanwhile_stays(sandboxed: Sandboxed, workspace: str) -> None:
    run = await sandboxed(workspace)
    running = asyncio.create_task(run("touch up; while [ ! -e go ]; do sleep 0.02; done"))
    async with asyncio.timeout(20):
        while not (run.folder / "up").exists():
            await asyncio.sleep(0.02)
    call(sandboxed.place / "lib", "git worktree add -q ../third")
    (run.folder / "go").touch()
    assert (await running).set_aside == ()
    assert call(sandboxed.place / "third", "git rev-parse --abbrev-ref HEAD") == "third\n"
