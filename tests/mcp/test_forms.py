import pytest

from halocline.mcp.requests.forms import MOST_FIELDS, Unfit, fields_of


def field(**schema):
    (one,) = fields_of({"type": "object", "properties": {"it": schema}})
    return one


@pytest.mark.parametrize(
    ("schema", "given", "sent"),
    [
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "false", False),
        ({"type": "integer", "minimum": 3}, "3", 3),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]}, "Second", "b"),
        ({"type": "string", "oneOf": [{"const": "x", "title": "An X"}]}, "An X", "x"),
        ({"type": "array", "items": {"anyOf": [{"const": "1", "title": "One"}]}}, "One, One", ["1"]),
        ({"type": "string", "format": "date"}, "2026-11-21", "2026-11-21"),
        ({"type": "string"}, "  kept as it is ", "  kept as it is "),
    ],
)
def test_an_answer_is_sent_as_its_field_wants_it(schema, given, sent):
    assert field(**schema).value(given) == sent


@pytest.mark.parametrize(
    ("schema", "given", "why"),
    [
        ({"type": "boolean"}, "perhaps", "yes or no"),
        ({"type": "integer"}, "2.5", "a whole number"),
        ({"type": "number"}, "nan", "a number"),
        ({"type": "number", "maximum": 4}, "5", "at most 4"),
        ({"type": "string", "enum": ["a", "b"]}, "c", "one of a, b"),
        ({"type": "array", "minItems": 2, "items": {"enum": ["a", "b"]}}, "a", "choose at least 2"),
        ({"type": "string", "minLength": 3}, "ab", "at least 3 characters"),
        ({"type": "string", "format": "email"}, "me@home", "an email address"),
        ({"type": "string", "format": "uri"}, "example.org", "with its scheme"),
        ({"type": "string", "format": "date-time"}, "noon", "a date and time"),
    ],
)
def test_an_answer_that_does_not_fit_is_not_sent_and_why_is_said(schema, given, why):
    with pytest.raises(Unfit, match=why):
        field(**schema).value(given)


def test_what_a_server_proposes_is_on_offer_first_in_the_words_that_people_see():
    assert field(
        type="string", oneOf=[{"const": "x", "title": "X"}, {"const": "y", "title": "Y"}], default="y"
    ).options == ("Y", "X")
    assert field(type="boolean", default=False).options == ("no", "yes")
    assert field(type="integer", default=42).options == ("42",)


@pytest.mark.parametrize(
    "properties", [{"it": {"type": "object"}}, {"it": 7}, {str(n): {} for n in range(MOST_FIELDS + 1)}, ["it"]]
)
def test_a_form_that_is_not_flat_or_has_no_end_is_none(properties):
    assert fields_of({"properties": properties}) is None
