import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from tests.conformance.memory_files import MemoryFiles

from halocline.hosts.files.editor_files import EditorFiles, EditorScope
from halocline.hosts.files.local import LocalFiles
from halocline.hosts.files.unsaved_text import UnsavedText
from halocline.ports.host import FileChangedOutside, Files, FileWrite
from halocline.task.calls.held_files import HeldFiles


class SavingEditor:
    """An editor that has what is on disk, and saves what it gets."""

    async def read(self, path: str) -> str | None:
        return Path(path).read_text(errors="replace")

    async def write(self, path: str, text: str) -> bool:
        with suppress(OSError):
            Path(path).write_text(text, newline="")
            return True
        return False


@pytest.fixture(params=[LocalFiles, MemoryFiles, EditorFiles, HeldFiles])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    if request.param is EditorFiles:
        scope = EditorScope((str(tmp_path.resolve()),), "/nowhere")
        return EditorFiles(LocalFiles(), SavingEditor(), UnsavedText(), scope)
    if request.param is HeldFiles:
        return HeldFiles(LocalFiles(), partial(asyncio.sleep, 0))
    return request.param()


async def test_nothing_is_there_at_first(files: Files, tmp_path: Path):
    assert await files.info(tmp_path / "a") is None


async def test_what_was_written_is_read(files: Files, tmp_path: Path):
    await files.write(tmp_path / "a", b"one", None)
    assert await files.read(tmp_path / "a", 100) == b"one"


