import asyncio
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, git

from halocline.checkpoints.guards import check_workspace
from halocline.checkpoints.recovery.file_changes import NotRestored
from halocline.checkpoints.saved import FOUND, Limits
from halocline.checkpoints.store.git import CheckpointsOff
from halocline.hosts.files.local import LocalFiles
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import CheckpointFailed, CheckpointTaken, DurableEvent, Noticed
from halocline.task.log import LogUnwritable

HOLDER = """
import fcntl, sys
with open(sys.argv[1], "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""

SAVER = """
import asyncio, sys
from pathlib import Path
from halocline.checkpoints.shadow_git import ShadowGit

async def main(store, workspace, task, program):
    shadow = ShadowGit(Path(store), Path(workspace), task, delay=0, program=program)
    shadow.begin(lambda event: print(event.__class__.__name__, flush=True))
    for n in range(5):
        await shadow.barrier()
        Path(workspace, f"{task}.txt").write_text(str(n))
        shadow.take(f"edit {n}", [f"{task}.txt"])
    await shadow.settle()

asyncio.run(main(*sys.argv[1:]))
"""

DIES_WRITING = """
import asyncio, os, signal, sys
from pathlib import Path
from halocline.hosts.files.local import LocalFiles
from halocline.ports.host import FileWrite

def watch(event, arguments):
    if event == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)

