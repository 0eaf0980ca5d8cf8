"""Takes secrets out of texts: what the model reads, what is logged, and what leaves (exports, recordings, reports).

A secret is known by its value (stored keys, those of the environment), by its published form, by its name, or by what
base64 hides. In its place stands a mark. A mark with a number stands for one value, so that an edit which holds the
mark can be given the value again, from the file that has it; a mark is never written over what it stands for.
"""

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from halocline.protocol import codec
from halocline.protocol.events import DurableEvent
from halocline.protocol.known_secrets import KnownSecrets
from halocline.protocol.secret_forms import SHAPES, TOKENS
from halocline.protocol.secret_names import named_secrets

STORED = "stored key"
"""What a secret is called that is known by its value alone."""
_MARK = re.compile(r"\[redacted [a-z -]{3,30} ([0-9a-f]{8})\]")
_ANY_MARK = re.compile(r"\[redacted [a-z -]{3,40}(?:[0-9a-f]{8})?\]")
_RUN = re.compile(r"[A-Za-z0-9_-]{14,}")
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
    """A mark stands for nothing in the text that an edit is for; the argument is the mark."""


class Redactor:
    """Takes secrets out of texts. `values` gives those that are known; it is asked again for each text.

    With a `salt`, which stays the same for as long as marks are to be understood, each mark has its secret's number.
    """

    def __init__(self, values: Callable[[], frozenset[str]] = frozenset, salt: bytes = b"") -> None:
        self._values = values
        self._salt = salt
        self._known = KnownSecrets(())

    def __call__(self, text: str) -> str:
        """The text with a mark in the place of each secret, and of each line of one that has several."""
        return self._marked(text, _merged(self._found(text)))

    def without_known(self, text: str) -> str:
        """The text without the values that are known, whatever else is in it."""
        return self._marked(text, _merged((*span, STORED) for span in self.known().spans(text)))

    def known(self) -> KnownSecrets:
        """The values that are known now."""
        values = self._values()
        if values != self._asked:
            self._asked, self._known = values, KnownSecrets(values)
        return self._known

    _asked: frozenset[str] = frozenset()

    def restored(self, text: str, original: str) -> str:
        """What an edit's text means: each mark is again the value that it stands for in `original`.

        Raises:
            UnknownMark: a mark stands for nothing there, and is no part of that text itself.
        """
        if not (marks := {found[0]: found[1] for found in _MARK.finditer(text)}):
            return text
        meant: dict[str, set[str]] = {}
        for start, end, _ in _merged(self._found(original)):
            for value in original[start:end].splitlines():
                meant.setdefault(self._number(value), set()).add(value)
        for mark, number in marks.items():
            match tuple(meant.get(number, ())):
                case (value,):
                    text = text.replace(mark, value)
                case _ if mark not in original:
                    raise UnknownMark(mark)
        return text

    def _marked(self, text: str, found: Iterable[Found]) -> str:
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
        return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=4, key=self._salt).hexdigest()

    def _found(self, text: str) -> Iterator[Found]:
        """What is in the text, in no order, but what marks in it say."""
        if "[redacted " not in text:
            return self._all(text)
        marks = [mark.span() for mark in _ANY_MARK.finditer(text)]
        return (one for one in self._all(text) if not any(one[0] < end and start < one[1] for start, end in marks))

    def _all(self, text: str) -> Iterator[Found]:
        yield from ((*span, STORED) for span in self.known().spans(text))
        yield from _by_form(text)
        yield from ((*span, "secret") for span in named_secrets(text))
        yield from self._in_base64(text)

    def _in_base64(self, text: str) -> Iterator[Found]:
        for coded in _BASE64.finditer(text):
            if (plain := _plain(coded[0])) and any(True for _ in (*_by_form(plain), *named_secrets(plain))):
                yield *coded.span(), "encoded secret"


def holds_mark(text: str) -> bool:
    """Whether a text has a mark that stands for one value."""
    return bool(_MARK.search(text))


def redacted(text: str) -> str:
    """The text with `[redacted NAME]` in the place of every secret that is known by its form or its name."""
    return _PLAIN(text)


