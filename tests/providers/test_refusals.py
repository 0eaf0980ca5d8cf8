import json
import re
import tomllib
from datetime import datetime
from pathlib import Path

import pytest
from tests.providers.streams import endpoint
from tests.tables import for_each

from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.providers import errors
from halocline.providers.errors import classify_in_stream, classify_refusal
from halocline.providers.waits import describe_end, wait_asked

Kind = ModelErrorKind
TABLE = tomllib.loads(Path(errors.__file__).with_name("refusals.toml").read_text(encoding="utf-8"))
KINDS = {
    "too_long": Kind.CONTEXT_EXCEEDED,
    "used_up": Kind.QUOTA,
    "no_credit": Kind.QUOTA,
    "rate_limit": Kind.RATE_LIMIT,
    "rate_of_a_minute": Kind.RATE_LIMIT,
    "no_tools": Kind.NO_TOOLS,
    "picture": Kind.PICTURE,
    "blocked": Kind.BLOCKED,
    "blocking_page": Kind.BLOCKED,
    "sign_in_page": Kind.BLOCKED,
    "overloaded": Kind.OVERLOADED,
    "key": Kind.AUTH,
    "part": Kind.INVALID_REQUEST,
    "field": Kind.INVALID_REQUEST,
    "unnamed_field": Kind.INVALID_REQUEST,
    "other": Kind.INVALID_REQUEST,
}
ROWS = [(group, row) for group, rows in TABLE.items() for row in rows]
PAGES = ("blocking_page", "sign_in_page")
NOW = 1_800_000_000.0


def plain(words):
    return words.encode()


def as_openai(words):
    return json.dumps({"error": {"message": words, "type": "invalid_request_error", "code": None}}).encode()


def behind_openrouter(words):
    raw = json.dumps({"error": {"message": words}})
    error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw, "provider_name": "Upstream"}}
    return json.dumps({"error": error}).encode()


def behind_litellm(words):
    inner = json.dumps({"error": {"message": words, "type": "invalid_request_error"}}, indent=2)
    message = f"litellm.BadRequestError: OpenAIException - {inner}. Received Model Group=mine"
    return json.dumps({"error": {"message": message, "type": None, "param": None, "code": "400"}}).encode()


def test_every_group_of_words_is_one_that_is_asked_about():
    assert set(TABLE) == set(KINDS)
    asked = {rule.words for rule in errors.read_answers().rule if rule.words}
    assert asked == set(KINDS) - {"part", "field", "unnamed_field", "other"}


@for_each("group, row", ROWS)
def test_every_known_wording_has_a_source_and_its_own_words_match_its_example(group, row):
    assert row["source"].startswith("https://")
    assert row["by"]
    if group != "other":
        assert re.search(row["words"], row["example"], re.IGNORECASE)


@for_each("wrapped", [plain, as_openai, behind_openrouter, behind_litellm])
@for_each("group, row", ROWS)
def test_every_known_wording_is_understood_also_behind_a_gateway(group, row, wrapped):
    body = wrapped(row["example"])
    error = classify_refusal(row.get("status", 400), body, {}, endpoint())
    is_known = group not in PAGES or wrapped is plain  # a page that a server speaks of is none
    assert is_known == (error.kind is KINDS[group]), error.text
    assert "Provider returned error" not in error.text
    assert error.hint


def said(message, **more):
    return {"error": {"message": message, **more}}


