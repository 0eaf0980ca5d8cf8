"""How fast streams are read, in this process: each family's translator, and the text protocol, against `json.loads`.

A stream holds a long answer and a call with a long argument, in deltas of 24 characters. Floor: cut the same bytes
into events and decode each with `json.loads`. Both read it in pieces of 16 KB. All figures are CPU time.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from tests.servers.gemini_format import GeminiFormat
from tests.servers.model_server import Call, Turn
from tests.servers.responses_format import ResponsesFormat
from tests.servers.wire_formats import AnthropicFormat, OpenAIFormat, WireFormat

from benchmarks.figures import Figure
from halocline.ports.model import ModelEvent, Request
from halocline.ports.tool import ToolSpec
from halocline.protocol.messages import Text, UserMessage
from halocline.providers.anthropic import stream as anthropic_stream
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.providers.gemini import stream as gemini_stream
from halocline.providers.openai_chat import stream as openai_stream
from halocline.providers.openai_responses import stream as responses_stream
from halocline.providers.reply import ReplyReader
from halocline.providers.sse import EventParser
from halocline.providers.text_tools.model import TextProtocol

_PIECE = 16_384
_LINES = 1500
_MB = 1e-6
_MS = 1e3

_TOOL = ToolSpec(
    "write_to_file",
    "Writes.",
    {"properties": {"path": {"type": "string"}, "content": {"type": "string"}}, "required": ["path", "content"]},
)
_REQUEST = Request(model="", system="", messages=(UserMessage((Text("Go."),)),), tools=(_TOOL,))
_PROSE = "".join(f"Line {number}: the tide has a <layer> of its own.\n" for number in range(_LINES))
_FILE = "".join(f"    value_{number} = pairs[{number}] < limit  # kept\n" for number in range(_LINES))

FAMILIES: dict[str, tuple[WireFormat, Callable[[Request, Endpoint], ReplyReader]]] = {
    "anthropic": (AnthropicFormat(), anthropic_stream.FromWire),
    "openai": (OpenAIFormat(), openai_stream.FromWire),
    "openai-responses": (ResponsesFormat(), responses_stream.FromWire),
    "gemini": (GeminiFormat(), gemini_stream.FromWire),
}
_TITLES = {
    "anthropic": "Anthropic Messages",
    "openai": "Chat Completions",
    "openai-responses": "Responses",
    "gemini": "Gemini",
    "text": "Chat Completions, calls as text",
}


@dataclass(frozen=True, slots=True)
class Race:
    """One stream, and how ours reads it."""

    name: str
    data: bytes
    read: Callable[[bytes], int]

    @property
    def title(self) -> str:
        return f"reading a stream: {_TITLES[self.name]}, ms a MB"


def races() -> list[Race]:
    """A race for each family, and one for the text protocol."""
    turn = Turn(text=_PROSE, calls=(Call("write_to_file", {"path": "a.py", "content": _FILE}),))
    markup = f"<write_to_file>\n<path>a.py</path>\n<content>\n{_FILE}</content>\n</write_to_file>"
    native = [Race(family, _stream(family, turn), _reader_of(family)) for family in FAMILIES]
    return [*native, Race("text", _stream("openai", Turn(text=_PROSE + markup)), _read_markup)]


def _stream(family: str, turn: Turn) -> bytes:
    speaks, _ = FAMILIES[family]
    return b"".join(piece.data for piece in speaks.stream(turn, "bench", 1))


def _reader_of(family: str) -> Callable[[bytes], int]:
    return lambda data: sum(1 for _ in _record_message(family, data))


def _record_message(family: str, data: bytes) -> Iterator[ModelEvent]:
    _, understands = FAMILIES[family]
    translator, parser = understands(_REQUEST, Endpoint(VENDORS[family], "bench")), EventParser()
    for at in range(0, len(data), _PIECE):
        for payload in parser.feed(data[at : at + _PIECE]):
            yield from translator.feed(payload)
    yield from translator.finish()


@dataclass(frozen=True, slots=True)
class _Heard:
    """A model whose reply has all come."""

    data: bytes
    name: str = "openai/bench"

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        for event in _record_message("openai", self.data):
            yield event

    async def close(self) -> None:
        return None


def _read_markup(data: bytes) -> int:
    async def read() -> int:
        return sum([1 async for _ in TextProtocol(_Heard(data)).stream(_REQUEST)])

    return asyncio.run(read())


def read_by_floor(data: bytes) -> int:
    """The least: cut into events, decode each."""
    read, rest = 0, b""
    for at in range(0, len(data), _PIECE):
        *events, rest = (rest + data[at : at + _PIECE]).replace(b"\r\n", b"\n").split(b"\n\n")
        for event in events:
            payload = event[event.find(b"data: ") + 6 :]
            if payload.startswith(b"{"):
                json.loads(payload)
                read += 1
    return read


def figures(rounds: int) -> list[Figure]:
    """The medians of so many rounds, floor and ours in turn."""
    return [_figure(race, rounds) for race in races()]


def _figure(race: Race, rounds: int) -> Figure:
    floor, ours = [], []
    for _ in range(rounds):
        floor.append(_seconds(read_by_floor, race.data))
        ours.append(_seconds(race.read, race.data))
    size = len(race.data) * _MB
    return Figure(f"parse_{race.name}", race.title, _per_mb(floor, size), _per_mb(ours, size))


def _seconds(read: Callable[[bytes], int], data: bytes) -> float:
    began = time.process_time()
    if not read(data):
        raise RuntimeError("nothing was read")
    return time.process_time() - began


def _per_mb(seconds: Sequence[float], size: float) -> float:
    return median(seconds) * _MS / size
