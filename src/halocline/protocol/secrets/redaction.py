"""Redacts secrets in text that the model reads, that is logged, or that leaves (exports, recordings, reports).

A secret is recognized by its value (stored keys, keys of the environment), by its published form, by its name, or
inside base64. A mark replaces it. A mark with a number stands for one value, so that in an edit it can be turned back
into that value from the file; a mark never overwrites the value that it stands for.
"""

import re
from binascii import Error, a2b_base64
from collections.abc import Callable, Iterable, Iterator
from string import ascii_letters, digits

import msgspec

from halocline.protocol import codec
from halocline.protocol.events import DurableEvent
from halocline.protocol.patterns import compile_later
from halocline.protocol.secrets.known import KnownSecrets
from halocline.protocol.secrets.names import named_secrets
from halocline.protocol.secrets.published_forms import find_runs, long_runs, may_have_form, published_forms
from halocline.protocol.secrets.random_strings import random_strings

STORED, RANDOM = "stored key", "random string"
"""Names in marks for secrets known only by value, and for strings that only look like keys."""
_MARK = compile_later(r"\[redacted [a-z -]{3,30} ([0-9a-f]{8})\]")
_ANY_MARK = compile_later(r"\[redacted [a-z -]{3,40}(?:[0-9a-f]{8})?\]")
_BASE64_SIGNS, _SHORTEST_BASE64 = f"{ascii_letters}{digits}+/", 40
_BASE64 = re.compile(r"[A-Za-z0-9+/]{40,}(?:\r?\n[A-Za-z0-9+/]{4,76}){0,400}={0,2}")
_SHORTEST = 6
_NAMED_LIKE_ONE = (
    r"""((?:authorization|cookie|api[_-]?key|token|secret|passw(?:or)?d)["']?\s{0,9}[:=]\s{0,9})"""
    r"""(?:(?:bearer|basic)\s+)?("[^"\n]*"|'[^'\n]*'|[^\s,;&"'\[]+)"""
)
_LOOKS_LIKE_ONE = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*"
    r"|\b(?:(?:sk|pk|rk|gh[pousr]|glpat|xox[a-z]|tvly|hf|gsk|npm|pypi)[-_]|AIza|github_pat_)[A-Za-z0-9_-]{16,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|(?<=bearer )[\w.~+/=-]{8,}"
)
Found = tuple[int, int, str]


class UnknownMark(Exception):
    """A mark matches no value in the text to be edited; the argument is the mark."""


class Redactor:
    """Redacts text. `values` returns the known secrets; it is called for each text.

    With a `salt`, each mark carries a number for its secret; marks can be restored only with the same salt.
    `at_random` also redacts strings that only look like keys; do not use it on data with object ids in their own
    fields.
    """

    def __init__(
        self, values: Callable[[], frozenset[str]] = frozenset, salt: bytes = b"", *, at_random: bool = False
    ) -> None:
        self._values = values
        self._salt = salt
        self._at_random = at_random
        self._known = KnownSecrets(())

    def __call__(self, text: str) -> str:
        """Replace each secret with a mark; a secret with several lines gets a mark per line."""
        return self._insert_marks(text, _merge_found(self._find_secrets(text)))

    def without_known(self, text: str) -> str:
        """Redact only secrets with known values."""
        return self._insert_marks(text, _merge_found((*span, STORED) for span in self.known().spans(text)))

    def known(self) -> KnownSecrets:
        """Return the known secrets as of now."""
        values = self._values()
        if values != self._asked:
            self._known, self._asked = KnownSecrets(values), values  # in this order: other threads redact, too
        return self._known

    _asked: frozenset[str] = frozenset()

    def restored(self, text: str, original: str) -> str:
        """Replace each mark in an edit's text with the value that it stands for in `original`.

        Raises:
            UnknownMark: a mark matches no value in `original`, and is not part of that text itself.
        """
        if not (marks := {found[0]: found[1] for found in _MARK.finditer(text)}):
            return text
        meant: dict[str, set[str]] = {}
        for start, end, _ in _merge_found(self._find_secrets(original)):
            for value in original[start:end].splitlines():
                meant.setdefault(self._number(value), set()).add(value)
        for mark, number in marks.items():
            match tuple(meant.get(number, ())):
                case (value,):
                    text = text.replace(mark, value)
                case _ if mark not in original:
                    raise UnknownMark(mark)
        return text

    def _insert_marks(self, text: str, found: Iterable[Found]) -> str:
        parts: list[str] = []
        done = 0
        for start, end, name in found:
            parts += text[done:start], self._in_place_of(text[start:end], name)
            done = end
        return "".join((*parts, text[done:])) if done else text

    def _in_place_of(self, secret: str, name: str) -> str:
        if not self._salt:
            return f"[redacted {name}]"
        lines = secret.splitlines(keepends=True)
        return "".join(self._mark(line, name) for line in lines)

    def _mark(self, line: str, name: str) -> str:
        value = line.rstrip("\r\n")
        return f"[redacted {name} {self._number(value)}]{line[len(value) :]}" if value else line

    def _number(self, value: str) -> str:
        from hashlib import blake2b  # most texts have no secret

        return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=4, key=self._salt).hexdigest()

    def _find_secrets(self, text: str) -> Iterator[Found]:
        """Yield the secrets in the text, in no order, except inside existing marks."""
        if "[redacted " not in text:
            return self._find_all(text)
        marks = [mark.span() for mark in _ANY_MARK.finditer(text)]
        return (one for one in self._find_all(text) if not any(one[0] < end and start < one[1] for start, end in marks))

    def _find_all(self, text: str) -> Iterator[Found]:
        yield from ((*span, STORED) for span in self.known().spans(text))
        data = text.encode("utf-8", "surrogatepass")
        runs = long_runs(data)
        yield from published_forms(text, data, runs)
        yield from ((*span, "secret") for span in named_secrets(text))
        if any(find_runs(data, _BASE64_SIGNS, _SHORTEST_BASE64)):
            yield from self._in_base64(text)
        if self._at_random:
            yield from ((*span, RANDOM) for span in random_strings(text, runs))

    def _in_base64(self, text: str) -> Iterator[Found]:
        for coded in _BASE64.finditer(text):
            if (plain := _decode_base64(coded[0])) and _holds_secret(plain):
                yield *coded.span(), "encoded secret"


