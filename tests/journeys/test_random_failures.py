"""Tasks whose model server fails in every way, at random: a plain prompt afterwards always goes on.

The server is as strict as the strictest: it refuses every history that breaks the rules of its family, for ever, and
some never take a picture, a field that a request can do without, or a long request.
`make random-failures TURNS=2000 SEED=7` plays as many turns as one wants.
"""

import asyncio
import contextlib
import dataclasses
import os
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.conformance.test_foreign_histories import NINE, SERVERS, Server, broken_rules
from tests.conformance.test_model_port import FAMILIES
from tests.journeys.conftest import YOLO, Journey, _no_wait
from tests.journeys.test_refused_pictures import BEGINNING, png
from tests.net.raw_server import read_request, serving
from tests.providers.streams import endpoint
from tests.servers.gemini_format import GeminiFormat
from tests.servers.ollama_format import OllamaFormat
from tests.servers.responses_format import ResponsesFormat
from tests.servers.wire_formats import AnthropicFormat, OpenAIFormat

from halocline.client.tasks import Client
from halocline.net.network import Network
from halocline.ports.model import Model
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.script import Call, Turn
from halocline.providers.text_tools.correction import Correcting
from halocline.providers.wrappers.retry import Retrying
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller
from halocline.store.settings.sections import McpSettings
from halocline.store.settings.settings import Settings

FORMATS: dict[str, Any] = {
    "anthropic": AnthropicFormat(),
    "openai": OpenAIFormat(),
    "openai-responses": ResponsesFormat(),
    "gemini": GeminiFormat(),
    "ollama": OllamaFormat(),
}
STRICT = [
    "anthropic",
    "openai-responses",
    "gemini",
    "ollama",
    "deepseek",
    "kimi",
    "mistral",
    "devstral in vLLM",
    "gemma in llama.cpp",
]
CALLS = (
    Call("read_file", {"path": "a.txt"}),
    Call("list_files", {"path": "."}),
    Call("read_file<|channel|>commentary", {"path": "a.txt"}),
    Call("functions.list_files", {"path": "."}, id="functions.list_files:0"),
    Call("no_such tool", {}),
    Call("read_file", raw='{"path": "a'),
    Call("read_file", raw='{}{"path": "a.txt"}', id="x" * 70),
    Call("", {"path": "a.txt"}),
    Call("read_file", {"path": "a.png"}),
    Call("read_file", {"path": "long.txt"}),
)
STATUSES = (400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529)
BODIES = (
    b'{"error": {"message": "Something is wrong.", "type": "x"}}',
    b"<html><title>Bad gateway</title></html>",
    b"",
    b'{"error": {"message": "prompt is too long: 250000 tokens > 200000 maximum", "code": "context_length_exceeded"}}',
)
LONGEST = 90_000
"""Bytes of a request that a server with a small window takes."""
FIELDS = ("stream_options", "include", "store", "parallel_tool_calls")
NEVER: dict[str, Callable[[bytes], str]] = {
    "": lambda raw: "",
    "a picture": lambda raw: "Could not process image" if BEGINNING in raw else "",
    "a field": lambda raw: next(
        (f"Unsupported parameter: '{name}'" for name in FIELDS if name in msgspec.json.decode(raw)), ""
    ),
    "a long request": lambda raw: "prompt is too long: 30000 tokens > 25000 maximum" if len(raw) > LONGEST else "",
}
"""What a server never takes, and what it says of it."""
SOUND = Turn(text="It goes on.")


class FailingServer:
    """Answers at random while it is not `sound`. `refused` are the rules that requests broke."""

    def __init__(self, random: Random) -> None:
        self.sound = True
        self.refused: list[str] = []
        self.kinds: set[str] = set()
        self.to: Server = SERVERS["anthropic"]
        self.never = ""
        self._random = random
        self._count = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head, body = await read_request(reader)
                if head.startswith(b"GET ") or b"/api/show" in head or b"/api/ps" in head:
                    writer.write(_document(404, b"{}"))
                    continue
                asked = msgspec.json.decode(body)
                if broken := broken_rules(asked, self.to):
                    self.refused += broken
                    writer.write(_document(400, b'{"error": {"message": "Conversation roles must alternate"}}'))
                    continue
                if words := NEVER[self.never](body):
                    self.kinds.add(f"never {self.never}")
                    writer.write(_document(400, msgspec.json.encode({"error": {"message": words}})))
                    continue
                if not await self._reply(writer):
                    return

    async def _reply(self, writer: asyncio.StreamWriter) -> bool:
        """Answer; False if the connection is not to be used again."""
        self._count += 1
        random = self._random
        often = ["calls"] * 4
        kind = (
            "sound" if self.sound else random.choice([*_FAILURES, *often, "text", "refused", "a long wait", "nothing"])
        )
        self.kinds.add(kind)
        match kind:
            case "nothing":
                return False
            case "refused":
                writer.write(_document(random.choice(STATUSES), random.choice(BODIES)))
            case "a long wait":
                writer.write(_document(429, BODIES[0], b"Retry-After: 11180\r\n"))
            case "sound" | "text":
                self._stream(writer, self._bytes(SOUND if kind == "sound" else Turn(text="So.", thinking="Hm.")))
            case "calls":
                calls = tuple(random.choice(CALLS) for _ in range(random.randint(1, 3)))
                text, thinking = random.choice(["", "I look."]), random.choice(["", "Hm."])
                self._stream(writer, self._bytes(Turn(text=text, thinking=thinking, calls=calls)))
            case _:
                data = self._bytes(Turn(text="I say this.", thinking="Hm.", calls=(random.choice(CALLS),)))
                self._stream(writer, _FAILURES[kind](data, random), whole=kind != "cut")
                return False
        await writer.drain()
        return True

    def _bytes(self, turn: Turn) -> bytes:
        return b"".join(piece.data for piece in FORMATS[self.to.family].stream(turn, "m", self._count))

    def _stream(self, writer: asyncio.StreamWriter, data: bytes, *, whole: bool = True) -> None:
        kind = FORMATS[self.to.family].content_type.encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\nTransfer-Encoding: chunked\r\n\r\n")
        writer.write((b"%x\r\n%s\r\n" % (len(data), data) if data else b"") + (b"0\r\n\r\n" if whole else b""))