def may_hold_keys(text: str) -> bool:
    """Whether it is worth looking for keys: fast, and true of every text that holds one."""
    return any(True for _ in _possible(text, text.lower())) or bool(_RUN.search(text))


def redacted_event(event: DurableEvent, blot: Callable[[str], str] = redacted) -> DurableEvent:
    """The event without them, text by text, so that what has a form keeps it."""
    return codec.decode(msgspec.json.encode(each_text(msgspec.to_builtins(event), blot)))


def each_text(value: object, change: Callable[[str], str]) -> object:
    """What was made of lists and objects, with every text in it changed. Names of fields stay, and names of types."""
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
    """For a text that a person will send on: also without these `secrets`, what is named like one, and the home folder.

    It takes too much rather than too little.
    """
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "[redacted]")
    text = re.sub(_LOOKS_LIKE_ONE, "[redacted]", redacted(text), flags=re.IGNORECASE | re.DOTALL)
    text = re.sub(_NAMED_LIKE_ONE, r"\1[redacted]", text, flags=re.IGNORECASE)
    return re.sub(rf"{re.escape(home.rstrip('/'))}(?![\w.-])", "~", text) if len(home) > 1 else text


def _merged(found: Iterable[Found]) -> Iterator[Found]:
    """In order, and none over another: what overlaps is one, under the name of the first."""
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


def _by_form(text: str) -> Iterator[Found]:
    lower = text.lower()
    is_same = len(lower) == len(text)  # a few letters grow when they are made small
    for row in _possible(text, lower):
        if row.is_found_by_mark and (row.is_token or is_same):
            yield from _at_marks(row, text, text if row.is_token else lower)
        else:
            yield from ((*found.span(), row.name) for found in row.pattern.finditer(text))


def _at_marks(row: "_Row", text: str, marks: str) -> Iterator[Found]:
    """Much faster than a search: marks are rare."""
    at = marks.find(row.mark)
    while at >= 0:
        found = row.pattern.match(text, at if row.is_token else at + len(row.mark))
        if found:
            yield *found.span(), row.name
        at = marks.find(row.mark, found.end() if found else at + 1)


def _possible(text: str, lower: str) -> Iterator["_Row"]:
    """The forms that a text may have."""
    runs = "\n".join(_RUN.findall(text))  # much shorter than the text, and tokens are many
    yield from (row for row in _rows() if row.mark in (runs if row.is_run else text if row.is_token else lower))


class _Row(NamedTuple):
    """One form. `is_run`: its mark is part of a run of letters, digits, `_` and `-`."""

    name: str
    mark: str
    pattern: re.Pattern[str]
    is_token: bool
    is_run: bool
    is_found_by_mark: bool


@lru_cache(1)
def _rows() -> tuple[_Row, ...]:
    """All forms, made when they are first needed."""
    return (*_shapes(), *_tokens())


def _tokens() -> Iterator[_Row]:
    for name, patterns in TOKENS.items():
        for pattern in patterns:
            mark = _mark_of(pattern)
            alone = re.compile(rf"(?<![A-Za-z0-9_-]){pattern}(?![A-Za-z0-9])")
            yield _Row(name, mark, alone, True, bool(_RUN.match(f"{mark:_<14}")), True)


def _shapes() -> Iterator[_Row]:
    for name, rows in SHAPES.items():
        for mark, pattern in rows:
            behind = pattern.startswith(("(?<=", "(?i:(?<="))
            yield _Row(name, mark, re.compile(pattern, re.DOTALL), False, False, behind)


def _mark_of(pattern: str) -> str:
    """What every text begins with that fits the pattern."""
    found = re.match(r"(?:[^\\[({.*+?|$^]|\\\.)*", pattern)
    assert found is not None
    return found[0].replace("\\", "")


def _plain(coded: str) -> str:
    """The text that base64 stands for; empty when it stands for none."""
    joined = "".join(coded.split()).rstrip("=")
    try:
        data = b64decode(joined[: len(joined) // 4 * 4])
    except Error:
        return ""
    return data.decode() if data.isascii() and not data.translate(None, _PRINTED) else ""


_PRINTED = bytes((9, 10, 13, *range(32, 127)))
_PLAIN = Redactor()
