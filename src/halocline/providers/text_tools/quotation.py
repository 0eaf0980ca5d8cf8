"""Tells a call that stands in what the model has read: its reply may only quote it, and it is not run. Pure.

Compared are words, not signs, as they are, unescaped, and without tags: the tool's name and, near it, each argument
that it needs, its name before its value. So it does not matter in which form of call it was read, within what (a diff,
a comment, a table, other lines' numbers, another tag) and in which escapes.
"""

import html
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote

from halocline.ports.model import Request
from halocline.ports.tool import PROGRESS, ToolSpec
from halocline.protocol import messages as msg
from halocline.protocol.values import JsonObject

_NEAR, _BEFORE_LINE = 200, 40
"""The most letters and digits between a tool's name and an argument, and of what stands before a line."""
_DEEPEST = 3
_WORDS = re.compile(r"[^\W_]+")
_TAG = re.compile(r"<[^<>\n]*>")
_UNSEEN = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|<!--(?:[^<-]|-(?!->)|<(?!!--)){0,300}-->")
"""Colors of a terminal, and comments."""
_ESCAPED = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|[abefnrtv0]|(?=\W))")
_MARKUP = re.compile(
    "(?:arg|argument|br|cdata|end|escape|ifm|key|name|opensource|param|parameter|sep|start|string|tool|true|type|value)*"
)
"""The words of markup, run together, that may stand between an argument's name and its value."""
_KEYS = ("name", "tool", "toolname", "function", "action", "recipientname")
"""Words before a tool's name in forms that have the arguments first."""
_OWN = ("summary", "replies")
"""Notes with the model's own words: only a call that stands there sign by sign counts as quoted."""


class _Wanted(NamedTuple):
    """The words of a call: of the tool's name, and of each argument's possible names and value."""

    tool: str
    values: Sequence[tuple[set[str], list[str]]]


class ReadTexts:
    """All that a request gives the model to read and that it did not write, with what it has quoted before."""

    def __init__(self, request: Request) -> None:
        self._request = request

    def hold(self, tool: ToolSpec, arguments: JsonObject, text: str) -> bool:
        """True if the call stands in them. `text` is the call as it was printed."""
        forms = [_read_words(tool, arguments, change) for change in _FORMS]
        bare = "".join(_plain(text).split())
        return any(
            _hold_any(found, forms) if forms[0].values and not is_own else any(bare in words.bare for words in found)
            for is_own, found in self._words
        )

    @cached_property
    def _words(self) -> "list[tuple[bool, list[_Words]]]":
        texts = [(own, [change(text) for change in _FORMS]) for own, text in _list_sources(self._request) if text]
        kept = {text: _Words(text) for _, forms in texts for text in forms}
        return [(own, [kept[text] for text in forms]) for own, forms in texts]


def _hold_any(found: "Sequence[_Words]", forms: Sequence[_Wanted]) -> bool:
    """True if a text holds the call, both in the same form. One that changes neither is not looked at again."""
    pairs = list(zip(found, forms, strict=True))
    return any(words.hold(wanted) for at, (words, wanted) in enumerate(pairs) if (words, wanted) not in pairs[:at])


def _list_sources(request: Request) -> Iterator[tuple[bool, str]]:
    """Yield the texts, each with whether its words are the model's own."""
    yield False, request.system
    for spec in request.tools:
        yield from ((False, text) for text in (spec.description, *_list_descriptions(spec.schema)))
    malformed = set[str]()
    for message in request.messages:
        match message:
            case msg.AssistantMessage():
                malformed = {call.id for call in message.tool_calls if call.malformed}
                quoted = (call for call in message.tool_calls if call.malformed.startswith(msg.QUOTED))
                yield from ((False, f"{call.name} {call.malformed.removeprefix(msg.QUOTED)}") for call in quoted)
            case msg.ToolResult() if message.call in malformed:
                pass  # it repeats the call, and shows an example of ours
            case _:
                yield from (
                    (isinstance(part, msg.Note) and part.source in _OWN, part.text)
                    for part in message.content
                    if isinstance(part, msg.Text | msg.Note)
                )


def _list_descriptions(node: object) -> Iterator[str]:
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from [value] if key == "description" and isinstance(value, str) else _list_descriptions(value)


def _read_words(tool: ToolSpec, arguments: JsonObject, change: Callable[[str], str]) -> _Wanted:
    """Read the words of the arguments that the tool requires, or of all if it requires none."""
    given = [(tool.aliases.get(key, key), value) for key, value in arguments.items() if key != PROGRESS]
    needed = [one for one in given if one[0] in tool.schema.get("required", ())] or given
    values = []
    for name, value in needed:
        names = {name, *(alias for alias, meant in tool.aliases.items() if meant == name)}
        if words := [word for leaf in _list_leaves(value) for word in _split_words(change(leaf))]:
            values.append((set(map(_join_words, names)), words))
    return _Wanted(_join_words(tool.name), values)


