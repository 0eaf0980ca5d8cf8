"""The text of a reply as it comes: words, and thinking, which some servers leave in the words between tags."""

import re
from typing import NamedTuple

from halocline.ports.model import ModelEvent
from halocline.protocol.events import TextDelta, ThinkingDelta

_TAGS = {"<think>": "</think>", "<thinking>": "</thinking>", "<thought>": "</thought>", "[THINK]": "[/THINK]"}
# Some templates write the opening tag themselves, so that the reply has only the closing one.
_LONE_CLOSING = r"(?<!`)</think(?:ing)?>(?=\s*\n\s*\n|\s*\Z)"


class Split(NamedTuple):
    """New text of a reply: thinking, then words."""

    thoughts: str = ""
    words: str = ""


class ThinkTags:
    """Splits one reply's text. `is_past`: only words can follow."""

    def __init__(self) -> None:
        self.is_past = False
        self._held = ""
        self._closing = ""
        self._has_thought = False

    def feed(self, text: str) -> Split:
        """Add text; return what is now certain."""
        if self.is_past:
            return Split(words=text)
        self._held += text
        thoughts = []
        while not self.is_past:
            if not self._closing and not self._open():
                break
            if self._closing:
                fresh, closed = self._take_thoughts()
                thoughts.append(fresh)
                if not closed:
                    break
        words, self._held = (self._held, "") if self.is_past else ("", self._held)
        return Split("".join(thoughts), words)

    def rest(self) -> Split:
        """Return the text still held back, at the end of the reply."""
        rest, self._held = self._held, ""
        return Split(thoughts=rest) if self._closing else Split(words=rest if rest.strip() else "")

    def _open(self) -> bool:
        """Read an opening tag, or find that there is none. False when that is not certain yet."""
        start = self._held.lstrip()
        if tag := next((tag for tag in _TAGS if start.startswith(tag)), None):
            self._closing, self._held = _TAGS[tag], start.removeprefix(tag)
            return True
        if any(tag.startswith(start) for tag in _TAGS):
            return False
        self.is_past = True
        self._held = start if self._has_thought else self._held
        return True

    def _take_thoughts(self) -> tuple[str, bool]:
        """Take the thoughts that are certain; True if their end was among them."""
        at = self._held.find(self._closing)
        sure = at if at >= 0 else len(self._held) - _tail_size(self._held, self._closing)
        fresh, self._held = self._held[:sure], self._held[sure:]
        if not self._has_thought:
            fresh = fresh.lstrip()
        self._has_thought = self._has_thought or bool(fresh) or at >= 0
        if at >= 0:
            self._held, self._closing = self._held.removeprefix(self._closing), ""
        return fresh, at >= 0


def split_at_lone_closing(words: str) -> Split:
    """Split a whole reply at a closing tag whose opening tag is missing."""
    found = re.search(_LONE_CLOSING, words)
    before = words[: found.start()] if found else ""
    if found is None or before.count("```") % 2 or any(tag in before for tag in _TAGS):
        return Split(words=words)
    return Split(before.strip(), words[found.end() :].lstrip())


def _tail_size(text: str, tag: str) -> int:
    """Return the length of the text's end that may be the start of the tag."""
    sizes = range(min(len(text), len(tag) - 1), 0, -1)
    return next((size for size in sizes if tag.startswith(text[-size:])), 0)


class ReplyText:
    """Collects the text of one reply; methods that add to it return the events for what is certain by then."""

    def __init__(self) -> None:
        self._tags = ThinkTags()
        self._thoughts: list[str] = []
        self._words: list[str] = []

    @property
    def has_only_words(self) -> bool:
        """True if no thinking can follow in the words, so that `add_words` may be used."""
        return self._tags.is_past

    def add_words(self, words: str) -> TextDelta:
        """Add words that hold no tags."""
        self._words.append(words)
        return TextDelta(words)

    def add(self, thoughts: str, text: str) -> list[ModelEvent]:
        """Add thinking, and text that may hold tags."""
        found = self._tags.feed(text) if text else Split()
        return self._take(thoughts + found.thoughts, found.words)

    def end(self) -> list[ModelEvent]:
        """Add what was held back, at the end of the reply."""
        return self._take(*self._tags.rest())

    def _take(self, thoughts: str, words: str) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        if thoughts:
            self._thoughts.append(thoughts)
            events.append(ThinkingDelta(thoughts))
        if words:
            events.append(self.add_words(words))
        return events

    def whole(self) -> Split:
        """Return all of it, split also at a closing tag whose opening tag the server left out."""
        before, words = split_at_lone_closing("".join(self._words))
        return Split("".join([*self._thoughts, before]), words)