def holds_mark(text: str) -> bool:
    """True if a text has a mark that stands for one value."""
    return bool(_MARK.search(text))


def redact_text(text: str) -> str:
    """Replace every secret recognized by form or name with `[redacted NAME]`."""
    return _PLAIN(text)


def may_hold_keys(text: str) -> bool:
    """True if a text may hold keys; fast, and never false for a text that holds one."""
    data = text.encode("utf-8", "surrogatepass")
    return bool(runs := long_runs(data)) or may_have_form(data, runs)


def redacted_event(event: DurableEvent, redact: Callable[[str], str] = redact_text) -> DurableEvent:
    """Redact all texts of an event, one by one, so that its structure stays."""
    plain = msgspec.to_builtins(event)
    if all(redact(text) == text for text in _list_texts(plain)):
        return event
    return codec.decode(msgspec.json.encode(each_text(plain, redact)))


def _list_texts(value: object) -> Iterator[str]:
    """Yield the texts that `each_text` changes."""
    left = [value]
    for item in left:  # which grows
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            left += (inner for key, inner in item.items() if key != "type")
        elif isinstance(item, list | tuple):
            left += item


def each_text(value: object, change: Callable[[str], str]) -> object:
    """Apply `change` to every text in nested lists and objects, except field names and type names."""
    match value:
        case str():
            return change(value)
        case list() | tuple():
            return [each_text(item, change) for item in value]
        case dict():
            return {key: item if key == "type" else each_text(item, change) for key, item in value.items()}
        case _:
            return value


def thoroughly_redacted(text: str, secrets: Iterable[str], home: str) -> str:
    """Redact a text that will be shared: also these `secrets`, anything named like a secret, and the home folder.

    It redacts too much rather than too little.
    """
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "[redacted]")
    text = re.sub(_LOOKS_LIKE_ONE, "[redacted]", redact_text(text), flags=re.IGNORECASE | re.DOTALL)
    text = re.sub(_NAMED_LIKE_ONE, r"\1[redacted]", text, flags=re.IGNORECASE)
    return re.sub(rf"{re.escape(home.rstrip('/'))}(?![\w.-])", "~", text) if len(home) > 1 else text


def _merge_found(found: Iterable[Found]) -> Iterator[Found]:
    """Sort the matches and merge overlapping ones, under the name of the first."""
    current: Found | None = None
    for start, end, name in sorted(found, key=lambda one: (one[0], -one[1])):
        if current and start < current[1]:
            current = (current[0], max(end, current[1]), current[2])
            continue
        if current:
            yield current
        current = (start, end, name)
    if current:
        yield current


def _holds_secret(text: str) -> bool:
    data = text.encode()
    return any(True for _ in (*published_forms(text, data, long_runs(data)), *named_secrets(text)))


def _decode_base64(coded: str) -> str:
    """Decode base64; empty if it does not decode to text."""
    joined = "".join(coded.split()).rstrip("=")
    try:
        data = a2b_base64(joined[: len(joined) // 4 * 4])
    except Error:
        return ""
    return data.decode() if data.isascii() and not data.translate(None, _PRINTED) else ""


_PRINTED = bytes((9, 10, 13, *range(32, 127)))
_PLAIN = Redactor()