def _list_leaves(value: object) -> Iterator[str]:
    """Yield the texts and numbers in a value."""
    if isinstance(value, str | float) or (isinstance(value, int) and not isinstance(value, bool)):
        yield str(value)
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _list_leaves(one)


def _plain(text: str) -> str:
    text = _UNSEEN.sub("", text)
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()


def _split_words(text: str) -> list[str]:
    return _WORDS.findall(_plain(text))


def _join_words(text: str) -> str:
    return "".join(_split_words(text))


def _unescape(text: str) -> str:
    """Undo the escapes of JSON, HTML and URLs, also of one within another."""
    text = _UNSEEN.sub("", text)
    for _ in range(_DEEPEST):
        before, text = text, unquote(html.unescape(_ESCAPED.sub(_read_escape, text)))
        if text == before:
            break
    return text


def _read_escape(found: re.Match[str]) -> str:
    if code := found[1] or found[2]:
        return chr(int(code, 16))
    if found[3]:
        return chr(int(found[3], 8))
    return "\n" if found[0][-1] == "n" else " " if found[0][-1] != "\\" else ""


_FORMS: tuple[Callable[[str], str], ...] = (str, _unescape, lambda text: _unescape(_TAG.sub("", text)))


class _Words:
    """A text without anything but its words, and where these are in it."""

    def __init__(self, text: str) -> None:
        self._source = _plain(text)
        self._text = "".join(_WORDS.findall(self._source))

    @cached_property
    def bare(self) -> str:
        return "".join(self._source.split())

    @cached_property
    def _places(self) -> tuple[dict[int, int], dict[int, int]]:
        """The beginnings and the ends of words: their place in the words alone, and in the text."""
        found = list(_WORDS.finditer(self._source))
        ends = list(accumulate(len(word[0]) for word in found))
        starts = dict(zip([0, *ends], (word.start() for word in found), strict=False))
        return starts, dict(zip(ends, (word.end() for word in found), strict=True))

    def hold(self, wanted: _Wanted) -> bool:
        """True if all arguments stand near the tool's name; one alone may stand in brackets, without its own name."""
        if wanted.tool not in self._text:
            return False
        given = [self._find_argument(names, words) for names, words in wanted.values]
        size = _NEAR + 2 * sum(len(word) for _, words in wanted.values for word in words)
        for start in self._find_all(wanted.tool):
            end = start + len(wanted.tool)
            earliest = max(0, start - size) if self._text.endswith(_KEYS, 0, start) else end
            if all(_has_between(places, earliest, end + size) for places in given):
                return True
            if len(given) == 1 and self._follow(wanted.values[0][1], end, begins="(>"):
                return True
        return False

    def _find_argument(self, names: set[str], words: Sequence[str]) -> list[int]:
        """Return where an argument stands with its value."""
        places = ((at, len(name)) for name in names for at in self._find_all(name))
        return sorted(at for at, size in places if self._follow(words, at + size))

    def _follow(self, words: Sequence[str], at: int, *, begins: str = "") -> bool:
        """True if the words follow in their order, with nothing but a frame between, and first one of these signs."""
        for number, word in enumerate(words):
            places = self._find_all(word, at, at + len(word) + 2 * _BEFORE_LINE)
            found = next((one for one in places if self._is_frame(at, one, "" if number else begins)), -1)
            if found < 0:
                return False
            at = found + len(word)
        return True

    def _is_frame(self, end: int, start: int, begins: str) -> bool:
        """True if between two words are only signs, words of markup, and what stands before lines."""
        starts, ends = self._places
        between = self._source[ends[end] : starts[start]]
        first, *lines = map(_join_words, between.split("\n"))
        if begins and not any(sign in between for sign in begins):
            return False
        is_markup = any(map(_MARKUP.fullmatch, (first, first + "".join(lines[:1]))))  # a line may break in a word
        return is_markup and all(len(line) <= _BEFORE_LINE for line in lines)

    def _find_all(self, word: str, start: int = 0, end: int | None = None) -> Iterator[int]:
        """Yield where a word stands; here it may be several, as a line may break in it."""
        starts, ends = self._places
        at = self._text.find(word, start, end)
        while at >= 0:
            if at in starts and at + len(word) in ends:
                yield at
            at = self._text.find(word, at + 1, end)


def _has_between(places: Sequence[int], start: int, end: int) -> bool:
    at = bisect_left(places, start)
    return at < len(places) and places[at] < end
