from pathlib import Path

from halocline.store.blobs import DiskBlobs


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
    assert (tmp_path / digits[:2] / digits[2:]).stat() == before