@pytest.mark.parametrize("size", [0, 1, 1 << 16, (1 << 16) + 1, 1 << 20])
async def test_a_file_of_any_size_is_read_whole(files: Files, tmp_path: Path, size: int):
    data = b"0123456789abcdef" * (size // 16) + b"x" * (size % 16)
    await files.write(tmp_path / "a", data, None)
    assert await files.read(tmp_path / "a", 1 << 21) == data


async def test_reading_stops_at_the_limit(files: Files, tmp_path: Path):
    await files.write(tmp_path / "a", b"0123456789", None)
    assert await files.read(tmp_path / "a", 4) == b"0123"


async def test_parents_are_made_and_listed(files: Files, tmp_path: Path):
    await files.write(tmp_path / "b" / "c", b"", None)
    await files.write(tmp_path / "a", b"", None)
    assert await files.list(tmp_path) == [("a", False), ("b", True)]
    assert await files.list(tmp_path / "b") == [("c", False)]


async def test_files_and_folders_are_told_apart(files: Files, tmp_path: Path):
    await files.write(tmp_path / "b" / "c", b"123", None)
    file, folder = await files.info(tmp_path / "b" / "c"), await files.info(tmp_path / "b")
    assert file is not None
    assert (file.size, file.is_file, file.is_dir) == (3, True, False)
    assert folder is not None
    assert (folder.is_file, folder.is_dir) == (False, True)


async def test_nothing_is_there_below_a_file(files: Files, tmp_path: Path):
    await files.write(tmp_path / "a", b"", None)
    assert await files.info(tmp_path / "a" / "b") is None


@pytest.mark.parametrize("expected", [None, b"other", b""])
async def test_a_write_over_what_was_not_expected_changes_nothing(files: Files, tmp_path: Path, expected: bytes | None):
    await files.write(tmp_path / "a", b"mine", None)
    before = await files.info(tmp_path / "a")
    with pytest.raises(FileChangedOutside):
        await files.write(tmp_path / "a", b"new", expected)
    assert await files.read(tmp_path / "a", 100) == b"mine"
    assert await files.info(tmp_path / "a") == before
    assert await files.list(tmp_path) == [("a", False)]


async def test_a_write_expecting_a_file_that_is_gone_makes_none(files: Files, tmp_path: Path):
    await files.write(tmp_path / "b", b"", None)
    with pytest.raises(FileChangedOutside):
        await files.write(tmp_path / "a", b"new", b"old")
    assert await files.list(tmp_path) == [("b", False)]


async def test_an_expected_file_is_replaced(files: Files, tmp_path: Path):
    await files.write(tmp_path / "a", b"old", None)
    await files.write(tmp_path / "a", b"new", b"old")
    assert await files.read(tmp_path / "a", 100) == b"new"


async def test_a_folder_is_neither_read_nor_written(files: Files, tmp_path: Path):
    await files.write(tmp_path / "b" / "c", b"", None)
    with pytest.raises(OSError):
        await files.read(tmp_path / "b", 10)
    with pytest.raises(OSError):
        await files.write(tmp_path / "b", b"", None)


async def test_a_file_cannot_be_a_parent(files: Files, tmp_path: Path):
    await files.write(tmp_path / "a", b"", None)
    with pytest.raises(OSError):
        await files.write(tmp_path / "a" / "b", b"", None)


async def test_a_missing_file_or_folder_is_an_os_error(files: Files, tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        await files.read(tmp_path / "a", 10)
    with pytest.raises(FileNotFoundError):
        await files.list(tmp_path / "a")


async def test_several_files_are_written_removed_and_made_together(files: Files, tmp_path: Path):
    await files.write(tmp_path / "a", b"old", None)
    await files.write(tmp_path / "b", b"gone", None)
    writes = [
        FileWrite(tmp_path / "a", b"new", b"old"),
        FileWrite(tmp_path / "b", None, b"gone"),
        FileWrite(tmp_path / "c" / "d", b"made", None, like=tmp_path / "b"),
    ]
    await files.write_all(writes)
    assert await files.list(tmp_path) == [("a", False), ("c", True)]
    assert await files.read(tmp_path / "a", 10) == b"new"
    assert await files.read(tmp_path / "c" / "d", 10) == b"made"
    assert await files.mend() == []


@pytest.mark.parametrize(
    "wrong",
    [("b", b"x", b"other"), ("b", None, b"other"), ("b", b"x", None), ("c", None, b"gone"), ("c", b"x", b"gone")],
)
async def test_one_file_that_is_not_as_expected_leaves_all_as_they_were(files: Files, tmp_path: Path, wrong):
    await files.write(tmp_path / "a", b"old", None)
    await files.write(tmp_path / "b", b"mine", None)
    before = [await files.info(tmp_path / name) for name in "ab"]
    name, data, expected = wrong
    with pytest.raises(FileChangedOutside):
        await files.write_all([FileWrite(tmp_path / "a", b"new", b"old"), FileWrite(tmp_path / name, data, expected)])
    assert await files.list(tmp_path) == [("a", False), ("b", False)]
    assert await files.read(tmp_path / "a", 10) == b"old"
    assert [await files.info(tmp_path / name) for name in "ab"] == before


async def test_a_mark_is_another_one_when_the_file_is(files: Files, tmp_path: Path):
    await files.write(tmp_path / "a", b"one", None)
    await files.write(tmp_path / "b" / "c", b"two", None)
    names = ["a", str(tmp_path / "b" / "c"), "b", "gone"]
    before = await files.marks(tmp_path, names)
    assert [mark is not None for mark in before] == [True, True, False, False]
    assert await files.marks(tmp_path, names) == before
    await files.write(tmp_path / "a", b"eno", b"one")
    after = await files.marks(tmp_path, names)
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True, True, True]


async def test_only_what_may_be_written_is(files: Files, tmp_path: Path):
    await files.write(tmp_path / "b", b"old", None)
    limited = files.only(lambda path: path.endswith("/a"))
    await limited.write(tmp_path / "a", b"one", None)
    for write in (
        limited.write(tmp_path / "b", b"new", b"old"),
        limited.write_all([FileWrite(tmp_path / "a", b"two", b"one"), FileWrite(tmp_path / "b", None, b"old")]),
    ):
        with pytest.raises(OSError, match="leads elsewhere"):
            await write
    assert (await files.read(tmp_path / "a", 9), await limited.read(tmp_path / "b", 9)) == (b"one", b"old")
