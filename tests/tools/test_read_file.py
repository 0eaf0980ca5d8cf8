import codecs
from pathlib import Path

import pytest

from halocline.protocol.errors import ToolFailure


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "[the file is empty]"),
        (b"one\ntwo\n", "1 | one\n2 | two\n[2 lines]"),
        (b"one\ntwo", "1 | one\n2 | two\n[2 lines]"),
        (b"one\r\ntwo\r\n", "1 | one\n2 | two\n[2 lines]"),
        (b"\n\n", "1 | \n2 | \n[2 lines]"),
        (codecs.BOM_UTF8 + b"one", "1 | one\n[1 line]"),
        (b"caf\xe9 No\xebl l\xe0\n", "1 | café Noël là\n[1 line; encoding cp1252]"),
        (codecs.BOM_UTF16_LE + "β".encode("utf-16-le"), "1 | β\n[1 line; encoding utf-16-le]"),
    ],
)
async def test_a_file_is_shown_with_line_numbers(say, workspace: Path, data: bytes, text: str):
    (workspace / "a").write_bytes(data)
    assert await say("read_file", path="a") == text


@pytest.mark.parametrize(
    ("start", "end", "first", "last", "footer"),
    [
        (None, None, 1, 1000, "[lines 1-1000 of 1200; read on with start_line=1001]"),
        (1001, None, 1001, 1200, "[lines 1001-1200 of 1200]"),
        (5, 7, 5, 7, "[lines 5-7 of 1200; read on with start_line=8]"),
        (7, 5, 5, 7, "[lines 5-7 of 1200; read on with start_line=8]"),
        ("5", "7", 5, 7, "[lines 5-7 of 1200; read on with start_line=8]"),
        (None, 3, 1, 3, "[lines 1-3 of 1200; read on with start_line=4]"),
        (0, 2, 1, 2, "[lines 1-2 of 1200; read on with start_line=3]"),
        (-5, 9_999, 1, 1200, "[1200 lines]"),
        (5_000, None, 1200, 1200, "[lines 1200-1200 of 1200]"),
    ],
)
async def test_a_window_is_clamped_and_says_how_to_read_on(say, workspace: Path, start, end, first, last, footer):
    (workspace / "a").write_text("".join(f"line {i}\n" for i in range(1, 1201)))
    lines = (await say("read_file", path="a", start_line=start, end_line=end)).split("\n")
    assert lines[0] == f"{first} | line {first}"
    assert lines[-2] == f"{last} | line {last}"
    assert lines[-1] == footer


async def test_the_footer_counts_only_lines_that_were_shown(say, workspace: Path):
    (workspace / "a").write_text(("x" * 1_500 + "\n") * 900)
    text = await say("read_file", path="a")
    assert len(text) < 401_000
    shown = text.count("\n")
    assert text.endswith(f"[lines 1-{shown} of 900; read on with start_line={shown + 1}]")


async def test_a_long_line_is_cut_and_says_so(say, workspace: Path):
    (workspace / "a").write_text("x" * 1_000_000)
    assert "x … [998,000 more characters]" in await say("read_file", path="a")


async def test_a_missing_file_comes_with_similar_names(say, workspace: Path):
    (workspace / "src").mkdir()
    (workspace / "src" / "settings.py").touch()
    with pytest.raises(ToolFailure, match=r"src/setting\.py does not exist\. Did you mean src/settings\.py\?"):
        await say("read_file", path="src/setting.py")


async def test_a_file_in_a_missing_folder_is_missing(say):
    with pytest.raises(ToolFailure, match=r"nowhere/a\.py does not exist\."):
        await say("read_file", path="nowhere/a.py")


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("cafe\u0301.txt", "caf\u00e9.txt"),
        ("caf\u00e9.txt", "cafe\u0301.txt"),
        ("at 9\u202fPM.txt", "at 9 PM.txt"),
        ("a\u00a0b", "a b"),
    ],
)
async def test_a_name_that_only_looks_the_same_is_found(say, workspace: Path, name: str, asked: str):
    (workspace / name).write_text("found\n")
    assert await say("read_file", path=asked) == "1 | found\n[1 line]"


async def test_a_folder_a_binary_file_and_a_giant_are_refused_with_advice(say, workspace: Path):
    (workspace / "folder").mkdir()
    (workspace / "binary").write_bytes(b"\x7fELF\0")
    with (workspace / "giant").open("wb") as giant:
        giant.truncate(2 << 30)
    for name, advice in [("folder", "Use list_files"), ("binary", r"file \(5 bytes\)"), ("giant", "search_files")]:
        with pytest.raises(ToolFailure, match=advice):
            await say("read_file", path=name)


@pytest.mark.parametrize("path", ["a\0b", "x" * 300])
async def test_an_impossible_path_is_a_failure(say, path: str):
    with pytest.raises(ToolFailure, match="cannot be accessed"):
        await say("read_file", path=path)


