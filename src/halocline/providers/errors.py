"""Translate a server's refusal, by status and wording, to a `ModelError` that a person can act on.

An error inside a stream gets the status it would have had as a response, and goes through the same table.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from halocline.net.address import address_of
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.providers.endpoint import Endpoint

Kind = ModelErrorKind

_SHOWN = 300
_UNIX_TIME = 1_000_000_000


def _compile_words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_BILLING = _compile_words(
    "insufficient_quota",
    "exceeded your current quota",
    "insufficient.(balance|credit|fund)",
    "credit balance",
    "spend(ing)?.?limit",
    "enable billing",
)
_KEY = _compile_words("API_KEY_INVALID", "API key (not valid|expired)")
# Google names the exhausted quota; only a daily one is worth switching providers for.
_QUOTA_OF_A_DAY = _compile_words(r"quotaId[^,}]*PerDay")
_QUOTA_OF_A_MINUTE = _compile_words(r"quotaId[^,}]*PerMinute")
_RATE = _compile_words(r"rate.?limit", r"(tokens|requests) per (minute|min|day|hour)", r"\bTPM\b", r"\bRPM\b")
_CONTEXT = _compile_words(
    r"context.?(length|window|size)",
    r"maximum context",
    r"(prompt|input|request) is too (long|large)",
    r"too many (input )?tokens",
    r"exceeds? the (model'?s )?(maximum|available|limit)[^.]*(tokens|context)",
    r"input length and .?max_tokens",
    r"token (count|limit)[^.]*exceed",
    r"reduce the length",
    r"maximum prompt length is \d",  # xAI
    r"`inputs` tokens \+ `max_new_tokens` must be",  # Text Generation Inference, and Together
    r"`inputs` must have less than \d+ tokens",
)
_OVERLOADED = _compile_words("overloaded", "at capacity", "no healthy upstream")


@dataclass(frozen=True, slots=True)
class _Rule:
    """Applies to these statuses and, with `words`, only if the body matches."""

    kind: ModelErrorKind
    statuses: range | frozenset[int]
    words: re.Pattern[str] | None = None


_ANY = range(100, 1000)

_RULES = (
    _Rule(Kind.QUOTA, frozenset({402})),
    _Rule(Kind.AUTH, frozenset({400}), _KEY),
    _Rule(Kind.QUOTA, frozenset({429}), _QUOTA_OF_A_DAY),
    _Rule(Kind.RATE_LIMIT, frozenset({429}), _QUOTA_OF_A_MINUTE),
    _Rule(Kind.QUOTA, frozenset({400, 403, 429}), _BILLING),
    _Rule(Kind.AUTH, frozenset({401, 403})),
    _Rule(Kind.RATE_LIMIT, frozenset({429})),
    _Rule(Kind.RATE_LIMIT, frozenset({400, 413}), _RATE),
    _Rule(Kind.CONTEXT_EXCEEDED, frozenset({413})),
    _Rule(Kind.CONTEXT_EXCEEDED, frozenset({400, 422, 500}), _CONTEXT),
    _Rule(Kind.NOT_FOUND, frozenset({404})),
    _Rule(Kind.OVERLOADED, frozenset({503, 529})),
    _Rule(Kind.OVERLOADED, range(500, 600), _OVERLOADED),
    _Rule(Kind.INVALID_REQUEST, frozenset({501, 505})),
    _Rule(Kind.SERVER, frozenset({408, 425})),
    _Rule(Kind.SERVER, range(500, 600)),
    _Rule(Kind.INVALID_REQUEST, _ANY),
)

_WHAT = {
    Kind.AUTH: "{vendor} did not accept the key",
    Kind.QUOTA: "Your {vendor} account is out of credit or over its spending limit",
    Kind.RATE_LIMIT: "You reached the rate limit of {vendor}",
    Kind.OVERLOADED: "{vendor} is overloaded",
    Kind.SERVER: "{vendor} had an internal error",
    Kind.CONTEXT_EXCEEDED: "The conversation is too long for {model}",
    Kind.NOT_FOUND: "{vendor} has no model {model} at this address",
    Kind.INVALID_REQUEST: "{vendor} rejected the request",
}

_HINTS = {
    Kind.AUTH: "Check the key ({key}): it must be valid and allowed to use {model}.",
    Kind.QUOTA: "Check the balance and limits of your {vendor} account, or choose another provider with -m.",
    Kind.RATE_LIMIT: "Wait a moment, or choose another model with -m.",
    Kind.OVERLOADED: "Try again in a minute, or choose another model with -m.",
    Kind.SERVER: "Try again; if it keeps happening, choose another model with -m.",
    Kind.CONTEXT_EXCEEDED: "Start a new task, or choose a model with a larger window with -m.",
    Kind.NOT_FOUND: "Check the model name (-m) and the base URL.",
    Kind.INVALID_REQUEST: "Check the model name (-m) and the message from {vendor}.",
}

_SIGNED_IN = (
    "{vendor} did not accept your sign-in",
    "Check that your account may use {model}, and sign in again if that changed.",
)
"""The words for a refused token of a sign-in, which is no key."""

# Codes with which OpenAI's Responses API rejects a request after accepting it. Retrying does not help.
_BAD_REQUESTS = (
    "invalid_prompt data_residency_mismatch bio_policy misalignment_policy_violation invalid_image "
    "invalid_image_format invalid_base64_image invalid_image_url invalid_image_mode image_too_large "
    "image_too_small image_parse_error image_content_policy_violation image_file_too_large "
    "unsupported_image_media_type empty_image_file"
)

# The statuses that error types and codes in bodies and streams stand for.
_STATUSES = {
    code: status
    for status, codes in {
        400: _BAD_REQUESTS + " invalid_request_error INVALID_ARGUMENT FAILED_PRECONDITION",
        401: "authentication_error invalid_api_key UNAUTHENTICATED",
        402: "billing_error insufficient_quota",
        403: "permission_error PERMISSION_DENIED",
        404: "not_found_error model_not_found NOT_FOUND",
        413: "request_too_large context_length_exceeded exceed_context_size_error",
        429: "rate_limit_error rate_limit_exceeded RESOURCE_EXHAUSTED",
        500: "api_error server_error INTERNAL",
        503: "server_is_overloaded slow_down UNAVAILABLE",
        504: "timeout_error DEADLINE_EXCEEDED",
        529: "overloaded_error",
    }.items()
    for code in codes.split()
}


def classify_refusal(status: int, body: bytes, headers: Mapping[str, str], endpoint: Endpoint) -> ModelError:
    """Classify an error response. Header names are in lower case."""
    if 300 <= status < 400:
        return _redirect_error(status, headers.get("location", ""), endpoint)
    body_text = body.decode("utf-8", "replace")
    kind = classify_words(status, body_text)
    facts = {
        "vendor": endpoint.vendor.title,
        "model": endpoint.model,
        "key": endpoint.key_source or endpoint.vendor.key_variable or "none is set for this provider",
    }
    message = _error_message(body, endpoint)
    what, hint = _SIGNED_IN if kind is Kind.AUTH and endpoint.tokens else (_WHAT[kind], _HINTS[kind])
    what = what.format(**facts)
    return ModelError(
        kind,
        f"{what} (status {status}): {message}" if message else f"{what} (status {status}).",
        hint.format(**facts),
        status=status,
        retry_after=_wait_asked(headers, body_text),
    )


def classify_words(status: int, text: str) -> ModelErrorKind:
    """Return the kind of a refusal by its status and its wording."""
    return next(rule.kind for rule in _RULES if status in rule.statuses and (not rule.words or rule.words.search(text)))


def _redirect_error(status: int, location: str, endpoint: Endpoint) -> ModelError:
    """Explain a redirect, which is not followed because the key would go along. Shows only the target's host."""
    target = address_of(location)
    place = f"{'https' if target.tls else 'http'}://{target.authority}" if target else "another address"
    text = f"{endpoint.vendor.title} redirects to {place}; your key was not sent there (status {status})."
    hint = "If that is the right server, set it with --base-url; otherwise check the base URL."
    return ModelError(ModelErrorKind.INVALID_REQUEST, endpoint.without_key(text), hint, status=status)


