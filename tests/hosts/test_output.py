from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halocline.hosts.output import Capture, Spool, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Btext\x1b7", "text"),
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("10%\r50%\r", "50%"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("bell\a and \x00nul", "bell and nul"),
        ("\x9b31mred", "31mred"),
        ("\x1b]unfinished\nnext", "\nnext"),
    ],
)
def test_text_is_shown_as_a_terminal_would_leave_it(text: str, shown: str):
    assert plain(text) == shown


@given(st.text())
def test_no_escape_passes(text: str):
    assert not set(plain(f"\x1b[{text}\r{text}")) & {"\x1b", "\x9b", "\a", "\b", "\x00", "\r"}


def captured(tmp_path: Path, chunks: list[bytes], budget: int = 100, cap: int = 10_000) -> tuple[str, str]:
    capture = Capture(budget, spool := Spool(tmp_path / "spool", cap))
    for chunk in chunks:
        capture.feed(chunk)
    return capture.finish(), spool.path


def test_short_output_is_whole_and_needs_no_file(tmp_path: Path):
    assert captured(tmp_path, [b"one\n", b"two\n"]) == ("one\ntwo\n", "")
    assert not (tmp_path / "spool").exists()


@given(st.lists(st.binary(max_size=80), max_size=30))
def test_the_copy_is_whole_whatever_the_chunks(tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes]):
    chunks = [chunk.replace(b"\0", b".") for chunk in chunks]
    text, path = captured(tmp_path_factory.getbasetemp(), chunks)
    whole = b"".join(chunks)
    if path:
        assert Path(path).read_bytes() == whole
    else:
        assert text == plain(whole.decode("utf-8", "replace"))


@pytest.mark.parametrize("size", [101, 300, 401, 5_000])
def test_long_output_keeps_its_head_and_tail(tmp_path: Path, size: int):
    text, path = captured(tmp_path, [b"H" * 50, b"x" * (size - 100), b"T" * 50])
    head, gap, tail = text.split("\n")
    assert (head, tail) == ("H" * 50, "T" * 50)
    assert f"the middle of {size:,} bytes is cut; a copy is in {path}" in gap


def test_the_copy_ends_at_its_cap_and_says_so(tmp_path: Path):
    text, path = captured(tmp_path, [b"x" * 600] * 50, cap=1_000)
    assert Path(path).stat().st_size == 1_000
    assert "a copy of the first 1,000 bytes is in" in text


def test_a_copy_that_cannot_be_kept_does_not_stop_the_capture(tmp_path: Path):
    (tmp_path / "spool").write_text("a file in the way")
    text, path = captured(tmp_path, [b"x" * 5_000])
    assert path == ""
    assert "no copy could be kept" in text


def test_binary_output_is_named_and_kept(tmp_path: Path):
    text, path = captured(tmp_path, [b"\x7fELF", b"\0\1"])
    assert text == f"[binary output, 6 bytes, not shown; a copy is in {path}]\n"
    assert Path(path).read_bytes() == b"\x7fELF\0\1"
