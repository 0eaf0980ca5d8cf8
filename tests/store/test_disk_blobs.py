import os
from pathlib import Path

import pytest

from halocline.store.blobs import DiskBlobs, drop_blob


def test_a_blob_lies_in_a_folder_of_its_first_digits_and_leaves_nothing_else(tmp_path: Path):
    digits = DiskBlobs(tmp_path).put(b"abc").removeprefix("sha256:")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / digits[:2] / digits[2:]]


def test_nothing_is_made_before_it_is_needed(tmp_path: Path):
    DiskBlobs(tmp_path / "blobs")
    assert not (tmp_path / "blobs").exists()


def test_a_blob_that_is_there_is_not_written_again(tmp_path: Path):
    blobs = DiskBlobs(tmp_path)
    digits = blobs.put(b"abc").removeprefix("sha256:")
    before = (tmp_path / digits[:2] / digits[2:]).stat()
    blobs.put(b"abc")
    assert (tmp_path / digits[:2] / digits[2:]).stat().st_ino == before.st_ino


def test_a_blob_that_a_loss_of_power_spoilt_is_gone_until_it_is_put_again(tmp_path: Path):
    blobs = DiskBlobs(tmp_path)
    name = blobs.put(b"abc")
    digits = name.removeprefix("sha256:")
    (tmp_path / digits[:2] / digits[2:]).write_bytes(b"")
    with pytest.raises(KeyError):
        blobs.get(name)
    assert blobs.put(b"abc") == name
    assert blobs.get(name) == b"abc"


def test_a_blob_that_was_put_since_is_not_dropped(tmp_path: Path):
    blobs = DiskBlobs(tmp_path)
    digits = blobs.put(b"abc").removeprefix("sha256:")
    path = tmp_path / digits[:2] / digits[2:]
    os.utime(path, (1_000, 1_000))
    blobs.put(b"abc")
    assert not drop_blob(path, before=2_000)
    os.utime(path, (1_000, 1_000))
    assert drop_blob(path, before=2_000)
    assert not drop_blob(path, before=2_000)
    assert not path.exists()
