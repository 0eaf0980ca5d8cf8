"""Translate a server's refusal, by status and wording, to a `ModelError` that a person can act on.

An error inside a stream gets the status it would have had as a response, and goes through the same table.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import msgspec

from halocline.net.address import address_of, show_address
from halocline.protocol import json_input
from halocline.protocol.errors import LONG_WAIT, ModelError, ModelErrorKind
from halocline.protocol.terminal_text import cut_words
from halocline.providers.endpoint import Endpoint
from halocline.providers.waits import describe_end, wait_asked

Kind = ModelErrorKind

_SHOWN = 300
_DEEPEST = 12
"""Levels of messages within messages."""
_READ = 20_000
"""Characters of a body that are searched for words."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """Applies to these statuses and, with `words`, only if the body matches those rows of `refusals.toml`."""

    kind: ModelErrorKind
    statuses: range | frozenset[int]
    words: str = ""


_ANY = range(100, 1000)

_RULES = (
    _Rule(Kind.BLOCKED, frozenset({403, 503}), "blocked"),
    _Rule(Kind.QUOTA, frozenset({402})),
    _Rule(Kind.AUTH, frozenset({400}), "key"),
    _Rule(Kind.QUOTA, frozenset({400, 403, 429, 503}), "used_up"),
    _Rule(Kind.RATE_LIMIT, frozenset({429}), "rate_of_a_minute"),
    _Rule(Kind.QUOTA, frozenset({400, 403, 429}), "no_credit"),
    _Rule(Kind.NO_TOOLS, frozenset({403}), "no_tools"),
    _Rule(Kind.AUTH, frozenset({401, 403})),
    _Rule(Kind.RATE_LIMIT, frozenset({429})),
    _Rule(Kind.NO_TOOLS, frozenset({400, 404, 405, 422, 500, 501}), "no_tools"),
    _Rule(Kind.PICTURE, frozenset({400, 404, 413, 415, 422, 500}), "picture"),
    _Rule(Kind.RATE_LIMIT, frozenset({400, 413}), "rate_limit"),
    _Rule(Kind.CONTEXT_EXCEEDED, frozenset({413})),
    _Rule(Kind.CONTEXT_EXCEEDED, frozenset({400, 422, 500}), "too_long"),
    _Rule(Kind.NOT_FOUND, frozenset({404})),
    _Rule(Kind.OVERLOADED, frozenset({503, 529})),
    _Rule(Kind.OVERLOADED, range(500, 600), "overloaded"),
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
    Kind.NO_TOOLS: "{vendor} accepts no tools for {model}",
    Kind.PICTURE: "{vendor} did not accept a picture",
    Kind.BLOCKED: "Something in front of {vendor} blocked the request",
}

_HINTS = {
    Kind.AUTH: "Check the key ({key}): it must be valid and allowed to use {model}.",
    Kind.QUOTA: "Check the balance and limits of your {vendor} account, or choose another provider with -m.",
    Kind.RATE_LIMIT: "Wait a moment, or choose another model with -m.",
    Kind.OVERLOADED: "Try again in a minute, or choose another model with -m.",
    Kind.SERVER: "Try again; if it keeps happening, choose another model with -m.",
    Kind.CONTEXT_EXCEEDED: "Start a new task, or choose a model with a larger window with -m.",
    Kind.NOT_FOUND: "Check the model name (-m) and the base URL.",
    Kind.INVALID_REQUEST: "Check the model name (-m) and the message from {vendor}. "
    "If every prompt fails like this, go back to before it began: /rewind",
    Kind.NO_TOOLS: "Start with --text-tools, so that {model} calls tools in its text, or choose another model with -m.",
    Kind.PICTURE: "Choose a model that accepts pictures with -m, or continue without them: /context drop-pictures",
    Kind.BLOCKED: "The key is not the problem: a firewall refused it. Try another network, or check the base URL.",
}

_USED_UP = (
    "Your plan with {vendor} is used up{until}",
    "Send your message again{then}, or choose another model with -m.",
)
"""The words for a plan that ends before a retry could help."""
_LONG_PAUSE = (
    "{vendor} asks you to wait{until}",
    "Send your message again then, or choose another model with -m.",
)
"""The words for as long a wait, of whose reason the server says nothing."""

_OWN_WINDOW = (
    "Start the server with a larger window (llama.cpp: -c 16384, vLLM: --max-model-len 16384), or send less: "
    "halo config set prompt compact"
)
"""What helps where the person's own server sets the window."""
_NO_API = ("{vendor} has nothing for models at {url}", "Check the base URL: most servers need /v1 at its end.")
"""The words where nothing is found at an address of the person's own, and the server does not speak of a model."""

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
    said = _read_body(body)
    kind = Kind.BLOCKED if status == 403 and body.lstrip().startswith(b"<") else classify_words(status, said)
    wait = wait_asked(headers, said)
    is_long = kind is Kind.RATE_LIMIT and wait is not None and wait > LONG_WAIT
    if is_long:
        kind = Kind.QUOTA
    facts = {
        "vendor": endpoint.vendor.title,
        "model": endpoint.model,
        "key": endpoint.key_source or endpoint.vendor.key_variable or "none is set for this provider",
        "url": show_address(endpoint.url),
        "until": f" {describe_end(wait)}" if wait else "",
        "then": " then" if wait else " when it is renewed",
    }
    message = _error_message(body, endpoint)
    what, hint = _describe(kind, said, is_long=is_long, signed_in=bool(endpoint.tokens))
    if kind is Kind.CONTEXT_EXCEEDED and endpoint.vendor.is_free:
        hint = _OWN_WINDOW
    if kind is Kind.NOT_FOUND and not endpoint.at_home and not re.search("model", said, re.IGNORECASE):
        what, hint = _NO_API[0], hint if endpoint.url.rstrip("/").endswith("/v1") else _NO_API[1]
    what = what.format(**facts)
    return ModelError(
        kind,
        f"{what} (status {status}): {message}" if message else f"{what} (status {status}).",
        hint.format(**facts),
        status=status,
        retry_after=wait,
        said=said,
    )


