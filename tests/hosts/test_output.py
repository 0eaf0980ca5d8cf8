from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from halocline.hosts.shell.output import Capture, Progress, Redraws, Spool, plain_output


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
    assert plain_output(text) == shown


@given(st.text())
def test_no_escape_passes(text: str):
    assert not set(plain_output(f"\x1b[{text}\r{text}")) & {"\x1b", "\x9b", "\a", "\b", "\x00", "\r"}


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
        assert text == plain_output(whole.decode("utf-8", "replace"))


@pytest.mark.parametrize("size", [101, 300, 401, 5_000])
def test_long_output_keeps_its_head_and_tail(tmp_path: Path, size: int):
    text, path = captured(tmp_path, [b"H" * 50, b"x" * (size - 100), b"T" * 50])
    head, gap, tail = text.split("\n")
    assert (head, tail) == ("H" * 50, "T" * 50)
    where = f"{path} has all of it; use read_file, search_files or commands on it"
    said = f"the middle of {size:,} bytes is left out here; {where}"
    assert gap == f"[… {said} …]"


def test_the_copy_ends_at_its_cap_and_says_so(tmp_path: Path):
    text, path = captured(tmp_path, [b"x" * 600] * 50, cap=1_000)
    assert Path(path).stat().st_size == 1_000
    assert f"{path} has the first 1,000 bytes;" in text


def test_a_copy_that_cannot_be_kept_does_not_stop_the_capture(tmp_path: Path):
    (tmp_path / "spool").write_text("a file in the way")
    text, path = captured(tmp_path, [b"x" * 5_000])
    assert path == ""
    assert "no copy could be saved" in text


def test_binary_output_is_named_and_kept(tmp_path: Path):
    text, path = captured(tmp_path, [b"\x7fELF", b"\0\1"])
    where = f"{path} has all of it; use read_file, search_files or commands on it"
    assert text == f"[binary output, 6 bytes, not shown; {where}]\n"
    assert Path(path).read_bytes() == b"\x7fELF\0\1"


@given(st.lists(st.sampled_from([b"a", b"bc", b"\r", b"\n", b"\r\n", b"x\ry"]), max_size=25), st.integers(1, 7))
def test_redraws_leave_what_a_terminal_would_show_whatever_the_chunks(parts: list[bytes], size: int):
    data = b"".join(parts)
    redraws = Redraws()
    chunks = [redraws.feed(data[at : at + size]) for at in range(0, len(data), size)]
    assert plain_output((b"".join(chunks) + redraws.flush()).decode()) == plain_output(data.decode())


def test_a_progress_bar_does_not_push_the_words_around_it_out(tmp_path: Path):
    bar = b"".join(b"\r%d%%" % number for number in range(5_000))
    text, path = captured(tmp_path, [b"begin\n", bar, b"\nend\n"], cap=100_000)
    assert text == "begin\n4999%\nend\n"
    assert Path(path).read_bytes() == b"begin\n" + bar + b"\nend\n"


def test_what_was_taken_is_not_given_again(tmp_path: Path):
    capture = Capture(100, Spool(tmp_path, 10_000))
    capture.feed(b"one\n")
    assert capture.take() == "one\n"
    assert capture.take() == ""
    capture.feed(b"two\n")
    assert capture.newest(2) == "wo"
    assert capture.unread == 4
    assert capture.finish() == "two\n"


@pytest.mark.parametrize("character", ["é", "€", "😀", "\x1b[31m"])
def test_what_is_cut_in_two_by_a_look_comes_whole_with_the_next(tmp_path: Path, character: str):
    data = character.encode()
    for cut in range(1, len(data)):
        capture = Capture(100, Spool(tmp_path, 10_000))
        capture.feed(b"x" + data[:cut])
        assert capture.take() == "x"
        capture.feed(data[cut:] + b"y")
        assert capture.finish() == plain_output(character) + "y"


def test_every_look_is_bounded_and_the_copy_goes_on(tmp_path: Path):
    capture = Capture(100, spool := Spool(tmp_path, 10_000))
    for letter in (b"a", b"b"):
        capture.feed(letter * 1_000)
        text = capture.take()
        assert len(text) < 300 + len(spool.path)
        assert spool.path in text
    capture.close()
    assert Path(spool.path).read_bytes() == b"a" * 1_000 + b"b" * 1_000


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH "])
async def test_the_rest_of_a_private_key_whose_beginning_is_lost_is_not_passed_on(kind: str):
    said: list[str] = []
    progress = Progress(said.append)
    progress.feed(f"-----BEGIN {kind}PRIVATE KEY-----\n".encode() + b"A" * 64 + b"\n")
    progress.feed(b"BBBB\n" * 1_000 + f"-----END {kind}PRIVATE KEY-----\nafter\n".encode())
    progress.flush()
    assert said == ["after\n"]


async def test_output_that_comes_too_fast_begins_with_a_whole_line():
    said: list[str] = []
    progress = Progress(said.append)
    progress.feed(b"a line of text\n" * 1_000)
    progress.flush()
    assert set("".join(said).splitlines()) == {"a line of text"}
