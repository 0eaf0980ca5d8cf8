import shutil
from pathlib import Path

import pytest

from halocline.files.folder_mark import is_renamed, read_mark


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    if not read_mark(folder):
        pytest.skip("this file system cannot tell folders apart")
    return folder


def test_a_folder_keeps_its_mark_when_it_or_one_above_it_is_renamed(folder: Path, tmp_path: Path) -> None:
    mark = read_mark(folder)
    (tmp_path / "above").mkdir()
    folder.rename(tmp_path / "above" / "other")
    (tmp_path / "above").rename(tmp_path / "else")
    assert read_mark(tmp_path / "else" / "other") == mark


def test_a_copy_has_another_mark(folder: Path, tmp_path: Path) -> None:
    assert read_mark(shutil.copytree(folder, tmp_path / "copy")) != read_mark(folder)


def test_a_folder_that_got_the_number_of_a_deleted_one_has_another_mark(folder: Path) -> None:
    number, mark = folder.stat().st_ino, read_mark(folder)
    for _ in range(1000):
        folder.rmdir()
        folder.mkdir()
        if folder.stat().st_ino == number:
            break
    else:
        pytest.skip("this file system gives no number twice")
    assert read_mark(folder) != mark


def test_what_is_no_folder_has_no_mark(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert [read_mark(tmp_path / name) for name in ("file", "nothing")] == ["", ""]
    assert read_mark("a\0b") == ""


def test_a_folder_is_renamed_only_if_it_is_no_longer_where_it_was(folder: Path, tmp_path: Path) -> None:
    mark, place = read_mark(folder), str(folder)
    assert not is_renamed(place, mark)
    folder.rename(tmp_path / "new")
    assert is_renamed(place, mark)
    folder.symlink_to(tmp_path / "new")
    assert is_renamed(place, mark)
    folder.unlink()
    folder.mkdir()
    assert is_renamed(place, mark)
    assert not is_renamed(place, "")
