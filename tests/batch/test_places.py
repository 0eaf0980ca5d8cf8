"""Places: made once, found again, and apart from one another; containers and machines run a task's commands."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.batch.conftest import EDIT, PASSES, git, play

from halocline.batch.items import Item, PlaceKind
from halocline.batch.places import LocalPlaces, choose_kind, name_worktree
from halocline.batch.queue import Ending, Queue, Standing
from halocline.batch.shells import ProgramFiles, ProgramShell
from halocline.batch.work import Manner
from halocline.client.options import Choices, TaskOptions
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import ApprovalMode
from halocline.testing import Call, Turn

pytestmark = pytest.mark.process
HAS_BWRAP = shutil.which("bwrap") is not None
SETSID = shutil.which("setsid") or "setsid"
OPEN = 'sandbox = "require"\nsandbox_network = true'


@pytest.fixture(params=["large", "busybox"])
def programs(request, tmp_path_factory, monkeypatch):
    """The programs of this machine, and those of BusyBox before them, as small images have them."""
    if request.param == "busybox":
        busybox = shutil.which("busybox") or pytest.skip("needs busybox")
        folder = tmp_path_factory.mktemp("busybox")
        for name in subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split():
            (folder / name).symlink_to(busybox)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.fixture
def places(tmp_path):
    return LocalPlaces(tmp_path / "cache" / "b", tmp_path / "batches" / "b", {}, lambda item: False)


@pytest.fixture
def open_place(places, item):
    async def open_it(**fields):
        return await places.open(Standing(item(**fields)))

    return open_it


def test_where_an_item_works_follows_from_what_it_names(item, tmp_path):
    assert choose_kind(item()) is PlaceKind.WORKTREE
    assert choose_kind(item(folder=str(tmp_path))) is PlaceKind.FOLDER
    assert choose_kind(Item("a", "p", git="https://x/y")) is PlaceKind.CLONE
    assert choose_kind(item(place=PlaceKind.COPY)) is PlaceKind.COPY


@pytest.mark.parametrize("kind", [PlaceKind.COPY, PlaceKind.WORKTREE, PlaceKind.CLONE])
async def test_a_place_is_found_again_with_what_was_done_in_it(open_place, repository, kind):
    first = await open_place(place=kind)
    (first.folder / "new.txt").write_text("x\n")
    if kind is not PlaceKind.COPY:
        git(first.folder, "add", ".")
        git(first.folder, "commit", "-qm", "of the task")
    again = await open_place(place=kind)
    assert (again.folder, again.commit) == (first.folder, first.commit)
    assert (await again.changes.read_change()).files == 1
    assert not (repository / "new.txt").exists()


async def test_a_worktree_begins_where_the_folder_of_the_item_is(open_place, repository, tmp_path):
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    git(tmp_path / "linked", "commit", "-q", "--allow-empty", "-m", "second")
    place = await open_place(folder=str(tmp_path / "linked"))
    assert place.commit == git(tmp_path / "linked", "rev-parse", "HEAD") != git(repository, "rev-parse", "HEAD")


async def test_a_clone_is_at_its_revision_and_borrows_its_objects(open_place, repository):
    first = git(repository, "rev-parse", "HEAD")
    (repository / "a.txt").write_text("second\n")
    git(repository, "commit", "-qam", "second")
    git(repository, "branch", "other", first)
    for revision, text in {"": "second\n", first: "wrong\n", first[:9]: "wrong\n", "other": "wrong\n"}.items():
        one = await open_place(id=f"i{revision}", folder="", git=str(repository), revision=revision)
        assert (one.folder / "a.txt").read_text() == text
    assert (one.folder / ".git" / "objects" / "info" / "alternates").read_text().strip()
    with pytest.raises(HaloclineError, match="no commit, branch or tag 'none'"):
        await open_place(id="x", folder="", git=str(repository), revision="none")


async def test_what_was_half_made_is_made_again(open_place, tmp_path):
    half = tmp_path / "cache" / "b" / "places" / ".one.half"
    half.mkdir(parents=True)
    (half / "rest").touch()
    place = await open_place(place=PlaceKind.COPY)
    assert sorted(os.listdir(place.folder)) == [".git", "a.txt"]


def test_names_of_worktrees_are_short_and_unlike_each_other():
    names = [name_worktree("b" * 40, f"{'i' * 98}{number}") for number in range(2)]
    assert len({*names}) == 2
    assert max(map(len, names)) <= 64


@pytest.mark.skipif(not HAS_BWRAP, reason="needs bubblewrap")
async def test_commands_in_a_root_folder_change_the_place_alone(bench, item, tmp_path):
    canary = tmp_path / "canary"
    run = Turn(calls=(Call("execute_command", {"command": f"touch {canary} made; echo $$ > number"}),))
    bench = bench(model=play(run, EDIT, "done"))
    options = TaskOptions(model="scripted/one", approval_mode=ApprovalMode.YOLO)
    fields = {"place": PlaceKind.CONTAINER, "image": "/", "accept": f"test -f made && {PASSES}"}
    done = (await bench.run(item(**fields), manner=Manner(Choices(unattended=True), options)))["one"]
    assert (done.ending, done.files) == (Ending.PASSED, 3)
    assert not canary.exists()


async def test_a_shell_passes_on_output_as_it_comes_and_the_exit_code(tmp_path, programs):
    heard = list[str]()
    key = f"{os.getpid()}-{tmp_path.name}"
    shell = ProgramShell(("sh", "-c"), stays=True, key=key)
    done = await shell.run("pwd; echo 'it is'; exit 3", tmp_path, heard.append)
    assert (done.exit_code, done.output) == (3, f"{tmp_path}\nit is\n")
    assert "".join(heard) == done.output
    assert not [*Path("/tmp").glob(f".halocline-{key}-*")]


@pytest.mark.parametrize("knows_late", [True, False])
@pytest.mark.parametrize("stays", [True, False])
async def test_a_command_that_is_cancelled_leaves_no_process(tmp_path, stays, knows_late, programs, monkeypatch):
    start = asyncio.create_subprocess_exec

    async def start_late(*words, **how):
        process = await start(*words, **how)
        await asyncio.sleep(0.5)  # a busy machine: the command runs, and its start is not known yet
        return process

    if knows_late:
        monkeypatch.setattr(asyncio, "create_subprocess_exec", start_late)
    words = (SETSID, "-w", "sh", "-c") if stays else ("sh", "-c")  # as a container does, it runs on by itself
    shell = ProgramShell(words, stays=stays)
    running = asyncio.create_task(shell.run("sleep 300 & echo $! > pid; wait", tmp_path, lambda text: None))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    number = (tmp_path / "pid").read_text().strip()
    for _ in range(200):
        if not Path(f"/proc/{number}").exists() or "State:\tZ" in Path(f"/proc/{number}/status").read_text():
            return
        await asyncio.sleep(0.02)
    left = [path.name for path in Path("/tmp").glob(".halocline-*")]
    pytest.fail(f"the command still runs: {Path(f'/proc/{number}/stat').read_text()}, notes {left}")


async def test_files_there_are_read_written_listed_and_removed(tmp_path, programs):
    files = ProgramFiles(ProgramShell(("sh", "-c"), stays=False))
    odd = tmp_path / "a folder" / "it's ü $HOME\\n.bin"
    data = bytes(range(256)) * 300
    await files.write(odd, data)
    assert await files.read(odd) == data
    assert await files.list(odd.parent) == [odd.name]
    assert await files.list(tmp_path) == ["a folder/"]
    odd.chmod(0o755)
    await files.write(odd, b"")
    assert (await files.read(odd), os.access(odd, os.X_OK)) == (b"", True)
    await files.remove(odd)
    for ask in (files.read(odd), files.read(odd.parent), files.list(tmp_path / "none")):
        with pytest.raises(FileNotFoundError):
            await ask


async def test_the_end_of_a_batch_can_remove_its_places(places, item):
    for kind in (PlaceKind.COPY, PlaceKind.CLONE):
        standing = Standing(item(id=kind.value, place=kind))
        place = await places.open(standing)
        await places.remove(standing, place)
        assert not place.folder.exists()
    standing = replace(standing, attempt=2)
    assert (await places.open(standing)).folder.name == "clone.2"


async def test_a_place_that_takes_long_to_make_ends_with_the_batch(bench, item):
    class Slow:
        async def open(self, standing):
            await asyncio.sleep(3600)

        async def release(self, place): ...

        async def remove(self, standing, place): ...

    here = bench()
    with Queue(here.records) as queue:
        await queue.add([item()])
        batch = here.build(queue, places=Slow())
        running = asyncio.create_task(batch.run())
        await asyncio.sleep(0.1)
        batch.stop()
        async with asyncio.timeout(30):
            assert await running
        assert queue.items["one"].outcome is None


@pytest.mark.skipif(not HAS_BWRAP, reason="needs bubblewrap")
async def test_a_clone_in_a_container_has_its_history_and_lies_anywhere(bench, item, repository, tmp_path):
    run = Turn(calls=(Call("execute_command", {"command": "git log --oneline > told"}),))
    here = bench(model=play(run, "done"))
    options = TaskOptions(model="scripted/one", approval_mode=ApprovalMode.YOLO)
    fields = {"place": PlaceKind.CONTAINER, "image": "/", "folder": "", "git": str(repository)}
    done = await here.run(item(**fields, accept="grep first told"), manner=Manner(Choices(unattended=True), options))
    assert done["one"].ending == Ending.PASSED, done


@pytest.mark.skipif(not HAS_BWRAP, reason="needs bubblewrap")
@pytest.mark.parametrize(
    ("settings", "reaches"),
    [("", True), ("web = false", False), ('sandbox = "require"', False), (OPEN, True)],
)
async def test_no_container_has_a_network_where_the_settings_have_none(
    bench, item, halocline_home, tmp_path, settings, reaches
):
    halocline_home.mkdir(exist_ok=True)
    (halocline_home / "settings.toml").write_text(settings)
    async with await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        fields = {"place": PlaceKind.CONTAINER, "image": "/", "accept": f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"}
        done = (await bench().run(item(**fields)))["one"]
    assert (done.ending == Ending.PASSED) is reaches, done


@pytest.mark.parametrize("is_closed", [True, False])
async def test_an_engine_starts_a_container_without_a_network_where_there_is_none(
    item, tmp_path, monkeypatch, is_closed
):
    engine = tmp_path / "bin" / "docker"
    engine.parent.mkdir()
    engine.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/told\n')
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", f"{engine.parent}:{os.environ['PATH']}")
    places = LocalPlaces(tmp_path / "cache" / "b", tmp_path / "batches" / "b", {}, lambda item: is_closed)
    await places.open(Standing(item(place=PlaceKind.CONTAINER, image="debian")))
    assert ("--network none" in (tmp_path / "told").read_text()) is is_closed


async def test_no_item_works_on_another_machine_where_commands_have_no_network(bench, item, halocline_home):
    halocline_home.mkdir(exist_ok=True)
    (halocline_home / "settings.toml").write_text("web = false")
    done = (await bench().run(item(place=PlaceKind.SSH, machine="localhost", folder="/tmp")))["one"]
    assert (done.ending, done.requests) == (Ending.PLACE, 0)
    assert "cannot work on localhost" in done.text


async def test_a_part_of_a_repository_is_cloned_with_the_whole(open_place, repository):
    (repository / "part").mkdir()
    (repository / "part" / "b.txt").touch()
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "part")
    place = await open_place(folder=str(repository / "part"), place=PlaceKind.CLONE)
    assert (place.folder / "b.txt").exists()
    assert (place.folder.parent / "a.txt").exists()


async def test_a_copy_leaves_out_what_is_no_file(open_place, repository):
    os.mkfifo(repository / "pipe")
    place = await open_place(place=PlaceKind.COPY)
    assert not (place.folder / "pipe").exists()


async def test_a_lock_that_a_killed_git_left_is_in_nobodys_way(open_place, tmp_path):
    await open_place()
    (tmp_path / "batches" / "b" / "stores" / "one" / "index.lock").touch()
    place = await open_place()
    (place.folder / "b.txt").touch()
    assert (await place.changes.read_change()).files == 1


@pytest.mark.skipif(not HAS_BWRAP, reason="needs bubblewrap")
async def test_no_file_tool_leaves_a_container_through_a_link(bench, item, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    link = Turn(calls=(Call("execute_command", {"command": f"ln -s {outside} link"}),))
    write = Turn(calls=(Call("write_to_file", {"path": "link/escaped.txt", "content": "x"}),))
    here = bench(model=play(link, write, EDIT, "done"))
    options = TaskOptions(model="scripted/one", approval_mode=ApprovalMode.YOLO)
    fields = {"place": PlaceKind.CONTAINER, "image": "/", "accept": PASSES}
    done = (await here.run(item(**fields), manner=Manner(Choices(unattended=True), options)))["one"]
    assert (done.ending, [*outside.iterdir()]) == (Ending.PASSED, [])


async def test_a_machine_that_cannot_be_reached_costs_nothing(bench, item):
    fields = {"place": PlaceKind.SSH, "machine": "no.such.machine.invalid", "folder": "/tmp"}
    done = (await bench().run(item(**fields)))["one"]
    assert (done.ending, done.requests) == (Ending.PLACE, 0)


async def test_a_copy_is_never_within_what_it_copies(places, item, tmp_path):
    with pytest.raises(HaloclineError, match="would be within"):
        await places.open(Standing(item(folder=str(tmp_path), place=PlaceKind.COPY)))
