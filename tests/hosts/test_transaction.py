import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from halocline.hosts.files import transaction
from halocline.hosts.files.local import LocalFiles
from halocline.ports.host import FileChangedOutside, FileWrite

pytestmark = pytest.mark.process

KILLED = -9
CHILDREN = """
import asyncio, os, signal, sys
from pathlib import Path
from halocline.hosts.files.local import LocalFiles
from halocline.hosts.files import transaction
from halocline.ports.host import FileWrite

folder, journals = Path(sys.argv[1]), Path(sys.argv[2])
writes = [
    FileWrite(folder / "changed", b"new", b"old"),
    FileWrite(folder / "made" / "here", b"new", None),
    FileWrite(folder / "removed", None, b"gone"),
    FileWrite(folder / "moved", b"script", None, like=folder / "script"),
    FileWrite(folder / "script", None, b"script"),
]

def child(deadly):
    step = 0

    def watch(event, arguments):
        nonlocal step
        on_disk = event == "open" or event.startswith("os.")
        here = sys._getframe(1).f_code.co_filename if on_disk else ""
        if "halocline/hosts" in here or "halocline/files" in here:
            step += 1
            if deadly in (str(step), f"{event} {arguments[0]}"):
                os.kill(os.getpid(), signal.SIGKILL)
            if deadly == f"fail {step}":
                raise OSError(28, "No space left on device")

    sys.addaudithook(watch)
    try:
        asyncio.run(LocalFiles(journals).write_all(writes))
    except OSError:
        os._exit(1)

for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        child(line.strip())
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
"""For each line read, a child that changes five files, and at that step on the disk kills itself (`0`: never) or gets
an error from the system (`fail 7`).
"""

BEFORE = {"changed": b"old", "removed": b"gone", "script": b"script"}
AFTER = {"changed": b"new", "made/here": b"new", "moved": b"script"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, data in BEFORE.items():
        (folder / name).write_bytes(data)
    (folder / "script").chmod(0o755)
    return folder


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    return tmp_path / "home" / "edits"


@pytest.fixture
def run_child(folder: Path, journals: Path) -> Iterator[Callable[[object], int]]:
    words = [sys.executable, "-c", CHILDREN, str(folder), str(journals)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as children:
        assert children.stdin
        assert children.stdout

        def run(deadly: object) -> int:
            children.stdin.write(f"{deadly}\n")
            children.stdin.flush()
            return int(children.stdout.readline())

        yield run
        children.stdin.close()


@pytest.fixture
def half_done(run_child: Callable[[object], int], folder: Path) -> None:
    """A child was killed when the first files were changed and the last was not yet."""
    assert run_child("os.remove script") == KILLED
    assert (folder / "changed").read_bytes() == b"new"
    assert (folder / "script").exists()


def held(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


async def test_several_files_are_changed_made_moved_and_removed(run_child, folder: Path, journals: Path):
    assert run_child(0) == 0
    assert held(folder) == AFTER
    assert stat.S_IMODE((folder / "moved").stat().st_mode) == 0o755
    assert os.listdir(journals) == ["lock"]


@pytest.mark.slow
async def test_wherever_a_process_is_killed_all_is_as_before_or_all_as_after(run_child, folder: Path, journals: Path):
    outcomes = []
    for deadly in range(1, 200):
        code = run_child(deadly)
        between = held(folder)
        said = await LocalFiles(journals).mend()
        after = held(folder)
        assert after in (BEFORE, AFTER), f"killed at step {deadly}"
        assert said or {n: d for n, d in between.items() if ".halo" not in n} == after
        assert not journals.exists() or set(os.listdir(journals)) <= {"lock"}
        outcomes.append((code, after == AFTER, bool(said)))
        if code == 0:
            break
        if after == AFTER:
            put_back(folder)
        assert sorted(p.name for p in folder.iterdir()) == sorted(BEFORE)
    assert outcomes[-1] == (0, True, False)
    assert {code for code, _, _ in outcomes[:-1]} == {KILLED}
    assert sum(said for _, _, said in outcomes) >= 5, "killed between two files at least five times"


@pytest.mark.slow
async def test_wherever_the_system_refuses_a_step_nothing_changed(run_child, folder: Path, journals: Path):
    codes = []
    for step in range(1, 120):
        codes.append(run_child(f"fail {step}"))
        await LocalFiles(journals).mend()
        assert held(folder) == (BEFORE if codes[-1] else AFTER), f"refused at step {step}"
        if not codes[-1]:
            put_back(folder)
    assert codes[-1] == 0
    assert sum(codes) > 30


def put_back(folder: Path) -> None:
    for name in AFTER:
        (folder / name).unlink()
    (folder / "made").rmdir()
    for name, data in BEFORE.items():
        (folder / name).write_bytes(data)


async def test_what_was_put_back_has_its_old_times(run_child, folder: Path, journals: Path):
    os.utime(folder / "changed", ns=(1_000, 2_000))
    run_child("os.remove script")
    (said,) = await LocalFiles(journals).mend()
    assert "was undone; all files are as before" in said
    assert (folder / "changed").stat().st_mtime_ns == 2_000


@pytest.mark.usefixtures("half_done")
async def test_what_somebody_changed_after_the_crash_is_left_alone_and_said(folder: Path, journals: Path):
    (folder / "changed").write_bytes(b"somebody's")
    (said,) = await LocalFiles(journals).mend()
    assert f"was not undone, because {folder}/changed changed since" in said
    assert (folder / "changed").read_bytes() == b"somebody's"
    assert [name for name in os.listdir(folder) if name.startswith(".halo")] == []


@pytest.mark.usefixtures("half_done")
async def test_the_next_change_mends_first(folder: Path, journals: Path):
    await LocalFiles(journals).write_all([FileWrite(folder / "changed", b"newer", b"old")])
    assert held(folder) == {**BEFORE, "changed": b"newer"}


async def test_a_file_that_came_after_the_crash_is_not_taken_for_ours(run_child, folder: Path, journals: Path):
    assert run_child("os.mkdir made") == KILLED
    (folder / "made").mkdir()
    (folder / "made" / "here").write_bytes(b"new")
    assert await LocalFiles(journals).mend() == []
    assert held(folder) == {**BEFORE, "made/here": b"new"}


@pytest.mark.usefixtures("half_done")
async def test_a_journal_whose_folder_is_not_there_waits(folder: Path, journals: Path):
    folder.rename(folder.with_name("unmounted"))
    assert await LocalFiles(journals).mend() == []
    folder.with_name("unmounted").rename(folder)
    assert len(await LocalFiles(journals).mend()) == 1
    assert held(folder) == BEFORE


async def test_a_torn_journal_is_dropped(folder: Path, journals: Path):
    journals.mkdir(parents=True)
    (journals / "x.journal").write_bytes(b'{"entries": [')
    assert await LocalFiles(journals).mend() == []
    assert os.listdir(journals) == ["lock"]


async def test_a_file_changed_between_read_and_write_stops_all(folder: Path, journals: Path):
    writes = [FileWrite(folder / "removed", b"x", b"gone"), FileWrite(folder / "changed", b"new", b"other")]
    with pytest.raises(FileChangedOutside, match="changed"):
        await LocalFiles(journals).write_all(writes)
    assert held(folder) == BEFORE
    assert os.listdir(journals) == ["lock"]


async def test_an_existing_file_with_the_very_same_content_is_not_taken_for_ours(folder: Path, journals: Path):
    writes = [FileWrite(folder / "changed", b"old", None), FileWrite(folder / "removed", b"x", b"gone")]
    with pytest.raises(FileChangedOutside):
        await LocalFiles(journals).write_all(writes)
    assert held(folder) == BEFORE


async def test_a_file_named_twice_is_refused(folder: Path, journals: Path):
    (folder / "link").symlink_to("changed")
    writes = [FileWrite(folder / "changed", b"1", b"old"), FileWrite(folder / "link", b"2", b"old")]
    with pytest.raises(OSError, match="named twice"):
        await LocalFiles(journals).write_all(writes)
    assert (folder / "changed").read_bytes() == b"old"


async def test_a_link_is_not_removed(folder: Path, journals: Path):
    (folder / "link").symlink_to("changed")
    with pytest.raises(OSError, match="symbolic link"):
        await LocalFiles(journals).write_all([FileWrite(folder / "link", None, b"old")])
    assert (folder / "link").is_symlink()
    assert held(folder) == {**BEFORE, "link": b"old"}


DISK_FULL = """
import asyncio, resource, sys
from pathlib import Path
from halocline.hosts.files.local import LocalFiles
from halocline.ports.host import FileWrite
folder, journals = Path(sys.argv[1]), Path(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
writes = [FileWrite(folder / "changed", b"new", b"old"), FileWrite(folder / "removed", b"x" * 200_000, b"gone")]
try:
    asyncio.run(LocalFiles(journals).write_all(writes))
except OSError as error:
    sys.exit(error.strerror)
"""


async def test_a_disk_without_room_leaves_every_file_as_it_was(folder: Path, journals: Path):
    words = [sys.executable, "-c", DISK_FULL, str(folder), str(journals)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr.strip()) == (1, "File too large")
    assert held(folder) == BEFORE
    assert os.listdir(journals) == ["lock"]


ONE_FILE = """
import asyncio, resource, sys
from pathlib import Path
from halocline.hosts.files.local import LocalFiles
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    asyncio.run(LocalFiles().write(Path(sys.argv[1]), b"x" * 200_000, b"old"))
except OSError as error:
    sys.exit(error.strerror)
"""


async def test_a_disk_without_room_leaves_a_single_file_as_it_was_and_nothing_beside_it(folder: Path):
    words = [sys.executable, "-c", ONE_FILE, str(folder / "changed")]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr.strip()) == (1, "File too large")
    assert held(folder) == BEFORE


async def test_a_read_only_folder_leaves_every_file_as_it_was(folder: Path, journals: Path):
    closed = folder / "closed"
    closed.mkdir()
    (closed / "a").write_bytes(b"old")
    closed.chmod(0o555)
    try:
        if os.access(closed, os.W_OK):
            pytest.skip("root may write everything")
        with pytest.raises(PermissionError):
            await LocalFiles(journals).write_all(
                [FileWrite(folder / "changed", b"new", b"old"), FileWrite(closed / "a", b"new", b"old")]
            )
        assert held(folder) == {**BEFORE, "closed/a": b"old"}
    finally:
        closed.chmod(0o755)


SWAPPER = """
import os, shutil, sys
inside, outside, name = sys.argv[1:]
aside, new = inside + ".aside", name + ".new"
while True:
    try:
        os.symlink(outside, new)
        os.rename(name, aside)
        os.rename(new, name)
        os.unlink(name)
        os.rename(aside, name)
    except OSError:  # the writer made the folder anew in between
        if os.path.lexists(new):
            os.unlink(new)
        if os.path.isdir(aside):
            os.unlink(name) if os.path.islink(name) else shutil.rmtree(name, ignore_errors=True)
            os.rename(aside, name)
"""


async def test_a_folder_that_is_swapped_for_a_link_never_leads_a_write_outside(tmp_path: Path):
    inside, outside = tmp_path / "project" / "sub", tmp_path / "outside"
    inside.mkdir(parents=True)
    outside.mkdir()
    (inside / "a").write_bytes(b"0")
    swapper = subprocess.Popen([sys.executable, "-c", SWAPPER, str(inside), str(outside), str(inside)])
    files, done = LocalFiles(tmp_path / "journals"), 0
    try:
        for number in range(300):
            with suppress(OSError, FileChangedOutside):
                was = await files.read(inside / "a", 100)
                await files.write_all([FileWrite(inside / "a", str(number + 1).encode(), was)])
                done += 1
    finally:
        swapper.kill()
        swapper.wait()
    assert done
    assert os.listdir(outside) == []


HOLDER = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(fd, fcntl.LOCK_EX)
os.pwrite(fd, f"{os.getpid()} 1700000000".encode(), 0)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(journals: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the lock and does nothing."""
    journals.mkdir(parents=True)
    words = [sys.executable, "-c", HOLDER, str(journals / "lock")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        yield process
        process.kill()


def writes(folder: Path) -> list[FileWrite]:
    return [FileWrite(folder / "changed", b"new", b"old"), FileWrite(folder / "more", b"new", None)]


def test_who_holds_the_lock_is_named_when_it_takes_too_long(holder, folder: Path, journals: Path):
    with pytest.raises(OSError, match=f"Process {holder.pid} \\(since .*did not finish within 0.1 s"):
        transaction.change_files(journals, writes(folder), patience=0.1)
    assert held(folder) == BEFORE


def test_a_task_begins_with_a_word_when_the_lock_is_held(holder, journals: Path):
    (journals / "x.journal").write_text("{")
    (said,) = transaction.mend_files(journals, patience=0.1)
    assert f"Process {holder.pid}" in said


async def test_what_waits_for_the_lock_can_be_cancelled_and_changes_nothing_later(holder, folder: Path, journals: Path):
    waiting = asyncio.create_task(LocalFiles(journals).write_all(writes(folder)))
    while not waiting_for(journals / "lock"):
        await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    holder.kill()
    holder.wait()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert held(folder) == BEFORE


def waiting_for(lock: Path) -> bool:
    """Whether this process has the lock's file open."""
    return any(os.path.realpath(f"/proc/self/fd/{fd}") == str(lock) for fd in os.listdir("/proc/self/fd"))


GARBAGE = [b"garbage\n", b"\xff\xfe\n", b"[" * 5000 + b"\n", b'{"entries": 1}\n', b"\0" * 900 + b"\n"]


@pytest.mark.parametrize("content", GARBAGE)
async def test_a_journal_that_nobody_can_read_is_put_aside_in_words(folder: Path, journals: Path, content: bytes):
    journals.mkdir(parents=True)
    (journals / "bad.journal").write_bytes(content)
    (said,) = await LocalFiles(journals).mend()
    assert str(journals / "bad.unreadable") in said
    assert (journals / "bad.unreadable").read_bytes() == content
    assert await LocalFiles(journals).mend() == []
    await LocalFiles(journals).write_all(writes(folder))
    assert (folder / "more").read_bytes() == b"new"


async def test_the_other_journals_are_seen_to_all_the_same(half_done, folder: Path, journals: Path):
    (journals / "0.journal").write_bytes(b"garbage\n")
    assert len(await LocalFiles(journals).mend()) == 2
    assert held(folder) == BEFORE