NO_TOOLS = [
    (400, said("tools is not supported in this model")),
    (400, said("Unrecognized request argument supplied: tools")),
    (400, said("Additional properties are not allowed ('tools' was unexpected)")),
    (400, 'json: unknown field "tools"'),
    (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]}),
    (422, "Bad Request: unexpected key `tools`"),
    (400, said("tool use is not enabled for your account")),
    (501, "tools: not implemented"),
    (400, said("Invalid parameter: 'tools' of type 'function' is not allowed here")),
    (400, {"message": "Werkzeuge werden nicht unterstützt", "param": "tools"}),
    (400, {"errors": [{"field": "tools", "reason": "unsupported"}]}),
    (403, said("Function calling not allowed")),
    (400, {"type": "error", **said("tools: Extra inputs are not permitted")}),
    (400, said("Unknown parameter: 'tools'.", param="tools")),
    (400, said("Unexpected role 'tool'")),
    (500, said("Jinja template error: Unexpected role 'tool'")),
]
OTHER_THAN_TOOLS = [
    said("Invalid 'tools': array too long. Expected an array with maximum length 128.", param="tools"),
    said("Invalid schema for function 'x': no type.", param="tools"),
    said("Invalid 'tools[0].function.name': string too long.", param="tools[0].function.name"),
    said("Unknown parameter: 'tools[0].strict'.", param="tools[0].strict"),
    said("Unknown parameter: 'tools.strict'."),
    said("tools: Tool names must be unique."),
    said("tools.3.custom.input_schema: Extra inputs are not permitted"),
    said("body.tools.0.strict: Extra inputs are not permitted"),
    said("An assistant message with 'tool_calls' must be followed by tool messages"),
    said("json: unknown field `x`, expected one of `messages`, `tools`"),
]


@for_each("status, document", NO_TOOLS)
def test_tools_are_known_to_be_refused_in_many_words(status, document):
    body = document if isinstance(document, str) else json.dumps(document)
    assert classify_refusal(status, body.encode(), {}, endpoint()).kind is Kind.NO_TOOLS


@for_each("document", OTHER_THAN_TOOLS)
def test_what_is_about_one_tool_refuses_not_all(document):
    assert classify_refusal(400, json.dumps(document).encode(), {}, endpoint()).kind is Kind.INVALID_REQUEST


def test_what_a_validator_repeats_of_the_conversation_decides_nothing():
    said = "we talked about the context length, insufficient credit, and an invalid image"
    detail = {"type": "missing", "loc": ["body", "messages", 3], "msg": "Field required", "input": {"content": said}}
    error = classify_refusal(422, json.dumps({"detail": [detail]}).encode(), {}, endpoint())
    assert error.kind is Kind.INVALID_REQUEST
    assert "body.messages.3: Field required" in error.text
    assert "credit" not in error.text


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (behind_openrouter("Model supports at most 1 image per prompt."), "Upstream: Model supports at most 1 image"),
        (behind_litellm("The cause"), ": The cause"),
        ({"error": {"message": "Provider returned error", "metadata": {"raw": "The cause"}}}, ": The cause"),
        ({"errors": [{"code": 7003, "message": "The cause"}], "success": False}, ": The cause"),
        ({"message": '{"error":{"message":"{\\"error\\":{\\"message\\":\\"The cause\\"}}"}}'}, ": The cause"),
        ({"detail": [{"loc": ["body", "n"], "msg": "The cause", "type": "extra_forbidden"}]}, ": body.n: The cause"),
        (b"<html><head><title>502 Bad &amp; Gateway</title></head><body>nginx</body></html>", ": 502 Bad & Gateway"),
        ({"message": 'Braces {"a": 1} that are no message'}, 'Braces {"a": 1} that are no message'),
    ],
)
def test_the_innermost_message_is_shown(body, shown):
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    assert shown in classify_refusal(400, sent, {}, endpoint()).text


def test_a_page_in_place_of_an_answer_is_no_matter_of_the_key():
    page = b"<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head></html>"
    error = classify_refusal(403, page, {}, endpoint())
    assert error.kind is Kind.BLOCKED
    assert "key" not in error.text
    assert "Attention Required! | Cloudflare" in error.text
    assert "firewall" in error.hint


