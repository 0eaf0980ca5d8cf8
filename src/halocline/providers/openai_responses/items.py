"""The output of a Responses reply, item by item, as it streams.

Text that arrives twice (as deltas, and at the end of a passage, an item or the reply) is emitted once; text that
arrives only at an end is emitted then. Items are found by index, because some servers change ids on the way.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from halocline.ports.model import ModelEvent
from halocline.protocol.events import TextDelta, ThinkingDelta
from halocline.protocol.messages import AssistantPart, StopReason, Text, Thinking
from halocline.providers.reply import CallDraft, CallIds, finish_calls, parse_arguments, read_json_text, read_word

_PASSAGES = {"output_text": "text", "refusal": "refusal", "summary_text": "summary", "reasoning_text": "reasoning"}
_THOUGHTS = frozenset({"summary", "reasoning"})


class WireItem(msgspec.Struct):
    """Any output item; missing fields have their default."""

    type: str = ""
    id: Any = None
    call_id: Any = None
    name: str | None = None
    arguments: Any = None
    content: Any = None
    summary: Any = None
    encrypted_content: Any = None
    phase: Any = None


@dataclass(slots=True)
class _Thoughts:
    """Reasoning. `raw` is the whole item as the server wrote it, if it can be sent back."""

    pieces: list[str] = field(default_factory=list)
    raw: str = ""


@dataclass(slots=True)
class _Item:
    """An item. `received` holds each passage's pieces by kind and index; `announced` are arguments sent up front."""

    type: str = ""
    id: str = ""
    phase: str = ""
    received: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    thoughts: _Thoughts | None = None
    call: CallDraft | None = None
    announced: str = ""
    done: bool = False

    def differs(self, sent: WireItem) -> bool:
        """True if the server has put another item in this one's place."""
        if self.call is not None and self.call.sent_id and sent.call_id and (not self.id or self.id != sent.id):
            return self.call.sent_id != read_word(sent.call_id)
        return bool(self.type and sent.type and self.type != sent.type)

    def of_kind(self, kind: str) -> str:
        return "".join(piece for (one, _), pieces in self.received.items() if one == kind for piece in pieces)


@dataclass(slots=True)
class _Words:
    """Consecutive text of one item."""

    item: _Item
    pieces: list[str] = field(default_factory=list)


