import pytest
from tests.providers.streams import endpoint
from tests.tables import for_each

from halocline.protocol.errors import ModelErrorKind
from halocline.providers.errors import classify_refusal
from halocline.providers.waits import retry_after

Kind = ModelErrorKind

NOW = 1_800_000_000.0
QUOTA_USED_UP = (
    '{{"error":{{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":['
    '{{"violations":[{{"quotaId":"{}","quotaValue":"10"}}]}},{{"retryDelay": "34.5s"}}]}}}}'
)


@for_each(
    "status, body, kind",
    [
        (401, '{"error":{"message":"Incorrect API key provided."}}', Kind.AUTH),
        (403, '{"error":{"message":"Your account may not use this."}}', Kind.AUTH),
        (402, "Payment required", Kind.QUOTA),
        (429, '{"error":{"code":"insufficient_quota","message":"You exceeded your current quota."}}', Kind.QUOTA),
        (400, '{"error":{"message":"Your credit balance is too low to access the API."}}', Kind.QUOTA),
        (403, '{"error":{"message":"Monthly spending limit reached"}}', Kind.QUOTA),
        (429, '{"error":{"message":"Rate limit reached for tokens per min. Add billing details."}}', Kind.RATE_LIMIT),
        (429, '{"error":{"message":"This request exceeds the limit of 30000 tokens per minute"}}', Kind.RATE_LIMIT),
        (413, '{"error":{"message":"Request too large: tokens per minute (TPM): limit 6000"}}', Kind.RATE_LIMIT),
        (400, '{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}', Kind.AUTH),
        (400, '{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}', Kind.AUTH),
        (400, '{"error":{"message":"The free tier is not available in your country. Enable billing."}}', Kind.QUOTA),
        (429, QUOTA_USED_UP.format("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"), Kind.RATE_LIMIT),
        (429, QUOTA_USED_UP.format("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), Kind.QUOTA),
        (429, '{"error":{"message":"Resource has been exhausted.","status":"RESOURCE_EXHAUSTED"}}', Kind.RATE_LIMIT),
        (400, "The input token count (3475108) exceeds the maximum number of tokens allowed.", Kind.CONTEXT_EXCEEDED),
        (400, "Function call is missing a thought_signature in functionCall parts.", Kind.INVALID_REQUEST),
        (404, '{"error":{"message":"model not found"}}', Kind.NOT_FOUND),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", Kind.CONTEXT_EXCEEDED),
        (400, "This model's maximum context length is 8192 tokens.", Kind.CONTEXT_EXCEEDED),
        (400, "the request exceeds the available context size", Kind.CONTEXT_EXCEEDED),
        (400, "input length and `max_tokens` exceed context limit", Kind.CONTEXT_EXCEEDED),
        (422, "Please reduce the length of the messages", Kind.CONTEXT_EXCEEDED),
        (
            400,
            "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
            Kind.CONTEXT_EXCEEDED,
        ),
        *(
            (status, f"Input validation error: `inputs` {words}", Kind.CONTEXT_EXCEEDED)
            for status in (400, 422)
            for words in (
                "tokens + `max_new_tokens` must be <= 2048. Given: 3474 `inputs` tokens and 60 `max_new_tokens`",
                "must have less than 1024 tokens. Given: 1168",
            )
        ),
        (413, "request_too_large", Kind.CONTEXT_EXCEEDED),
        (400, "max_tokens: 200000 > 64000, the maximum allowed number of output tokens", Kind.INVALID_REQUEST),
        (400, "messages: roles must alternate", Kind.INVALID_REQUEST),
        (422, "Extra inputs are not permitted", Kind.INVALID_REQUEST),
        (302, "", Kind.INVALID_REQUEST),
        (529, '{"error":{"type":"overloaded_error","message":"Overloaded"}}', Kind.OVERLOADED),
        (501, "", Kind.INVALID_REQUEST),
        (503, "", Kind.OVERLOADED),
        (500, "the model is overloaded", Kind.OVERLOADED),
        (500, "", Kind.SERVER),
        (502, "<html>Bad gateway</html>", Kind.SERVER),
        (408, "", Kind.SERVER),
        (599, "", Kind.SERVER),
    ],
)
def test_status_and_wording_decide_the_kind(status: int, body: str, kind: ModelErrorKind) -> None:
    error = classify_refusal(status, body.encode(), {}, endpoint())
    assert error.kind is kind
    assert error.status == status
    assert error.hint


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"error":{"message":"No such thing"}}', "No such thing"),
        (b'{"error":"No such thing"}', "No such thing"),
        (b'{"message":"No such thing"}', "No such thing"),
        (b'{"detail":[{"message":"No such thing"}]}', "No such thing"),
        (b'[{"error":{"message":"No such thing"}}]', "No such thing"),
        (b"<html><body>No\n such <b>thing</b></body></html>", "No such thing"),
    ],
)
def test_the_servers_own_words_are_found_in_any_shape(body: bytes, shown: str) -> None:
    assert shown in classify_refusal(400, body, {}, endpoint()).text


