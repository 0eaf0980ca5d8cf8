from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from tests.tables import for_each

from halocline.providers.sse import EventParser, LineParser


def payloads(*chunks: bytes) -> list[bytes]:
    parser = EventParser()
    return [payload for chunk in chunks for payload in parser.feed(chunk)]


@for_each(
    "stream, expected",
    [
        (b"data: one\n\n", [b"one"]),
        (b"data:one\n\n", [b"one"]),
        (b"data:  one\n\n", [b" one"]),
        (b"data: one\r\n\r\n", [b"one"]),
        (b"data: one\r\rdata: two\r\r", [b"one", b"two"]),
        (b"data: one\ndata: two\n\n", [b"one\ntwo"]),
        (b"data\n\n", [b""]),
        (b"data: \n\n", [b""]),
        (b"\xef\xbb\xbfdata: one\n\n", [b"one"]),
        (b"event: delta\nid: 7\ndata: one\n\n", [b"one"]),
        (b": a comment\n\n: another\ndata: one\n\n", [b"one"]),
        (b"\n\n\n\ndata: one\n\n\n\n", [b"one"]),
        (b"event: nothing\n\n", []),
        (b"dataset: other\n\n", []),
        (b"data: unfinished\n", []),
        (b'data: {"a": 1}\ndata: {"b": 2}\n\n', [b'{"a": 1}', b'{"b": 2}']),
        (b'data: {"a": 1}\ndata: {"b": 2}\ndata: {', [b'{"a": 1}']),
        (b"event: x\ndata: {}\n: c\nevent: y\ndata: [DONE]\n\n", [b"{}", b"[DONE]"]),
        (b'data: {"a": {}\ndata: }\n\n', [b'{"a": {}\n}']),
        (b"data: {\ndata: }\n\n", [b"{\n}"]),
    ],
)
def test_events_are_read_as_the_standard_says(stream: bytes, expected: list[bytes]) -> None:
    assert payloads(stream) == expected


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b'data: {"a": 1}', [b'{"a": 1}']),
        (b'data: {"a": 1}\n', [b'{"a": 1}']),
        (b'data: {"a": 1}\ndata: [DONE]\n', [b'{"a": 1}', b"[DONE]"]),
        (b'data: {"a":', []),
        (b"data: words", []),
        (b"", []),
    ],
)
def test_the_end_of_a_stream_is_the_end_of_a_whole_event(stream: bytes, expected: list[bytes]) -> None:
    parser = EventParser()
    assert parser.feed(stream) + parser.rest() == expected


@pytest.mark.parametrize(("stream", "expected"), [(b'{"a": 1}', [b'{"a": 1}']), (b'{"a":', []), (b"", [])])
def test_the_last_line_needs_no_end(stream: bytes, expected: list[bytes]) -> None:
    parser = LineParser()
    assert parser.feed(b"{}\n" + stream) + parser.rest() == [b"{}", *expected]


PIECES = st.sampled_from(
    [
        b"data: x",
        b"data: {}",
        b"data: {}\n",
        b"data:y\n",
        b"\n",
        b"\r",
        b"\r\n",
        b"\xef\xbb\xbf",
        b": c\n",
        b"event: e\n",
        b"data",
        b"\n\n",
        b"\xff",
    ]
)


@given(st.lists(PIECES, max_size=20).map(b"".join), st.lists(st.integers(0, 60), max_size=12))
def test_any_cutting_of_the_same_bytes_gives_the_same_events(stream: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    chunks = [stream[start:end] for start, end in pairwise(places)]
    assert payloads(*chunks) == payloads(stream)


@given(st.lists(PIECES, max_size=20).map(b"".join))
def test_single_bytes_give_the_same_events_as_the_whole(stream: bytes) -> None:
    assert payloads(*(stream[at : at + 1] for at in range(len(stream)))) == payloads(stream)


@given(st.lists(st.binary(min_size=1, max_size=30).filter(lambda data: not set(data) & {10, 13}), max_size=6))
def test_what_was_sent_as_data_comes_back(sent: list[bytes]) -> None:
    assert payloads(b"".join(b"data: %s\n\n" % data for data in sent)) == sent