async def test_a_lookalike_that_is_a_link_is_not_followed_because_the_policy_judged_another_name(say, workspace: Path):
    outside = workspace.parent / "outside.txt"
    outside.write_text("secret")
    (workspace / "my\u00a0notes.txt").symlink_to(outside)
    with pytest.raises(ToolFailure, match="does not exist"):
        await say("read_file", path="my notes.txt")


async def test_a_folder_of_nobody_is_a_name_like_any_other(say, workspace: Path):
    (workspace / "~nobody-here").mkdir()
    (workspace / "~nobody-here" / "a").write_text("one\n")
    assert await say("read_file", path="~nobody-here/a") == "1 | one\n[1 line]"


LARGE = 2_100_000
"""Lines of a file of more than 20 MB."""
LARGE_FOOTER = "[lines 1999999-2000002 of 2100000; read on with start_line=2000003]"


@pytest.fixture(scope="module")
def large_log() -> bytes:
    return b"".join(b"line %7d\r\n" % number for number in range(1, LARGE + 1))


@pytest.fixture
def large(workspace: Path, large_log: bytes) -> Path:
    path = workspace / "large.log"
    path.write_bytes(large_log)
    return path


@pytest.mark.parametrize(
    ("start", "end", "first", "last", "footer"),
    [
        (None, None, 1, 1000, "[lines 1-1000 of 2100000; read on with start_line=1001]"),
        (
            2_000_000,
            2_000_002,
            2_000_000,
            2_000_002,
            "[lines 2000000-2000002 of 2100000; read on with start_line=2000003]",
        ),
        (
            2_000_002,
            2_000_000,
            2_000_000,
            2_000_002,
            "[lines 2000000-2000002 of 2100000; read on with start_line=2000003]",
        ),
        (9_999_999, None, LARGE, LARGE, "[lines 2100000-2100000 of 2100000]"),
        (2_099_999, 9_999_999, 2_099_999, LARGE, "[lines 2099999-2100000 of 2100000]"),
    ],
)
async def test_a_range_of_a_large_file_is_read_as_of_a_small_one(say, large: Path, start, end, first, last, footer):
    lines = (await say("read_file", path="large.log", start_line=start, end_line=end)).split("\n")
    assert lines[0] == f"{first} | line {first:7}"
    assert lines[-2] == f"{last} | line {last:7}"
    assert lines[-1] == footer


@pytest.mark.slow
async def test_a_large_file_in_utf_16_is_read_and_searched(say, workspace: Path):
    lines = [f"строка {number}" for number in range(700_000)]
    (workspace / "large.log").write_bytes("\r\n".join(["\ufeff", *lines]).encode("utf-16-be"))
    assert await say("read_file", path="large.log", start_line=600_002, end_line=600_002) == (
        "600002 | строка 600000\n[lines 600002-600002 of 700001; read on with start_line=600003; encoding utf-16-be]"
    )
    found = await say("search_files", regex="строка 69999[78]", context=0)
    assert found == "large.log\n699999: строка 699997\n700000: строка 699998"


async def test_a_large_file_that_is_no_text_is_not_read(say, workspace: Path):
    (workspace / "large.bin").write_bytes(b"one\n" * 6_000_000 + b"\0")
    with pytest.raises(ToolFailure, match=r"large\.bin is too large: binary files"):
        await say("read_file", path="large.bin")


async def test_one_endless_line_is_cut(say, workspace: Path):
    (workspace / "line").write_bytes(b"x" * 21_000_000 + b"\ntwo\n")
    assert (await say("read_file", path="line", start_line=1)).startswith("1 | xxx")
    assert await say("read_file", path="line", start_line=2) == "2 | two\n[lines 2-2 of 2]"


async def test_a_large_file_in_another_encoding_says_so(say, workspace: Path):
    (workspace / "old").write_bytes(b"caf\xe9 and more\n" * 1_600_000)
    assert (await say("read_file", path="old", start_line=1_500_000, end_line=1_500_000)) == (
        "1500000 | café and more\n[lines 1500000-1500000 of 1600000; read on with start_line=1500001; encoding cp1252]"
    )


async def test_a_near_name_in_the_folder_itself_is_meant_before_one_elsewhere(say, workspace: Path):
    for name in ("a/module_3_component.ts", "b/module_3_componnts.ts"):
        (workspace / name).parent.mkdir()
        (workspace / name).touch()
    with pytest.raises(ToolFailure, match=r"Did you mean a/module_3_component\.ts\?"):
        await say("read_file", path="a/module_3_componnt.ts")
    with pytest.raises(ToolFailure, match=r"missing/zzz\.md does not exist\. Use list_files to see what \. holds\."):
        await say("read_file", path="missing/zzz.md")


async def test_what_cannot_be_read_says_why(say, workspace: Path):
    (workspace / "loop").symlink_to("loop")
    (workspace / "nul.log").write_bytes(b"a line\n" * 100 + b"\0\0")
    with pytest.raises(ToolFailure, match="leads in a circle"):
        await say("read_file", path="loop")
    with pytest.raises(ToolFailure, match=r"search_files with path=nul\.log"):
        await say("read_file", path="nul.log")
    assert await say("list_files") == "loop\nnul.log"