folder, journals = Path(sys.argv[1]), Path(sys.argv[2])
sys.addaudithook(watch)
writes = [FileWrite(folder / "a.txt", b"new", b"old"), FileWrite(folder / "b.txt", None, b"b")]
asyncio.run(LocalFiles(journals).write_all(writes))
"""
"""Changes two files, and dies at that event."""


@pytest.mark.parametrize(
    "damage",
    [
        lambda store: (store / "index").write_bytes(b"garbage"),
        lambda store: (store / "index").write_bytes(b""),
        lambda store: (store / "index").unlink(),
        lambda store: (store / "HEAD").unlink(),
        lambda store: (store / "config").write_text("[core\n"),
        lambda store: shutil.rmtree(store / "info"),
        lambda store: (store / "index.lock").touch(),
        lambda store: (store / "refs/halocline/t1/2.lock").touch(),
    ],
)
async def test_a_small_damage_is_repaired_and_no_checkpoint_is_lost(bench: Bench, damage) -> None:
    bench.write("a.txt", "one")
    bench.write("b.txt", "b")
    shadow = await bench.begun()
    damage(bench.repository)
    bench.write("a.txt", "two")
    shadow.take("edit", ["a.txt"])
    await shadow.settle()
    assert bench.taken == ["Start", "edit"]
    assert bench.saved(2) == {"a.txt", "b.txt"}
    assert bench.notices == []


@pytest.mark.parametrize("lost", ["objects", "refs/halocline/t1/1"])
async def test_a_ruined_store_is_put_aside_once_and_begun_anew(bench: Bench, lost: str) -> None:
    bench.write("a.txt", "one")
    bench.write("b.txt", "b")
    await bench.begun()
    if lost == "objects":
        shutil.rmtree(bench.repository / lost)
    else:
        (bench.repository / lost).write_text("1" * 40 + "\n")
    bench.write("a.txt", "two")
    shadow = await bench.begun()
    bench.write("a.txt", "three")
    shadow.take("edit", ["a.txt"])
    await shadow.settle()
    assert bench.taken == ["Start", "Start", "edit"]
    assert bench.saved(1) == bench.saved(2) == {"a.txt", "b.txt"}
    assert len([path for path in bench.store.iterdir() if "damaged" in path.name]) == 1
    assert len(bench.notices) == 1


def garble(path: Path) -> None:
    path.chmod(0o600)
    path.write_bytes(b"\0" * path.stat().st_size)


def emptied(path: Path) -> None:
    path.chmod(0o600)
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [garble, emptied])
@pytest.mark.parametrize("name", ["2^{tree}", "2:sub", "2:sub/a.txt"])
async def test_an_object_that_a_power_cut_spoiled_is_written_anew_when_it_is_needed_again(
    bench: Bench, damage, name: str
) -> None:
    bench.write("sub/a.txt", "one")
    shadow = await bench.begun()
    bench.write("sub/a.txt", "two")
    shadow.take("edit", ["sub/a.txt"])
    await shadow.settle()
    sha = git(bench.workspace, f"--git-dir={bench.repository}", "rev-parse", f"refs/halocline/t1/{name}").strip()
    damage(bench.repository / "objects" / sha[:2] / sha[2:])
    again = await bench.begun("t2")
    bench.write("sub/a.txt", "spoiled")
    await again.restore("t2/1", overwrite=True)
    assert (bench.workspace / "sub" / "a.txt").read_text() == "two"
    assert bench.notices == []


async def test_a_garbled_commit_costs_its_checkpoint_alone_and_is_named(bench: Bench) -> None:
    bench.write("sub/a.txt", "one")
    shadow = await bench.begun()
    bench.write("sub/a.txt", "two")
    shadow.take("edit", ["sub/a.txt"])
    await shadow.settle()
    sha = git(bench.workspace, f"--git-dir={bench.repository}", "rev-parse", "refs/halocline/t1/2").strip()
    garble(bench.repository / "objects" / sha[:2] / sha[2:])
    bench.write("sub/a.txt", "three")
    again = await bench.begun()
    bench.write("sub/a.txt", "four")
    again.take("edit", ["sub/a.txt"])
    await again.settle()
    assert ["checkpoint 2 of this task is lost" in notice for notice in bench.notices] == [True]
    assert [info.n for info in await again.list()] == [1, 3, 4]
    await again.restore("1", overwrite=True)
    assert (bench.workspace / "sub" / "a.txt").read_text() == "one"


async def test_a_folder_that_takes_long_is_warned_of_before_the_task_goes_on_without(
    bench: Bench, tmp_path: Path
) -> None:
    slow = tmp_path / "slow-git"
    slow.write_text('#!/bin/sh\ncase "$1" in ls-files) exec sleep 60;; esac\nexec git "$@"\n')
    slow.chmod(0o755)
    shadow = await bench.begun(program=str(slow), limits=Limits(seconds=1))
    assert [notice.split(".")[0] for notice in bench.notices] == [
        "Saving this folder's files is taking more than 0",
        "Checkpoints will be ready in a while: this folder's files take too long to read",
    ]
    assert "checkpoints_patience" in bench.notices[0]
    await shadow.close()


async def test_a_reference_that_a_power_cut_left_empty_is_written_anew(bench: Bench) -> None:
    bench.write("a.txt", "one")
    await bench.begun()
    (bench.repository / "refs/halocline/t1/2").touch()
    bench.write("a.txt", "two")
    shadow = await bench.begun()
    assert bench.taken == ["Start", "Start"]
    assert [info.n for info in await shadow.list("t1")] == [1, 2]


async def test_two_shadow_gits_of_one_task_never_take_the_same_number(bench: Bench) -> None:
    first, second = await bench.begun(), await bench.begun()
    for n, shadow in enumerate((first, second, first, first, second)):
        bench.write("a.txt", str(n))
        shadow.take(f"edit {n}", ["a.txt"])
        await shadow.settle()
    assert [info.label for info in await first.list("t1")] == ["Start", *(f"edit {n}" for n in range(5))]
    assert bench.notices == []


async def test_a_store_that_is_not_at_fault_is_not_put_aside(bench: Bench, tmp_path: Path) -> None:
    bench.write("a.txt", "one")
    await bench.begun()
    broken = tmp_path / "broken-git"
    broken.write_text("#!/bin/sh\necho no space left >&2\nexit 128\n")
    broken.chmod(0o755)
    shadow = bench.shadow(program=str(broken))
    shadow.begin(bench.events.append)
    shadow.take("edit")
    await shadow.settle()
    shadow.take("another")
    await shadow.settle()
    assert bench.notices == ["A checkpoint could not be saved: git ls-files failed (128): no space left"]
    assert len(await bench.shadow().list()) == 1
    assert not [path for path in bench.store.iterdir() if "damaged" in path.name]


async def test_a_checkpoint_after_a_failed_one_is_whole(bench: Bench, tmp_path: Path) -> None:
    flag = tmp_path / "fails"
    moody = tmp_path / "moody-git"
    moody.write_text(f'#!/bin/sh\ntest -e "{flag}" && exit 128\nexec git "$@"\n')
    moody.chmod(0o755)
    shadow = await bench.begun(program=str(moody))
    flag.touch()
    bench.write("a.txt", "a")
    shadow.take("fails", ["a.txt"])
    await shadow.settle()
    flag.unlink()
    bench.write("b.txt", "b")
    shadow.take("works", ["b.txt"])
    await shadow.settle()
    assert bench.taken == ["Start", "works"]
    assert bench.saved(2) == {"a.txt", "b.txt"}


async def test_without_git_checkpoints_are_off_and_say_so_once(bench: Bench) -> None:
    shadow = await bench.begun(program="git-that-is-not-there")
    shadow.take("edit")
    await shadow.barrier()
    await shadow.settle()
    assert bench.notices == ["Checkpoints are off: git was not found. Install git."]
    assert [event.off for event in bench.events if isinstance(event, CheckpointFailed)] == [True]


async def test_a_log_that_cannot_be_written_either_does_not_keep_the_reason_from_the_person(bench: Bench) -> None:
    def emit(event: DurableEvent | Noticed) -> None:
        if not isinstance(event, Noticed):
            raise HaloclineError("Cannot write the task's log.")
        bench.events.append(event)

    shadow = bench.shadow(program="git-that-is-not-there")
    shadow.begin(emit)
    await shadow.settle()
    assert bench.notices == ["Checkpoints are off: git was not found. Install git."]


async def test_a_store_that_cannot_be_written_does_not_disturb_the_task(bench: Bench) -> None:
    bench.store.parent.mkdir()
    bench.store.write_text("a file where the folder should be")
    shadow = await bench.begun()
    shadow.take("edit")
    await shadow.settle()
    assert len(bench.notices) == 1
    assert bench.notices[0].startswith("A checkpoint could not be saved:")


async def test_a_workspace_that_is_gone_does_not_disturb_the_task(bench: Bench) -> None:
    shadow = await bench.begun()
    bench.workspace.rmdir()
    shadow.take("edit")
    await shadow.settle()
    assert len(bench.notices) == 1
    with pytest.raises(HaloclineError):
        await shadow.restore("1", overwrite=True)


async def test_a_store_that_another_process_keeps_busy_is_used_once_it_is_free(bench: Bench) -> None:
    await bench.begun()
    lock = bench.repository.with_suffix(".lock")
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(lock), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert await holder.stdout.readline() == b"held\n"
    shadow = await bench.begun("t2", limits=Limits(seconds=0))
    assert bench.taken == ["Start"]
    await holder.communicate(b"")
    await bench.told("Checkpoints are ready")
    await shadow.close()
    assert bench.notices[0].startswith(f"Checkpoints will be ready in a while: Process {holder.pid} is saving or")
    assert bench.taken == ["Start", "Start"]


async def test_two_processes_save_the_same_workspace_in_turns(bench: Bench) -> None:
    for n in range(100):
        bench.write(f"f{n}.txt", str(n))
    savers = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", SAVER, str(bench.store), str(bench.workspace), task, "git", stdout=subprocess.PIPE
        )
        for task in ("t1", "t2")
    ]
    outputs = [(await saver.communicate())[0] for saver in savers]
    assert [set(output.split()) for output in outputs] == [{b"CheckpointTaken"}] * 2
    shadow = bench.shadow()
    for task in ("t1", "t2"):
        infos = await shadow.list(task)
        assert [info.n for info in infos] == list(range(1, len(infos) + 1))
        own = [info.label for info in infos if info.label != FOUND]  # it may have found what the other one did
        assert own == ["Start", *(f"edit {n}" for n in range(5))]
        assert "f7.txt" in bench.saved(len(infos), task)


async def test_a_git_that_outlives_us_keeps_the_lock_until_it_ends(bench: Bench, tmp_path: Path) -> None:
    pipe = tmp_path / "started"
    os.mkfifo(pipe)
    program = tmp_path / "slow-git"
    program.write_text(f'#!/bin/sh\necho $$ > "{pipe}"\nexec sleep 1000\n')
    program.chmod(0o755)
    saver = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SAVER, str(bench.store), str(bench.workspace), "t1", str(program)
    )
    orphan = int(await asyncio.to_thread(pipe.read_text))
    saver.kill()
    await saver.wait()
    lock = os.open(bench.repository.with_suffix(".lock"), os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.kill(orphan, signal.SIGKILL)
    await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
    os.close(lock)
    await bench.begun()
    assert bench.taken == ["Start"]


@pytest.mark.parametrize("place", ["/", "/home", "/home/ada", "/home/ada/Desktop", "/home/ada/Documents"])
def test_a_folder_that_is_no_project_is_refused(place: str) -> None:
    with pytest.raises(CheckpointsOff):
        check_workspace(Path(place), Path("/home/ada"))


@pytest.mark.parametrize("place", ["/home/ada/code", "/home/ada/Documents/code", "/srv/code", "/home/adam"])
def test_a_folder_of_a_project_is_accepted(place: str) -> None:
    check_workspace(Path(place), Path("/home/ada"))


async def test_in_the_home_folder_checkpoints_are_off_and_nothing_is_written(bench: Bench) -> None:
    bench.home = bench.workspace
    await bench.begun()
    assert len(bench.notices) == 1
    assert not bench.store.exists()


@pytest.mark.parametrize("death", ["os.rename", "os.remove"])
async def test_what_lies_beside_a_file_that_is_being_written_never_comes_back_by_a_restore(
    bench: Bench, tmp_path: Path, death: str
) -> None:
    bench.write("a.txt", "old")
    bench.write("b.txt", "b")
    words = [sys.executable, "-B", "-c", DIES_WRITING, str(bench.workspace), str(tmp_path / "edits"), death]
    died = await asyncio.create_subprocess_exec(*words)
    assert await died.wait() == -signal.SIGKILL
    assert len(list(bench.workspace.glob(".halo-*.old"))) == 2
    shadow = await bench.begun()  # another task of the folder, which knows nothing of it
    await LocalFiles(tmp_path / "edits").mend()
    assert sorted(path.name for path in bench.workspace.iterdir()) == ["a.txt", "b.txt"]
    await shadow.restore("1", overwrite=True)
    assert [path.name for path in bench.workspace.iterdir() if path.name.startswith(".halo-")] == []


def spoil(bench: Bench, name: str, n: int = 1) -> None:
    """Garble what checkpoint `n` holds of a file, in a pack or by itself."""
    sha = git(bench.workspace, f"--git-dir={bench.repository}", "rev-parse", f"refs/halocline/t1/{n}:{name}").strip()
    loose = bench.repository / "objects" / sha[:2] / sha[2:]
    if loose.exists():
        garble(loose)
        return
    (pack,) = bench.repository.glob("objects/pack/*.pack")
    index = git(bench.workspace, "verify-pack", "-v", str(pack)).splitlines()
    (at,) = (int(line.split()[4]) for line in index if line.startswith(sha))
    pack.chmod(0o600)
    with open(pack, "r+b") as file:
        file.seek(at + 2)
        file.write(b"\0" * 12)


def noise(seed: int) -> str:
    return "".join(str(seed * n % 7919) for n in range(400))


@pytest.mark.parametrize("packed", [False, True])
async def test_what_is_damaged_in_the_store_is_found_before_any_file_is_changed(bench: Bench, packed: bool) -> None:
    for seed, name in enumerate(("a.txt", "b.txt", "sub/c.txt"), start=3):
        bench.write(name, noise(seed))
    shadow = await bench.begun()
    for name in ("a.txt", "b.txt", "sub/c.txt"):
        bench.write(name, "two")
    shadow.take("edit")
    await shadow.settle()
    if packed:
        git(bench.workspace, f"--git-dir={bench.repository}", "repack", "-adq")
    spoil(bench, "b.txt")
    planned = await shadow.plan("1")
    assert (planned.overwrites, planned.lost) == (("a.txt", "sub/c.txt"), ("b.txt",))
    restored = await shadow.restore("1")
    assert (restored.changed, restored.lost) == (("a.txt", "sub/c.txt"), ("b.txt",))
    assert (bench.workspace / "b.txt").read_text() == "two"
    await shadow.restore(restored.undo)
    assert (bench.workspace / "a.txt").read_text() == "two"


async def test_what_is_damaged_of_the_present_is_saved_anew_before_it_is_overwritten(bench: Bench) -> None:
    bench.write("a.txt", noise(3))
    shadow = await bench.begun()
    bench.write("a.txt", noise(5))
    shadow.take("edit", ["a.txt"])
    await shadow.settle()
    spoil(bench, "a.txt", n=2)
    restored = await shadow.restore("1")
    assert (bench.workspace / "a.txt").read_text() == noise(3)
    await shadow.restore(restored.undo)
    assert (bench.workspace / "a.txt").read_text() == noise(5)


async def test_a_checkpoint_whose_folders_are_damaged_is_refused_in_words(bench: Bench) -> None:
    bench.write("sub/a.txt", "one")
    shadow = await bench.begun()
    bench.write("sub/a.txt", "two")
    shadow.take("edit", ["sub/a.txt"])
    await shadow.settle()
    spoil(bench, "sub")
    with pytest.raises(NotRestored, match="no longer has all of checkpoint 1"):
        await shadow.restore("1", overwrite=True)
    assert (bench.workspace / "sub" / "a.txt").read_text() == "two"


async def test_what_waits_for_a_checkpoint_learns_that_none_can_be_recorded(bench: Bench) -> None:
    def record(event: DurableEvent | Noticed) -> None:
        if isinstance(event, CheckpointTaken) and event.label == "edit":
            raise LogUnwritable("Cannot write the task's log.")

    bench.write("a.txt", "one")
    shadow = bench.shadow()
    shadow.begin(record)
    await shadow.settle()
    bench.write("a.txt", "two")
    shadow.take("edit", ["a.txt"])
    for paths in (None, ["b.txt"], ()):
        with pytest.raises(LogUnwritable):
            await shadow.barrier(paths)


async def test_a_bug_in_a_checkpoint_ends_one_turn_and_the_next_one_saves_everything(bench: Bench) -> None:
    recorded: list[str] = []

    def record(event: DurableEvent | Noticed) -> None:
        if isinstance(event, CheckpointTaken):
            recorded.append(event.label)
            if recorded == ["Start", "edit"]:
                raise ZeroDivisionError

    bench.write("a.txt", "one")
    shadow = bench.shadow()
    shadow.begin(record)
    await shadow.settle()
    bench.write("a.txt", "two")
    shadow.take("edit", ["a.txt"])
    with pytest.raises(ZeroDivisionError):
        await shadow.barrier(["b.txt"])
    with pytest.raises(ZeroDivisionError):
        await shadow.settle()
    bench.write("a.txt", "three")
    await shadow.barrier(["a.txt"])
    await shadow.settle()
    assert len(recorded) > 2


async def test_a_late_checkpoint_that_cannot_be_recorded_lets_no_destroying_command_wait(bench: Bench) -> None:
    def record(event: DurableEvent | Noticed) -> None:
        if isinstance(event, CheckpointTaken):
            raise LogUnwritable("Cannot write the task's log.")

    for number in range(300):
        bench.write(f"{number}.txt", "x" * number)
    shadow = bench.shadow(limits=Limits(seconds=0))
    shadow.begin(record)
    await shadow.barrier()
    with pytest.raises(LogUnwritable):
        await shadow.barrier(destroys=True)