@for_each(
    "said, seconds",
    [
        ('{"error":{"details":[{"retryDelay": "34.5s"}]}}', 34.5),
        ('{"error":{"type":"usage_limit_reached","resets_in_seconds":529498}}', 529_498),
        ('{"error":{"resets_at":1800000060}}', 60),
        ("5-hour usage limit reached, resets at 2027-01-15T08:10:00Z (2056)", 600),
        ("Please try again in 7m12.5s.", 432.5),
        ("Please try again in 20s. Visit the page", 20),
        ("Please try again in 880ms.", 0.88),
        ("Please try again in 58 hours. Please review our terms", 58 * 3600),
        ("You reached the limit. Try again in 3 hours, 17 minutes, 52 seconds.", 3 * 3600 + 17 * 60 + 52),
        ("Monthly usage limit reached. Resets in 16 days. To continue", 16 * 86_400),
        ("Please wait 2 minutes before trying again", 120),
        ("It resets at 2027-99-99T08:10:00Z", None),
        ("Your limit will reset at 2026-01-03 21:20:03", None),
        ("Try again later.", None),
        ("retry in a while", None),
        ("", None),
    ],
)
def test_the_wait_in_a_servers_words_is_read(said, seconds):
    assert wait_asked({}, said, NOW) == seconds


@pytest.mark.parametrize(("status", "wait", "kind"), [(429, 11_180, Kind.QUOTA), (429, 120, Kind.RATE_LIMIT)])
def test_a_wait_of_more_than_minutes_is_not_sat_out(status, wait, kind):
    error = classify_refusal(status, b'{"error":{"message":"Slow down"}}', {"retry-after": str(wait)}, endpoint())
    assert error.kind is kind
    assert error.retry_after == wait
    assert ("asks you to wait until" in error.text) is (kind is Kind.QUOTA)


@for_each(
    "status, words, shown",
    [
        (429, "slow down", "Anthropic asks you to wait for more than a year"),
        (429, "usage limit reached", "Your plan with Anthropic is used up for more than a year"),
        (402, "no money", "Your Anthropic account is out of credit"),
        (429, "Insufficient Balance", "Your Anthropic account is out of credit"),
    ],
)
def test_a_plan_is_spoken_of_only_where_the_server_does(status, words, shown):
    error = classify_refusal(status, words.encode(), {"retry-after": "999999999999"}, endpoint())
    assert error.text.startswith(shown)


def test_the_end_of_a_wait_is_named_in_local_time():
    noon = datetime(2027, 5, 3, 12, 0).astimezone().timestamp()
    assert describe_end(8_400, noon) == "until 14:20"
    assert describe_end(86_400, noon) == "until 4 May, 12:00"
    assert describe_end(1e15, noon) == "for more than a year"


HIDDEN = "a\u202eb\u200bc\x1b[2Jd\x07e\x9bf\U000e0041g"


def page(words):
    return f"<html><title>{words}</title></html>".encode()


@for_each("status", [400, 401, 403, 404, 429, 500])
@for_each("wrapped", [plain, as_openai, behind_openrouter, behind_litellm, page])
def test_a_person_reads_nothing_hidden_in_the_words_of_a_server(wrapped, status):
    for error in (
        classify_refusal(status, wrapped(HIDDEN), {}, endpoint()),
        classify_refusal(302, b"", {"location": f"https://{HIDDEN}/"}, endpoint()),
        classify_in_stream({"message": HIDDEN, "code": status}, endpoint()),
        ModelError(Kind.SERVER, HIDDEN),
    ):
        assert error.text.isprintable()
        assert "[2J" not in error.text
        assert str(error) == error.text


def test_long_words_of_a_server_are_cut_behind_one_of_them():
    error = classify_refusal(400, as_openai("seven letters " * 90), {}, endpoint())
    assert error.text.endswith((" seven…", " letters…"))
    assert len(error.text) < 400


def test_a_body_without_words_is_looked_through_once_however_deep_it_is():
    body = {f"k{number}": {} for number in range(4_000)}
    for _ in range(11):
        body = {"error": body}
    error = classify_refusal(
        400, json.dumps(body).encode(), {}, endpoint()
    )  # visits of 2^11 times as many took minutes
    assert error.kind is Kind.INVALID_REQUEST
