import asyncio
import os
import socket
import stat
from pathlib import Path

import pytest

from halocline.files.target import hold_target
from halocline.hosts.files.local import LocalFiles
from halocline.ports.host import FileChangedOutside
from halocline.protocol.file_locks import lock_file


async def test_permissions_survive_a_write(tmp_path: Path):
    script = tmp_path / "run.sh"
    script.write_bytes(b"old")
    script.chmod(0o751)
    await LocalFiles().write(script, b"new", b"old")
    assert stat.S_IMODE(script.stat().st_mode) == 0o751


async def test_a_new_file_gets_the_usual_permissions(tmp_path: Path):
    (tmp_path / "usual").touch()
    await LocalFiles().write(tmp_path / "new", b"", None)
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


async def test_a_link_stays_and_its_target_is_written(tmp_path: Path):
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link.symlink_to("folder/target")
    await LocalFiles().write(link, b"new", b"old")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


async def test_a_link_to_nothing_makes_its_target(tmp_path: Path):
    (tmp_path / "link").symlink_to("target")
    await LocalFiles().write(tmp_path / "link", b"new", None)
    assert (tmp_path / "target").read_bytes() == b"new"


async def test_a_refused_write_leaves_bytes_time_and_folder_as_they_were(tmp_path: Path):
    file = tmp_path / "a"
    file.write_bytes(b"mine")
    os.utime(file, ns=(1_000, 2_000))
    with pytest.raises(FileChangedOutside):
        await LocalFiles().write(file, b"new", b"other")
    assert file.stat().st_mtime_ns == 2_000
    assert file.read_bytes() == b"mine"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
async def test_a_write_protected_file_is_not_replaced(tmp_path: Path):
    file = tmp_path / "a"
    file.write_bytes(b"mine")
    file.chmod(0o444)
    with pytest.raises(PermissionError):
        await LocalFiles().write(file, b"new", b"mine")
    assert file.read_bytes() == b"mine"


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def make_device_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [make_pipe, make_socket, make_device_link])
async def test_what_is_no_regular_file_is_neither_read_nor_written(
    make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    odd = Path("odd")
    make(odd)
    kind = os.stat(odd).st_mode
    with pytest.raises(OSError):
        await LocalFiles().read(odd, 10)
    with pytest.raises(OSError):
        await LocalFiles().write(odd, b"new", b"")
    assert os.stat(odd).st_mode == kind


async def test_links_in_a_circle_are_an_os_error(tmp_path: Path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError):
        await LocalFiles().read(tmp_path / "a", 10)


async def test_what_a_living_process_writes_beside_a_file_stays_and_what_a_dead_one_left_goes(tmp_path: Path):
    file, left, written = (tmp_path / name for name in ("a", ".halo-0a1b2c3d4e5f.tmp", ".halo-1a1b2c3d4e5f.tmp"))
    left.write_text("half")
    with hold_target(file) as target, target.staged(written.name, b"new", None):
        await LocalFiles().mend([file])
        assert (left.exists(), written.exists()) == (False, True)
        target.replace(written.name)
    assert file.read_text() == "new"


async def test_a_change_of_several_files_that_another_process_makes_is_waited_for(tmp_path: Path):
    file, journals, written = (tmp_path / name for name in ("a", "edits", ".halo-0a1b2c3d4e5f.tmp"))
    journals.mkdir()
    with lock_file(journals / "lock", "changes files"):
        written.write_text("new")
        (journals / "1.journal").write_text("")
        mending = asyncio.create_task(LocalFiles(journals).mend([file]))
        await asyncio.sleep(0.1)
        assert written.exists()
        written.rename(file)
        (journals / "1.journal").unlink()
    assert (await mending, file.read_text()) == ([], "new")