def _insert(data: bytes, random: Random, odd: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    lines.insert(random.randint(0, len(lines)), odd)
    return b"".join(lines)


_FAILURES: dict[str, Callable[[bytes, Random], bytes]] = {
    "cut": lambda data, random: data[: random.randint(0, len(data))],
    "ended early": lambda data, random: data[: random.randint(0, len(data))],
    "garbage inside": lambda data, random: _insert(data, random, b"data: garbage\n\n"),
    "an error inside": lambda data, random: _insert(
        data, random, b'data: {"type":"error","error":{"message":"x"}}\n\n'
    ),
    "a page": lambda data, random: b"<html>no</html>",
    "garbage behind": lambda data, random: data + b"data: garbage\n\n",
    "thoughts alone": lambda data, random: (
        b'data: {"choices":[{"delta":{"reasoning":"<read_file>"}}]}\n\ndata: [DONE]\n\n'
    ),
    "a byte changed": lambda data, random: data.replace(b":", b";", random.randint(1, 3)),
    "silent and empty": lambda data, random: b"",
}


def _document(status: int, body: bytes, more: bytes = b"") -> bytes:
    head = b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n"
    return head % (status, len(body), more) + body


class WireAssembly(Assembly):
    """Tasks of the server at `url`, whose retries do not wait."""

    def __init__(self, journey: Journey, server: Server, url: str) -> None:
        super().__init__(journey.home, Settings(sandbox="off", image_models=["*"], mcp=McpSettings(wait=0.0)), {})
        self._server, self._url = server, url

    async def model(self, named: str) -> Model:
        to = self._server
        at = endpoint(to.provider_name, to.model or "m", self._url)
        at = replace(at, network=Network(stall_timeout=5.0, first_byte_timeout=5.0))
        return Retrying(Correcting(FAMILIES[to.family](at, self.blobs)), waits=(0.0,), sleep=_no_wait)


async def live(journey: Journey, turns: int, seed: int) -> FailingServer:
    """Play so many turns, at one server after another, and a plain prompt behind each few of them."""
    random = Random(seed)
    server = FailingServer(random)
    journey.write("a.txt", "alpha\n")
    journey.write("long.txt", "\n".join(f"line {number} of a text that fills a window" for number in range(500)))
    journey.write("a.png", png())

    def stop(event: ev.Event) -> cmd.AnyCommand | None:
        is_begun = isinstance(event, ev.TextDelta | ev.ToolCallStarted | ev.StepStarted)
        return cmd.Interrupt(task=journey.task) if is_begun and random.random() < 0.1 else None

    async with serving(server.answer) as url:
        played = 0
        while played < turns:
            to = SERVERS[random.choice(STRICT)]
            # Whatever ids a server gives, it takes them back; Mistral's form is for all.
            server.never = random.choice([*NEVER])
            server.to = dataclasses.replace(to, ids=to.ids if to.ids == NINE else r".{1,70}")
            client = Client(Controller(WireAssembly(journey, server.to, url)), "test")
            try:
                await journey.open(client, YOLO, resume=journey.task)
                for _ in range(random.randint(1, 4)):
                    server.sound = False
                    await journey.prompt(client, f"Turn {played}", stop)
                    played += 1
                server.sound = True
                await journey.prompt(client, "Go on.")
                end = journey.state.last_end
                assert end is not None
                assert (end.reason, server.refused) == (StopReason.END_TURN, []), (seed, played, server.never, end)
            finally:
                await client.close()
    return server


_OF_A_TASK = 50
"""Turns of one task, of the two thousand."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_a_plain_prompt_goes_on_after_failures_of_every_kind(tmp_path, seed):
    journey = Journey(tmp_path)
    await live(journey, 12, seed)
    assert len([event for event in journey.logged if isinstance(event, ev.TurnEnded)]) > 12


@pytest.mark.long
async def test_two_thousand_turns_leave_no_task_that_cannot_go_on(tmp_path):
    turns, first = (int(os.environ.get(name, usual)) for name, usual in (("TURNS", 2000), ("SEED", 1000)))
    kinds: set[str] = set()
    for seed in range(first, first + turns // _OF_A_TASK):
        (folder := tmp_path / str(seed)).mkdir()
        kinds |= (await live(Journey(folder), _OF_A_TASK, seed)).kinds
    every = {*_FAILURES, "sound", "calls", "text", "refused", "a long wait", "nothing"}
    assert kinds == every | {f"never {one}" for one in NEVER if one}
