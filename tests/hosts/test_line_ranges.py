import random
from io import BytesIO

import pytest
from tests.samples import choose

from halocline.edits.text import decode_text
from halocline.hosts.files.line_ranges import PIECE, read_lines


def text_of(seed: int) -> bytes:
    """Lines of all lengths, some longer than a piece, some ending at its very end."""
    luck = random.Random(seed)
    lines = [
        b"x" * luck.choice([0, 1, 30, 5_000, PIECE // 3, PIECE - 1, PIECE + 7]) for _ in range(luck.randrange(1, 40))
    ]
    return b"\n".join(lines) + b"\n" * luck.randrange(2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(choose(30, 10)))
def test_any_lines_of_any_file_are_those_of_the_file_read_whole(seed: int):
    data = text_of(seed)
    lines = data.split(b"\n")[: -1 if data.endswith(b"\n") else None]
    luck = random.Random(seed)
    for _ in range(10):
        first = luck.randrange(1, len(lines) + 1)
        last = luck.randrange(first, len(lines) + 3)
        found = read_lines(BytesIO(data), first, last, len(data))
        assert (found.first, found.total) == (first, len(lines))
        assert found.data.split(b"\n")[: last - first + 1] == lines[first - 1 : last] + [b""] * (
            found.data.endswith(b"\n") and last > len(lines)
        )


@pytest.mark.parametrize(
    "data", [b"caf\xc3\xa9\n", b"caf\xe9\n", b"\x81\n", b"\xef\xbb\xbfone\n", b"", b"one", b"\xc3\n\xa9", b"x\xc3"]
)
@pytest.mark.parametrize("far", [0, PIECE - 1, PIECE, 3 * PIECE])
def test_the_encoding_is_that_of_the_whole_file_however_far_off_the_odd_byte_is(data: bytes, far: int):
    whole = b"\n" * far + data
    assert read_lines(BytesIO(whole), 1, 1, 10).encoding == decode_text(whole).encoding


def test_what_has_nul_characters_anywhere_is_no_text():
    assert read_lines(BytesIO(b"one\n" * PIECE + b"\0"), 1, 1, 10).encoding == ""


@pytest.mark.parametrize(("first", "last", "found"), [(-5, 2, 1), (0, 2, 1), (9, 20, 3)])
def test_lines_that_are_not_there_are_those_at_the_end_that_is_nearer(first: int, last: int, found: int):
    assert read_lines(BytesIO(b"a\nb\nc\n"), first, last, 100).first == found


def test_no_more_than_the_limit_is_kept():
    assert read_lines(BytesIO(b"0123456789"), 1, 1, 4).data == b"0123"
    assert read_lines(BytesIO(b"01\n34\n67\n"), 1, 3, 4).data == b"01\n3"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(("first", "last", "text", "at"), [(2, 3, "ъ\r\nĊ\n", 2), (4, 9, "😀", 4), (9, 9, "😀", 4)])
def test_lines_of_a_file_with_a_mark_are_read_in_its_encoding(encoding: str, first: int, last: int, text: str, at: int):
    data = "\ufeffa\nъ\r\nĊ\n😀".encode(encoding)
    found = read_lines(BytesIO(data), first, last, 100)
    assert (found.data.decode(encoding), found.first, found.total) == (text, at, 4)
    assert found.encoding == decode_text(data).encoding == encoding


def test_what_is_not_in_the_encoding_of_its_mark_is_no_text():
    assert read_lines(BytesIO("\ufeffa\n".encode("utf-16-le") + b"\x00\xd8"), 1, 1, 10).encoding == ""
