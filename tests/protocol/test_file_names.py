import msgspec
from hypothesis import given, strategies as st

from halocline.protocol import codec
from halocline.protocol.events import Noticed, TodosChanged
from halocline.protocol.file_names import make_encodable, make_printable
from halocline.protocol.json_output import encode
from halocline.protocol.messages import Note

ANY = st.text(st.characters())
"""Lone surrogates and control characters as well."""
NAMES = st.binary().map(lambda name: name.decode("utf-8", "surrogateescape"))


@given(ANY | NAMES)
def test_a_printable_name_is_one_line_that_can_be_encoded(name):
    shown = make_printable(name)
    assert shown.isprintable()
    shown.encode()


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp", "Co", "Cn", "Zs"])))
def test_a_name_that_can_be_shown_is_shown_as_it_is(name):
    assert make_printable(name) == name == make_encodable(name)


@given(st.recursive(ANY, lambda inner: st.lists(inner) | st.dictionaries(ANY, inner)))
def test_json_is_written_of_any_text(value):
    encode(value).decode()


@given(ANY)
def test_json_of_plain_text_is_what_msgspec_writes(text):
    text = make_encodable(text)
    assert encode([text]) == msgspec.json.encode([text])


@given(ANY | NAMES)
def test_an_event_of_any_text_is_a_line_that_is_read_again(text):
    event = TodosChanged(todos=(), by="person", content=(Note(text, "x"),))
    line = codec.encode(event)
    assert b"\n" not in line
    assert codec.decode(line) == TodosChanged(todos=(), by="person", content=(Note(make_encodable(text), "x"),))


@given(ANY)
def test_what_is_shown_and_never_written_can_be_encoded_too(text):
    assert msgspec.json.decode(codec.encode(Noticed(text)))["text"] == make_encodable(text)