class Output:
    """All items of one reply. Text stays in the order it arrived."""

    def __init__(self, ids: CallIds, provider: str) -> None:
        self.refused = False
        self._ids = ids
        self._provider = provider
        self._items: dict[int, _Item] = {}
        self._newest: _Item | None = None
        self._words: _Words | None = None
        self._parts: list[_Words | _Thoughts | _Item] = []

    def begin(self, index: int | None, sent: WireItem) -> tuple[ModelEvent, ...]:
        """Start an item; one that is announced again continues."""
        item = self._find(index, sent.id)
        repeated = item is not None and sent.id == item.id
        if item is None or item.differs(sent) or (item.done and not repeated):
            item = self._new(index)
        self._describe(item, sent)
        item.announced = item.announced or read_json_text(sent.arguments)
        return item.call.preview() if item.call is not None else ()

    def end(self, index: int | None, sent: WireItem, raw: str) -> tuple[ModelEvent, ...]:
        """Finish an item; `raw` is its JSON as the server wrote it."""
        item = self._find(index, sent.id)
        if item is None or item.differs(sent):
            item = self._new(index)
        self._describe(item, sent)
        item.done = True
        events = [event for kind in _PASSAGES.values() for event in self._rest(item, kind, sent)]
        if sent.type == "reasoning" and (sent.encrypted_content or sent.content):
            self._thoughts(item).raw = raw
        if item.call is not None:
            events += self._whole_call(item.call, read_json_text(sent.arguments))
        return tuple(events)

    def close(self, items: Iterable[tuple[WireItem, str]]) -> tuple[ModelEvent, ...]:
        """Finish the reply. Its items count only where their own ends are missing, or when nothing else came."""
        silent = not self._parts
        events: list[ModelEvent] = []
        for index, (sent, raw) in enumerate(items):
            known = self._find(None, sent.id)
            if silent or (known is not None and not known.done):
                events += self.end(index if silent else None, sent, raw)
        return tuple(events)

    def say(self, index: int | None, id: str | None, kind: str, passage: int, text: str) -> tuple[ModelEvent, ...]:
        """Add a piece of a passage."""
        return self._say(self._at(index, id), kind, passage, text)

    def complete(self, index: int | None, id: str | None, kind: str, passage: int, text: str) -> tuple[ModelEvent, ...]:
        """Finish a passage; emit what is still missing of it."""
        if not text:
            return ()
        item = self._at(index, id)
        if kind == "arguments":
            return self._whole_call(self._call(item), text)
        received = "".join(item.received.get((kind, passage), ()))
        rest = [self._say(item, kind, passage, missing) for _, missing in _new_passages(received, [(passage, text)])]
        return tuple(event for events in rest for event in events)

    def parts(self, stop: StopReason) -> Iterable[AssistantPart]:
        """Yield the message's content."""
        called = [part for part in self._parts if isinstance(part, _Item)]
        for item in called:
            if item.call and item.announced and not item.call.pieces:
                item.call.pieces.append(item.announced)
        calls = iter(finish_calls([item.call or CallDraft() for item in called], self._ids, stop))
        for part in self._parts:
            match part:
                case _Words():
                    yield Text("".join(part.pieces), phase=part.item.phase)
                case _Thoughts(pieces=pieces, raw=raw):
                    yield Thinking("".join(pieces), redacted=raw, provider=self._provider)
                case _Item():
                    yield next(calls)

    def _find(self, index: int | None, id: str | None) -> _Item | None:
        if index is not None:
            return self._items.get(index)
        return next((item for item in self._items.values() if id and item.id == id), None)

    def _at(self, index: int | None, id: str | None) -> _Item:
        """Find the item of an event; the newest one when it names none."""
        item = self._find(index, id) or (self._newest if index is None else None)
        return item or self._new(index)

    def _new(self, index: int | None) -> _Item:
        item = self._newest = _Item()
        self._items[-1 - len(self._items) if index is None else index] = item
        return item

    def _describe(self, item: _Item, sent: WireItem) -> None:
        item.type = item.type or sent.type
        item.id = read_word(sent.id) or item.id
        item.phase = sent.phase if isinstance(sent.phase, str) else item.phase
        if sent.type != "function_call":
            return
        call = self._call(item)
        call.name = call.name or sent.name or ""
        if (sent_id := read_word(sent.call_id)) and not call.sent_id:
            call.sent_id, call.id = sent_id, self._ids.claim(sent_id)

    def _call(self, item: _Item) -> CallDraft:
        if item.call is None:
            item.call = CallDraft()
            self._parts.append(item)
        return item.call

    def _thoughts(self, item: _Item) -> _Thoughts:
        if item.thoughts is None:
            item.thoughts = _Thoughts()
            self._parts.append(item.thoughts)
        return item.thoughts

    def _say(self, item: _Item, kind: str, passage: int, text: str) -> tuple[ModelEvent, ...]:
        if not text:
            return ()
        if kind == "arguments":
            call = self._call(item)
            call.pieces.append(text)
            return call.preview()
        received = item.received.setdefault((kind, passage), [])
        received.append(text)
        if kind in _THOUGHTS:
            thoughts = self._thoughts(item)
            shown = f"\n\n{text}" if len(received) == 1 and thoughts.pieces else text
            thoughts.pieces.append(shown)
            return (ThinkingDelta(shown),)
        self.refused = self.refused or kind == "refusal"
        apart = self._words is not None and self._words.item is not item
        if self._words is None or apart:
            self._words = _Words(item)
            self._parts.append(self._words)
        self._words.pieces.append(text)
        return (TextDelta(text, apart=apart),)

    def _rest(self, item: _Item, kind: str, sent: WireItem) -> Iterator[ModelEvent]:
        for passage, missing in _new_passages(item.of_kind(kind), _list_passages(sent, kind)):
            yield from self._say(item, kind, passage, missing)

    def _whole_call(self, call: CallDraft, whole: str) -> tuple[ModelEvent, ...]:
        """Complete a call's arguments. Those that came in pieces win, unless they are not one complete object."""
        pieces = call.arguments
        if whole.startswith(pieces):
            call.pieces += [whole[len(pieces) :]] if len(whole) > len(pieces) else []
        elif whole and parse_arguments(pieces) is None:
            call.pieces, call.shown = [whole], 1
        return call.preview()


def _list_passages(sent: WireItem, kind: str) -> Iterator[tuple[int, str]]:
    """Yield index and whole text of each passage of a kind."""
    for passages in (sent.summary, sent.content):
        for index, passage in enumerate(passages if isinstance(passages, list) else ()):
            if isinstance(passage, dict) and _PASSAGES.get(str(passage.get("type"))) == kind:
                text = passage.get("refusal" if kind == "refusal" else "text")
                yield index, text if isinstance(text, str) else ""


def _new_passages(received: str, passages: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the text of these passages that has not arrived yet. Where they contradict earlier text, that wins."""
    for index, text in passages:
        if received.startswith(text):
            received = received[len(text) :]
        elif text.startswith(received):
            yield index, text[len(received) :]
            received = ""
        else:
            return