def _describe(kind: ModelErrorKind, said: str, *, is_long: bool, signed_in: bool) -> tuple[str, str]:
    """Return what happened and what to do, as templates."""
    if kind is Kind.QUOTA and find_words("used_up").search(said):
        return _USED_UP
    if is_long:
        return _LONG_PAUSE
    return _SIGNED_IN if kind is Kind.AUTH and signed_in else (_WHAT[kind], _HINTS[kind])


def classify_words(status: int, text: str) -> ModelErrorKind:
    """Return the kind of a refusal by its status and its wording."""
    return next(
        rule.kind
        for rule in _RULES
        if status in rule.statuses and (not rule.words or find_words(rule.words).search(text))
    )


@cache
def read_table() -> dict[str, Any]:
    """Read `refusals.toml`."""
    return tomllib.loads(Path(__file__).with_name("refusals.toml").read_text(encoding="utf-8"))


@cache
def find_words(group: str) -> re.Pattern[str]:
    """Return the words of a group of the table as one pattern."""
    return re.compile("|".join(row["words"] for row in read_table()[group]), re.IGNORECASE)


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


def _read_body(body: bytes) -> str:
    """Return what is searched for words: the body without what it repeats of the request, and its innermost message."""
    text = body.decode("utf-8", "replace")
    try:
        document = json_input.decode(body)
    except msgspec.DecodeError:
        return text[:_READ]
    return f"{msgspec.json.encode(_without_echo(document)).decode()[:_READ]}\n{_words_of(document)[:_READ]}"


def _without_echo(document: Any) -> Any:
    """Drop the `input` that validators repeat: words of a conversation must not decide what its refusal means."""
    match document:
        case dict():
            return {key: _without_echo(value) for key, value in document.items() if key not in ("input", "ctx")}
        case list():
            return [_without_echo(value) for value in document]
    return document


def _error_message(body: bytes, endpoint: Endpoint) -> str:
    """Return the server's message, on one line and cut. The key is redacted before the cut, which could split it."""
    try:
        words = _words_of(json_input.decode(body))
    except msgspec.DecodeError:
        return show_body(body, endpoint)
    return _shorten_words(words, endpoint)


def show_body(body: bytes, endpoint: Endpoint) -> str:
    """Return the beginning of a body on one line: a page's title, else its text. The key is redacted."""
    text = body.decode("utf-8", "replace")
    if (title := re.search(r"<title[^>]*>([^<]+)</title>", text, re.IGNORECASE)) and title[1].strip():
        return _shorten_words(unescape(title[1]), endpoint)
    return _shorten_words(re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL | re.I), endpoint)


def _shorten_words(words: str, endpoint: Endpoint) -> str:
    return cut_words(endpoint.without_key(" ".join(words.split())), _SHOWN)


def _words_of(document: Any, depth: int = 0) -> str:
    """Extract the innermost message from any of the forms in which servers and gateways send errors."""
    if depth > _DEEPEST:
        return ""
    match document:
        case list():
            return "; ".join(filter(None, (_words_of(each, depth + 1) for each in document[:3])))
        case str():
            return _words_inside(document, depth)
        case dict():
            return _words_of_object(document, depth)
    return str(document)


def _words_of_object(document: dict[str, Any], depth: int) -> str:
    metadata = document.get("metadata")
    if isinstance(metadata, dict) and (raw := metadata.get("raw")):  # OpenRouter's, from the provider behind it
        by = metadata.get("provider_name")
        return f"{by}: {_words_of(raw, depth + 1)}" if isinstance(by, str) else _words_of(raw, depth + 1)
    if isinstance(place := document.get("loc"), list) and (said := document.get("msg")):
        return f"{'.'.join(map(str, place))}: {said}"
    for name in ("error", "errors", "message", "detail", "msg"):
        if (inner := document.get(name)) and (words := _words_of(inner, depth + 1)):
            return words
    return str(document.get("code") or document.get("type") or "")


def _words_inside(text: str, depth: int) -> str:
    """Return the message of the JSON that a gateway put into its own text; the text itself if there is none."""
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end:
        try:
            inner = json_input.decode(text[begin : end + 1].encode())
        except msgspec.DecodeError:
            return text
        if isinstance(inner, dict) and (words := _words_of(inner, depth + 1)):
            return words
    return text