@for_each(
    "location, shown",
    [
        ("https://elsewhere.example/v1?token=hidden", "https://elsewhere.example:443;"),
        ("http://user:hidden@elsewhere.example:81/", "http://elsewhere.example:81;"),
        ("//elsewhere.example/hidden", "another address"),
        ("/hidden", "another address"),
        ("http://[hidden", "another address"),
        ("", "another address"),
    ],
)
@for_each("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_as_the_key_must_not_follow(status: int, location: str, shown: str) -> None:
    error = classify_refusal(status, b"Moved", {"location": location} if location else {}, endpoint())
    assert f"redirects to {shown}" in error.text
    assert "your key was not sent there" in error.text
    assert "hidden" not in error.text
    assert "--base-url" in error.hint
    assert not error.retryable


def test_long_words_are_shortened() -> None:
    assert len(classify_refusal(400, b"x" * 10_000, {}, endpoint()).text) < 500


def test_a_rejected_key_names_its_variable_and_never_shows_the_key() -> None:
    error = classify_refusal(
        401, b'{"error":{"message":"Key a-key-of-0123456789 is wrong"}}', {}, endpoint(key="a-key-of-0123456789")
    )
    assert "ANTHROPIC_API_KEY" in error.hint
    assert "0123456789" not in error.text + error.hint + repr(error) + repr(endpoint())
    assert "Key [redacted stored key] is wrong" in error.text


@for_each(
    "headers, seconds",
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT", "date": "Fri, 15 Jan 2027 08:00:20 GMT"}, 10.0),
        ({"x-ratelimit-reset": "1800000020", "date": "Fri, 15 Jan 2027 08:00:15 GMT"}, 5.0),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT", "date": "today"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"x-ratelimit-reset": "12"}, 12.0),
        ({"x-ratelimit-reset": "1800000020"}, 20.0),
        ({"x-ratelimit-reset": "1800000020000"}, 20.0),
        ({"ratelimit-reset": "3"}, 3.0),
        ({"ratelimit-reset": "1700000000"}, 0.0),
    ],
)
def test_the_wait_a_server_asks_for_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_the_wait_is_part_of_the_error() -> None:
    assert classify_refusal(429, b"", {"retry-after": "7"}, endpoint()).retry_after == 7.0


def test_the_wait_may_stand_in_the_body() -> None:
    body = QUOTA_USED_UP.format("RequestsPerMinute").encode()
    assert classify_refusal(429, body, {}, endpoint("gemini")).retry_after == 34.5
    assert classify_refusal(429, body, {"retry-after": "0"}, endpoint("gemini")).retry_after == 0


@pytest.mark.parametrize(
    ("url", "body", "said"),
    [
        ("http://h:1", b'{"detail":"Not Found"}', ("has nothing for models at http://h:1", "/v1 at its end")),
        ("http://h:1/v1", b"404 page not found", ("has nothing for models at http://h:1/v1", "base URL")),
        ("http://h:1/v1", b'{"error":"model m9 not found"}', ("has no model", "-m")),
    ],
)
def test_an_address_where_nothing_is_and_a_model_that_is_not_there_are_told_apart(url, body, said) -> None:
    error = classify_refusal(404, body, {}, endpoint("openai-compatible", base_url=url))
    assert (said[0] in error.text, said[1] in error.hint) == (True, True)


def test_of_a_local_server_with_a_small_window_it_is_said_how_to_give_it_a_larger_one() -> None:
    body = b'{"error":{"code":400,"message":"the request exceeds the available context size"}}'
    assert "-c 16384" in classify_refusal(400, body, {}, endpoint("llamacpp")).hint
    assert (
        "-c 16384" not in classify_refusal(400, b"maximum context length is 8192 tokens", {}, endpoint("openai")).hint
    )
