from collections.abc import Iterable, Sequence
from itertools import pairwise, repeat
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.net.raw_server import EMPTY, STREAM_HEAD

from halocline.net.connection import Answer, ProtocolError

OK = b"HTTP/1.1 200 OK\r\n"
LAST = b"0\r\n\r\n"
RECORDED = sorted((Path(__file__).parents[1] / "providers" / "recorded").glob("*/*.http"))
TOLD = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok",
    STREAM_HEAD + b"3;name=value\r\none\r\n00004\r\n,two\r\n0\r\nTrailer: x\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nall of it",
    b"HTTP/1.1 204 No Content\r\n\r\n",
)


def told(parts: Iterable[bytes]) -> Answer:
    answer = Answer()
    for part in parts:
        answer.feed(part)
    return answer


def cut(data: bytes, places: Iterable[int]) -> Sequence[bytes]:
    ends = [0, *sorted({place for place in places if 0 < place < len(data)}), len(data)]
    return [data[start:end] for start, end in pairwise(ends)]


@given(st.data())
def test_any_cutting_tells_the_same_answer(data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from([*TOLD, *(path.read_bytes() for path in RECORDED)]))
    places = data.draw(st.lists(st.integers(1, len(whole) - 1), max_size=30))
    one, many = told([whole]), told(cut(whole, places))
    assert (many.status, many.headers, many.complete) == (one.status, one.headers, one.complete)
    assert many.take() == one.take()
    assert many.leaves_connection == one.leaves_connection


@pytest.mark.parametrize("answer", TOLD)
def test_an_answer_may_be_cut_at_any_byte(answer: bytes) -> None:
    whole = told([answer])
    for place in range(1, len(answer)):
        parts = told(cut(answer, [place]))
        assert (parts.status, parts.headers, parts.take()) == (whole.status, whole.headers, b"".join(whole.pieces))


def test_a_body_is_its_chunks_without_their_extensions_and_trailers() -> None:
    answer = told([TOLD[1]])
    assert (answer.take(), answer.take(), answer.complete) == (b"one,two", b"", True)
    assert answer.headers == {"transfer-encoding": "chunked"}


def test_headers_are_those_of_the_answer_itself() -> None:
    answer = told([TOLD[0]])
    assert (answer.status, answer.headers) == (200, {"content-length": "2"})


def test_a_header_has_a_name_in_lower_case_and_a_value_without_blanks_around_it() -> None:
    answer = told([OK + b"X-One:  a b\t \r\nEmpty:\r\nLatin: gr\xfcn\r\n\r\n"])
    assert answer.headers == {"x-one": "a b", "empty": "", "latin": "gr\xfcn"}


@pytest.mark.parametrize(
    ("said", "leaves"),
    [
        (EMPTY, True),
        (STREAM_HEAD + LAST, True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
        (OK + b"Connection: close\r\nContent-Length: 0\r\n\r\n", False),
        (OK + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + LAST, False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", True),
        (OK + b"\r\nno end", False),
        (STREAM_HEAD + b"3\r\none\r\n", False),
    ],
)
def test_a_connection_is_left_as_it_was_when_the_answer_is_whole_and_the_server_stays(
    said: bytes, leaves: bool
) -> None:
    assert told([said]).leaves_connection is leaves


@pytest.mark.parametrize("head", [EMPTY, STREAM_HEAD + LAST, OK + b"Connection: close\r\nContent-Length: 0\r\n\r\n"])
@pytest.mark.parametrize("more", [b"x", b"HTTP/1.1 200 OK\r\nX: forged\r\nContent-Length: 6\r\n\r\nforged"])
@pytest.mark.parametrize("together", [True, False])
def test_what_follows_an_answer_is_no_part_of_it(head: bytes, more: bytes, together: bool) -> None:
    answer = told([head + more] if together else [head, more])
    assert (answer.status, answer.take(), answer.exceeded, answer.leaves_connection) == (200, b"", True, False)
    assert "x" not in answer.headers


@pytest.mark.parametrize(
    "said",
    [
        OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        OK + b"X: a\r\n folded\r\n\r\n",
        OK + b"X : a\r\n\r\n",
        OK + b"X: a\x00b\r\n\r\n",
        STREAM_HEAD + b"3\r\nfour",
        STREAM_HEAD + b"0x3\r\none\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
    ],
)
def test_what_can_be_read_in_two_ways_or_in_none_is_refused(said: bytes) -> None:
    with pytest.raises(ProtocolError):
        told([said])


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n\x00",
        OK + b"Transfer-Encoding: gzip\r\n\r\n",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        OK + b"Transfer-Encoding: chunked, identity\r\n\r\n",
    ],
)
def test_a_head_that_tells_of_another_protocol_or_encoding_is_refused(head: bytes) -> None:
    with pytest.raises(ProtocolError):
        told([head]).check()


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (OK, b"X: " + b"y" * 10_000 + b"\r\n"),
        (OK + b"X: ", b"y" * 10_000),
        (b"", b"\r\n" * 1_000),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
        (STREAM_HEAD + b"0\r\nX: ", b"y" * 10_000),
        (STREAM_HEAD + b"3;x=", b"y" * 10_000),
    ],
)
def test_what_never_comes_to_the_point_is_given_up(start: bytes, more: bytes) -> None:
    with pytest.raises(ProtocolError, match="without an end"):
        told([start, *repeat(more, 1_000)])


def test_a_long_body_has_no_bound() -> None:
    answer = told([OK + b"Content-Length: 1000000\r\n\r\n"])
    for _ in range(100):
        answer.feed(b"y" * 10_000)
        assert len(answer.take()) == 10_000
    assert answer.complete


@pytest.mark.parametrize("said", [b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", STREAM_HEAD + b"2  \r\nok\r\n" + LAST])
def test_simple_servers_are_understood(said: bytes) -> None:
    assert told([said]).take() == b"ok"


def test_a_body_without_a_length_is_whole_with_the_end_of_the_connection() -> None:
    answer = told([OK + b"\r\nall of it"])
    answer.end()
    assert (answer.complete, answer.take(), answer.leaves_connection) == (True, b"all of it", False)


@pytest.mark.parametrize("said", [b"", OK, STREAM_HEAD, OK + b"Content-Length: 2\r\n\r\no", b"HTTP/1.1 100 Go\r\n\r\n"])
def test_any_other_answer_that_ends_with_the_connection_is_broken_off(said: bytes) -> None:
    answer = told([said])
    with pytest.raises(ConnectionError):
        answer.end()
