"""What the provider tests share: a place for blobs, endpoints, and a stream run through a translator."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.events import AssistantMessageCompleted, TextDelta, UsageReported
from halocline.protocol.messages import AssistantMessage, Message, Text, ToolCall, UserMessage
from halocline.providers.catalog.models import ModelInfo, Prices
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.providers.reply import ReplyReader
from halocline.providers.sse import EventParser

E = TypeVar("E")

KNOWN = {
    "anthropic/claude-sonnet-5-5": ModelInfo(window=1_000_000, max_output=128_000, prices=Prices(2.0, 10.0, 0.1, 2.5)),
    "openai/gpt-5.6": ModelInfo(window=1_050_000, max_output=128_000, prices=Prices(2.0, 10.0, 0.2, 2.5)),
    "gemini/gemini-3.8-flash": ModelInfo(window=1_048_576, max_output=65_536, prices=Prices(1.5, 7.5, 0.15)),
}
"""What the tests' models cost, whatever vendors ask by now."""

HELLO = UserMessage((Text("Hello"),))


OTHER_TYPES: list[Any] = [None, True, 7, 7.0, -1.5, "10", "", "text", [], [{}], ["x"], {}, {"x": 1}]


class MemoryBlobs:
    def __init__(self, **blobs: bytes) -> None:
        self.blobs = blobs

    def put(self, data: bytes) -> str:
        ref = f"sha256:{len(self.blobs):064x}"
        self.blobs[ref] = data
        return ref

    def get(self, ref: str) -> bytes:
        return self.blobs[ref]


def endpoint(
    provider: str = "anthropic", model: str = "test-model", base_url: str = "", key: str = "sk-secret"
) -> Endpoint:
    return Endpoint(VENDORS[provider], model, key=key, base_url=base_url, known=KNOWN.get(f"{provider}/{model}"))


def request(*messages: Message, **fields: object) -> Request:
    return Request(model="", system="Be brief.", messages=messages or (HELLO,), **fields)


def translated(translator: ReplyReader, chunks: Iterable[bytes]) -> list[ModelEvent]:
    """All events that a stream of these chunks gives."""
    parser = EventParser()
    events = [event for chunk in chunks for payload in parser.feed(chunk) for event in translator.feed(payload)]
    return [*events, *translator.finish()]


async def collected(model: Model, asked: Request | None = None) -> list[ModelEvent]:
    return [event async for event in as_iterator(model, asked or request())]


def as_iterator(model: Model, asked: Request) -> AsyncIterator[ModelEvent]:
    return model.stream(asked)


def only(kind: type[E], events: Sequence[object]) -> E:
    (found,) = (event for event in events if isinstance(event, kind))
    return found


def message_of(events: Sequence[ModelEvent]) -> AssistantMessage:
    return only(AssistantMessageCompleted, events).message


def usage_of(events: Sequence[ModelEvent]) -> UsageReported:
    return only(UsageReported, events)


def text_of(events: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def call(id: str, **arguments: object) -> ToolCall:
    return ToolCall(id=id, name="read_file", arguments=arguments)


def other_forms(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Each form of a document in which one field has another JSON type, and where it has."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, old in inner:
        for new in OTHER_TYPES:
            copy: Any = {**value} if isinstance(value, dict) else [*value]
            copy[key] = new
            yield (*path, key), copy
        for place, changed in other_forms(old, (*path, key)):
            copy = {**value} if isinstance(value, dict) else [*value]
            copy[key] = changed
            yield place, copy
