from pathlib import Path

import pytest

from halocline.edits.diff import make_diff
from halocline.protocol.errors import UsageError
from halocline.runtime.history.revert import HunkReversal, revert_hunk


async def test_a_file_that_came_goes_and_comes_again(tmp_path: Path) -> None:
    diff = make_diff("a", None, "one\n").text
    (tmp_path / "a").write_text("one\n")
    await revert_hunk(tmp_path, HunkReversal("a", diff, "added"))
    assert not (tmp_path / "a").exists()
    await revert_hunk(tmp_path, HunkReversal("a", diff, "added", back=False))
    assert (tmp_path / "a").read_text() == "one\n"


async def test_a_file_that_went_comes_back(tmp_path: Path) -> None:
    await revert_hunk(tmp_path, HunkReversal("a/b", make_diff("a/b", "one\n", None).text, "deleted"))
    assert (tmp_path / "a/b").read_text() == "one\n"


async def test_line_ends_and_everything_around_a_change_stay(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1\r\ntwo\r\n3\r\n")
    await revert_hunk(tmp_path, HunkReversal("a", make_diff("a", "1\n2\n", "1\ntwo\n").text))
    assert (tmp_path / "a").read_bytes() == b"1\r\n2\r\n3\r\n"


async def test_a_file_that_grew_is_not_removed_and_nothing_outside_is_touched(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\nmine\n")
    with pytest.raises(UsageError, match="contains more"):
        await revert_hunk(tmp_path, HunkReversal("a", make_diff("a", None, "one\n").text, "added"))
    assert (tmp_path / "a").read_text() == "one\nmine\n"
    with pytest.raises(UsageError, match="is not in"):
        await revert_hunk(tmp_path, HunkReversal("../a", make_diff("a", "1\n", "2\n").text))