def classify_in_stream(error: Any, endpoint: Endpoint) -> ModelError:
    """Classify an error object inside a stream."""
    fields = error if isinstance(error, dict) else {}
    status = next(
        (_status_of(fields.get(name)) for name in ("code", "type", "status") if _status_of(fields.get(name))), 500
    )
    return classify_refusal(status, msgspec.json.encode({"error": error}), {}, endpoint)


def _status_of(mark: Any) -> int:
    """Return the status that a type or code stands for; 0 for none."""
    if isinstance(mark, int):
        return mark if 400 <= mark < 600 else 0
    text = str(mark)
    return int(text) if text.isdigit() and len(text) == 3 else _STATUSES.get(text, 0)


def _error_message(body: bytes, endpoint: Endpoint) -> str:
    """Return the server's message, on one line and cut. The key is redacted before the cut, which could split it."""
    try:
        words = _words_of(json_input.decode(body))
    except msgspec.DecodeError:
        return show_body(body, endpoint)
    return _shorten_words(words, endpoint)


def show_body(body: bytes, endpoint: Endpoint) -> str:
    """Return the beginning of a body without its markup, on one line. The key is redacted."""
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", body.decode("utf-8", "replace"), flags=re.DOTALL | re.I)
    return _shorten_words(text, endpoint)


def _shorten_words(words: str, endpoint: Endpoint) -> str:
    words = endpoint.without_key(" ".join(words.split()))
    return words if len(words) <= _SHOWN else words[:_SHOWN] + "…"


def _words_of(document: Any) -> str:
    """Extract the message from any of the forms in which servers send errors."""
    while isinstance(document, list) and document:
        document = document[0]
    if not isinstance(document, dict):
        return str(document)
    for name in ("error", "message", "detail"):
        if inner := document.get(name):
            return _words_of(inner)
    return str(document.get("code") or document.get("type") or "")


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds a server asks to wait. `now` is Unix time; the server's own date wins."""
    if (wait := _parse_number(headers.get("retry-after-ms", ""))) is not None:
        return wait / 1000
    asked = headers.get("retry-after", "")
    if (wait := _parse_number(asked)) is not None:
        return wait
    if (date := headers.get("date")) and (server_time := _http_date(date)) is not None:
        now = server_time
    if asked and (moment := _http_date(asked)) is not None:
        return max(0.0, moment - now)
    for name in ("x-ratelimit-reset", "ratelimit-reset"):
        if (reset := _parse_number(headers.get(name, ""))) is not None:
            return _seconds_until(reset, now)
    return None


def _wait_asked(headers: Mapping[str, str], body_text: str) -> float | None:
    """Return the seconds to wait from the headers, or from the body as Google sends it."""
    if (asked := retry_after(headers, time.time())) is not None:
        return asked
    found = re.search(r'"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d+)?)s"', body_text)
    return float(found[1]) if found else None


def _seconds_until(reset: float, now: float) -> float:
    """Convert a reset given in seconds from now, Unix time, or Unix time in milliseconds."""
    if reset > _UNIX_TIME * 1000:
        reset /= 1000
    return max(0.0, reset - now) if reset > _UNIX_TIME else reset


def _parse_number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,15}(\.\d*)?", text.strip()) else None


def _http_date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None
