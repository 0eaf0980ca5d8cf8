"""Translate a server's refusal, by status and wording, to a `ModelError` that a person can act on.

An error inside a stream gets the status it would have had as a response, and goes through the same rules (errors.toml).
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import msgspec

from halocline.net.address import address_of, show_address
from halocline.protocol import json_input
from halocline.protocol.errors import LONG_WAIT, ModelError, ModelErrorKind
from halocline.protocol.terminal_text import cut_words
from halocline.protocol.values import Value
from halocline.providers.endpoint import Endpoint
from halocline.providers.waits import describe_end, wait_asked

Kind = ModelErrorKind

_SHOWN = 300
_BLANKS = "\ufeff \t\r\n"
_DEEPEST = 12
"""Levels of messages within messages."""
_READ = 20_000
"""Characters of a body that are searched for words."""


class _Rule(Value, frozen=True):
    """Applies to these statuses, or to all of a hundred; with `words` only where those rows of the table match.

    With `page` only to a page of HTML in place of an answer.
    """

    kind: ModelErrorKind
    statuses: tuple[int, ...] = ()
    hundreds: int = 0
    words: str = ""
    page: bool = False

    def fits(self, status: int, text: str) -> bool:
        is_any = not (self.statuses or self.hundreds)
        is_of = is_any or status in self.statuses or status // 100 == self.hundreds
        is_form = not self.page or text.lstrip(_BLANKS).startswith("<")
        return is_of and is_form and (not self.words or bool(find_words(self.words).search(text)))


class _Wording(Value, frozen=True):
    """Templates of what happened and of what to do."""

    what: str
    hint: str
    kind: ModelErrorKind | None = None


class _Answers(Value, frozen=True):
    """The rules, in order; the codes that stand for each status; and what a person is told.

    `told` is by the kind of an error and for what else is known, `editor` by VS Code's own codes, `failed` by what else
    failed.
    """

    rule: tuple[_Rule, ...]
    statuses: dict[str, str]
    told: dict[str, _Wording]
    editor: dict[str, _Wording]
    failed: dict[str, _Wording]


def classify_refusal(status: int, body: bytes, headers: Mapping[str, str], endpoint: Endpoint) -> ModelError:
    """Classify an error response. Header names are in lower case."""
    if 300 <= status < 400:
        return _redirect_error(status, headers.get("location", ""), endpoint)
    said, message = _read_body(body, endpoint)
    kind = classify_words(status, said)
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
    told = _choose_words(kind, said, endpoint, is_long=is_long)
    what = told.what.format(**facts)
    return ModelError(
        kind,
        f"{what} (status {status}): {message}" if message else f"{what} (status {status}).",
        told.hint.format(**facts),
        status=status,
        retry_after=wait,
        said=said,
    )


def _choose_words(kind: ModelErrorKind, said: str, endpoint: Endpoint, *, is_long: bool) -> _Wording:
    told = read_answers().told
    if kind is Kind.QUOTA and find_words("used_up").search(said):
        return told["used_up"]
    if is_long:
        return told["long_pause"]
    if kind is Kind.BLOCKED and find_words("sign_in_page").search(said):
        return told["asks_to_sign_in"]
    if kind is Kind.AUTH and endpoint.tokens:
        return told["signed_in"]
    if kind is Kind.CONTEXT_EXCEEDED and endpoint.vendor.is_free:
        return told["own_window"]
    if kind is Kind.NOT_FOUND and not endpoint.at_home and not re.search("model", said, re.IGNORECASE):
        return told["no_api_at_v1" if endpoint.url.endswith("/v1") else "no_api"]
    return told[kind]


def classify_words(status: int, text: str) -> ModelErrorKind:
    """Return the kind of a refusal by its status and its wording."""
    return next(rule.kind for rule in read_answers().rule if rule.fits(status, text))


@cache
def read_answers() -> _Answers:
    """Read `errors.toml`."""
    return msgspec.convert(tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")), _Answers)


@cache
def read_table() -> dict[str, Any]:
    """Read `refusals.toml`."""
    return tomllib.loads(Path(__file__).with_name("refusals.toml").read_text(encoding="utf-8"))


@cache
def find_words(group: str) -> re.Pattern[str]:
    """Return the words of a group of the table as one pattern."""
    return re.compile("|".join(row["words"] for row in read_table()[group]), re.IGNORECASE)


def describe_failure(name: str, kind: ModelErrorKind | None = None, **facts: object) -> ModelError:
    """Return the error of a row of `failed`, with these facts in its words."""
    row = read_answers().failed[name]
    return ModelError(kind or row.kind or Kind.MALFORMED, row.what.format(**facts), row.hint.format(**facts))


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
    if text.isdigit() and len(text) == 3:
        return int(text)
    return next((int(status) for status, codes in read_answers().statuses.items() if text in codes.split()), 0)


def _read_body(body: bytes, endpoint: Endpoint) -> tuple[str, str]:
    """Return what is searched for words, and the message to show.

    Searched are the body without what it repeats of the request, and its innermost message, which is shown on one line
    and cut. The key is redacted before the cut, which could split it.
    """
    try:
        document = json_input.decode(body)
    except msgspec.DecodeError:
        return body.decode("utf-8", "replace")[:_READ], show_body(body, endpoint)
    words = _words_of(document)
    said = msgspec.json.encode(_without_echo(document)).decode()[:_READ]
    return f"{said}\n{words[:_READ]}", _shorten_words(words, endpoint)


def _without_echo(document: Any) -> Any:
    """Drop the `input` that validators repeat: words of a conversation must not decide what its refusal means."""
    match document:
        case dict():
            return {key: _without_echo(value) for key, value in document.items() if key not in ("input", "ctx")}
        case list():
            return [_without_echo(value) for value in document]
    return document


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


_NAMES_OF_WORDS = ("error", "errors", "message", "detail", "msg")


def _words_of_object(document: dict[str, Any], depth: int) -> str:
    metadata = document.get("metadata")
    if isinstance(metadata, dict) and (raw := metadata.get("raw")):  # OpenRouter's, from the provider behind it
        by = metadata.get("provider_name")
        return f"{by}: {_words_of(raw, depth + 1)}" if isinstance(by, str) else _words_of(raw, depth + 1)
    if isinstance(place := document.get("loc"), list) and (said := document.get("msg")):
        return f"{'.'.join(map(str, place))}: {said}"
    fields = {name.lower(): value for name, value in document.items()}
    behind = [fields.get("innererror"), *(details if isinstance(details := fields.get("details"), list) else ())]
    objects = [each for each in behind if isinstance(each, dict)]
    more = [each.get("message") or _words_of(each.get("fieldViolations", []), depth + 1) for each in objects]
    for name in _NAMES_OF_WORDS:
        if (inner := fields.get(name)) and (words := _words_of(inner, depth + 1)):
            return ": ".join(filter(None, (words, *map(str, more))))
    sentences = [value for value in fields.values() if isinstance(value, str) and " " in value]
    others = [value for name, value in fields.items() if name not in _NAMES_OF_WORDS]  # looked at once: as a tree
    inside = (_words_of(value, depth + 1) for value in others if isinstance(value, dict | list))
    found = max(sentences, key=len, default="") or next(filter(None, inside), "")
    return found or str(fields.get("code") or fields.get("type") or "")


def _words_inside(text: str, depth: int) -> str:
    """Return the message of the JSON that a gateway put into its own text; the text itself if there is none."""
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end:
        inner = json_input.decode_or(None, text[begin : end + 1])
        if isinstance(inner, dict) and (words := _words_of(inner, depth + 1)):
            return words
    return text
