import json

import pytest

from halocline.importers import json_stream

ROWS = [{"a": '[{"x": "\\"}]"}'}, {"b": [{"c": {}}, "}"]}, {"d": "ü" * 50}]


def test_the_objects_of_an_array_come_one_by_one(tmp_path):
    file = tmp_path / "a.json"
    file.write_text(json.dumps(ROWS, indent=2))
    assert list(json_stream.read_elements(file)) == ROWS


def test_the_objects_under_a_key_come_one_by_one(tmp_path):
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"tools": [{"messages": [{"no": 1}]}], "messages": ROWS, "more": [{}]}))
    assert list(json_stream.read_elements(file, "messages")) == ROWS


def test_a_torn_array_gives_what_is_whole_and_says_that_it_is_torn(tmp_path):
    file = tmp_path / "a.json"
    data = json.dumps(ROWS).encode()
    for end in range(1, len(data)):
        file.write_bytes(data[:end])
        *whole, last = json_stream.read_elements(file)
        assert (whole, last) == (ROWS[: len(whole)], None)


@pytest.mark.parametrize("data", [b"", b"null", b'"text"', b"]]}}", b"\xff\xfe[[[[", b"[1, 2]", b'"open'])
def test_what_is_no_array_of_objects_has_none(data, tmp_path):
    file = tmp_path / "a.json"
    file.write_bytes(data)
    assert [row for row in json_stream.read_elements(file) if row is not None] == []


def test_pieces_that_cross_the_chunks_are_whole(tmp_path):
    file = tmp_path / "a.json"
    rows = [{"n": number, "text": 'x\\"{[' * (number % 7) * 9_000} for number in range(60)]
    file.write_text(json.dumps(rows))
    assert file.stat().st_size > 2 * json_stream.CHUNK
    assert list(json_stream.read_elements(file)) == rows


def test_lines_that_are_no_objects_are_none(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"a": 1}\n\nnot json\n[1]\n\xff\n{"b": 2}')
    assert list(json_stream.read_lines(file)) == [{"a": 1}, None, None, None, {"b": 2}]


def test_the_head_of_a_file_ends_after_so_many_objects_or_so_many_bytes(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text("torn\n" + "".join(json.dumps({"n": number, "text": "x" * 1000}) + "\n" for number in range(900)))
    assert [one["n"] for one in json_stream.read_head(file, 3)] == [0, 1, 2]
    assert len(json_stream.read_head(file, 900)) < json_stream.HEAD / 1000 + 2
    assert json_stream.read_head(tmp_path / "missing", 3) == []
