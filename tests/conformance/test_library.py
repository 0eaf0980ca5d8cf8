"""What the library is given and what it gives back, beyond the promises of every model."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from msgspec.structs import replace
from tests.conformance.event_stream import Bedrock, bedrock_server, frame, reply
from tests.conformance.sdks import PICTURE
from tests.net.raw_server import read_request, serving
from tests.providers.markup import TOOLS
from tests.providers.streams import HELLO, MemoryBlobs, collected, endpoint, message_of, request, text_of, usage_of
from tests.servers.model_server import Call, Fault, ModelServer, Turn
from tests.servers.proxy_server import ProxyServer

from halocline.net.network import Network
from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError
from halocline.protocol.events import ToolCallDelta
from halocline.protocol.messages import (
    AssistantMessage,
    Image,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from halocline.protocol.secrets.secret import Secret
from halocline.providers.catalog.file import BUNDLED, Catalogue
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.providers.sdk.model import Library
from halocline.runtime.models.keys import FoundKey, Keys
from halocline.runtime.models.resolve import open_model
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

LIBRARY = [vendor for vendor in VENDORS.values() if vendor.family == "library"]


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "project")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")


@asynccontextmanager
async def asked(
    server: ModelServer, provider: str = "azure-chat", model: str = "gpt-5.6", network: Network | None = None
):
    address = server.url("anthropic" if provider == "vertex" else "openai")
    at = replace(endpoint(provider, model, address), network=network or Network())
    library = Library(at, MemoryBlobs(picture=PICTURE))
    try:
        yield library
    finally:
        await library.close()


def test_opening_a_model_imports_nothing_of_the_library() -> None:
    probe = (
        "import sys; from halocline.providers.sdk.model import Library\n"
        "from halocline.providers.catalog.vendors import VENDORS\n"
        "from halocline.providers.endpoint import Endpoint\n"
        "Library(Endpoint(VENDORS['azure-chat'], 'm'), None)\n"
        "print([name for name in ('pydantic_ai', 'openai', 'anthropic', 'boto3', 'httpx2') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_what_is_not_installed_is_named_with_the_command_that_installs_it() -> None:
    vendor = Vendor("cloud", "Cloud", "library", packages=("openai", "no_such_sdk", "no_such.sdk"))
    with pytest.raises(UsageError) as caught:
        Library(Endpoint(vendor, "m"), MemoryBlobs())
    assert caught.value.text == "Cloud needs packages that are not installed: no_such_sdk, no_such.sdk."
    assert "pip install 'halocline[providers]'" in caught.value.hint


@pytest.mark.parametrize("vendor", LIBRARY, ids=lambda vendor: vendor.name)
def test_every_vendor_of_the_library_has_a_way_to_be_made(vendor: Vendor) -> None:
    from halocline.providers.sdk.vendors import MAKERS

    assert vendor.name in MAKERS
    assert vendor.packages


async def test_tools_are_described_as_they_are() -> None:
    async with ModelServer([Turn(text="Well.")]) as server, asked(server) as library:
        await collected(library, request(tools=TOOLS))
    sent = {tool["function"]["name"]: tool["function"] for tool in server.requests[0].body["tools"]}
    assert {name: function["parameters"] for name, function in sent.items()} == {t.name: t.schema for t in TOOLS}
    assert not any(function.get("strict") for function in sent.values())


async def test_pictures_go_along_and_a_missing_one_is_told() -> None:
    said = UserMessage((Text("What is this?"), Image("image/png", "picture"), Image("image/png", "gone")))
    async with ModelServer([Turn(text="A dot.")]) as server, asked(server) as library:
        await collected(library, request(said))
    text, picture, missing = server.requests[0].body["messages"][1]["content"]
    assert (text["text"], missing["text"]) == ("What is this?", "[Image missing: its file is gone.]")
    assert picture["image_url"]["url"].startswith("data:image/png;base64,")


THINKERS = [("azure-responses", "gpt-5.6"), ("vertex", "claude-sonnet-5"), ("vertex", "gemini-3.8-flash")]


@pytest.mark.parametrize(("provider", "model"), THINKERS)
async def test_thinking_goes_back_as_it_came_and_only_to_its_maker(provider: str, model: str) -> None:
    turn = Turn(thinking="Hm.", text="I look.", calls=(Call("read_file", {"path": "a"}, id="call_1"),))
    turns = [turn, Turn(text="One."), Turn(text="Two.")]
    async with ModelServer(turns) as server, asked(server, provider, model) as library:
        first = message_of(await collected(library, request(tools=TOOLS)))
        history = (HELLO, first, ToolResult(first.tool_calls[0].id, (Text("forty-two"),)))
        await collected(library, request(*history, tools=TOOLS))
        strange = msgspec.structs.replace(first, content=tuple(map(strangers, first.content)))
        await collected(library, request(HELLO, strange, history[2], tools=TOOLS))
    own, foreign = server.requests[1].raw, server.requests[2].raw
    signature = b"c2VjcmV0IHRob3VnaHRz" if provider == "azure-responses" else b"c2lnbmVk"
    assert (signature in own, b"Hm." in foreign, signature in foreign) == (True, False, False)
    assert b"<think>" not in own + foreign


def strangers(part: object) -> object:
    return msgspec.structs.replace(part, provider="another") if isinstance(part, Thinking) else part


async def test_ids_that_a_vendor_would_refuse_are_changed_alike_in_call_and_result() -> None:
    strange = ("call/1", "x" * 70)
    called = AssistantMessage(tuple(ToolCall(id, "list_files", {}) for id in strange))
    results = [ToolResult(id, (Text("Nothing."),)) for id in strange]
    async with ModelServer([Turn(text="Well.")]) as server, asked(server) as library:
        await collected(library, request(HELLO, called, *results))
    call, *told = server.requests[0].body["messages"][2:]
    ids = [each["id"] for each in call["tool_calls"]]
    assert ids == [each["tool_call_id"] for each in told]
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", id) for id in ids)


async def test_an_answer_that_nobody_reads_is_let_go_of() -> None:
    import httpx2

    from halocline.providers.sdk.http import NetworkTransport

    turn = Turn(text="HalfHalf", fault=Fault.STALL)
    async with ModelServer([turn]) as server, httpx2.AsyncClient(transport=NetworkTransport(Network())) as client:
        async with client.stream("POST", f"{server.url('openai')}/chat/completions", json={"messages": []}) as answer:
            assert answer.status_code == 200
        await server.disconnected()


async def test_one_client_is_made_for_each_server(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2

    from halocline.providers.sdk import http

    made: list[str] = []

    class CountedClient(http.HttpClient):
        def __init__(self, origin: str, network: Network) -> None:
            made.append(origin)
            super().__init__(origin, network)

    monkeypatch.setattr(http, "HttpClient", CountedClient)
    turns = [Turn(text="One."), Turn(text="Two.")]
    transport = http.NetworkTransport(Network())
    async with ModelServer(turns) as server, httpx2.AsyncClient(transport=transport) as client:
        for _ in turns:
            await client.post(f"{server.url('openai')}/chat/completions", json={"messages": []})
    assert len(made) == 1


async def test_a_thought_without_a_seal_is_not_told_as_words() -> None:
    spoken = AssistantMessage((Thinking("Hm.", provider="azure-chat"), Text("So.")))
    async with ModelServer([Turn(text="Well.")]) as server, asked(server) as library:
        await collected(library, request(HELLO, spoken, HELLO))
    assert b"Hm." not in server.requests[0].raw


async def test_a_failed_call_is_told_as_failed() -> None:
    called = AssistantMessage((ToolCall("call_1", "read_file", {"path": "a"}),))
    result = ToolResult("call_1", (Text("No such file."),), is_error=True)
    async with ModelServer([Turn(text="Oh."), Turn(text="Oh.")]) as server, asked(server) as library:
        await collected(library, request(HELLO, called, result))
        async with asked(server, "vertex", "claude-sonnet-5") as claude:
            await collected(claude, request(HELLO, called, result))
    assert server.requests[0].body["messages"][-1]["content"] == '{"error":"No such file."}'
    assert server.requests[1].body["messages"][-1]["content"][0]["is_error"] is True


async def test_claude_s_prompt_is_cached_up_to_its_end() -> None:
    async with ModelServer([Turn(text="Well.")]) as server, asked(server, "vertex", "claude-sonnet-5") as claude:
        await collected(claude, request(tools=TOOLS))
    body = server.requests[0].body
    assert body["system"][-1]["cache_control"]["type"] == "ephemeral"
    assert body["messages"][-1]["content"][-1]["cache_control"]["type"] == "ephemeral"


async def test_a_price_that_only_the_library_knows_is_told() -> None:
    turn = Turn(text="Well.", usage=Usage(input=1_000_000, output=1))
    async with ModelServer([turn]) as server, asked(server, model="gpt-4o") as library:
        cost = usage_of(await collected(library)).cost
    assert cost is not None
    assert cost > 1


async def test_nothing_below_asks_again_by_itself() -> None:
    async with ModelServer([Turn(fault=Fault.RATE_LIMIT), Turn(text="Well.")]) as server, asked(server) as library:
        with pytest.raises(ModelError):
            await collected(library)
    assert len(server.requests) == 1


async def test_silence_has_an_end() -> None:
    turns, network = [Turn(text="HalfHalf", fault=Fault.STALL)], Network(stall_timeout=0.05)
    async with ModelServer(turns) as server, asked(server, network=network) as library:
        with pytest.raises(ModelError, match=r"sent nothing for 0\.05 s") as caught:
            await collected(library)
    assert caught.value.kind is ModelErrorKind.STALLED


async def test_a_server_that_is_not_there_is_unreachable(unused_tcp_port: int) -> None:
    library = Library(endpoint("azure-chat", base_url=f"http://127.0.0.1:{unused_tcp_port}/v1"), MemoryBlobs())
    with pytest.raises(ModelError, match="refused the connection") as caught:
        await collected(library)
    await library.close()
    assert caught.value.kind is ModelErrorKind.UNREACHABLE


async def test_the_library_goes_the_way_that_the_settings_name(tmp_path) -> None:
    async with ModelServer([Turn(text="Hello.")]) as server, ProxyServer() as proxy:
        settings = Settings(base_url=server.url("openai"), proxy=proxy.url)
        keys = Keys(Home(tmp_path), {}, FoundKey(Secret("key"), "--api-key"))
        model = await open_model("azure-chat/m", settings, {}, keys, DiskBlobs(tmp_path), Catalogue(BUNDLED))
        await collected(model)
        await model.close()
    assert (len(server.requests), len(proxy.requests)) == (1, 1)


async def test_azure_without_an_address_says_which_variable_holds_it() -> None:
    library = Library(endpoint("azure-chat"), MemoryBlobs())
    with pytest.raises(ModelError, match="AZURE_OPENAI_ENDPOINT is not set"):
        await collected(library)


async def test_codex_without_a_sign_in_says_how_to_sign_in(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    library = Library(endpoint("codex"), MemoryBlobs())
    with pytest.raises(ModelError) as caught:
        await collected(library)
    assert caught.value.kind is ModelErrorKind.AUTH
    assert "codex login" in caught.value.hint


async def test_a_cloud_without_a_region_says_which_variable_holds_it(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(ModelError, match="region") as caught:
        await collected(Library(endpoint("bedrock"), MemoryBlobs()))
    assert (caught.value.kind, "AWS_REGION" in caught.value.hint) == (ModelErrorKind.AUTH, True)


async def test_google_without_credentials_says_how_to_sign_in(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    library = Library(endpoint("vertex", "gemini-3.8-flash", key=""), MemoryBlobs())
    with pytest.raises(ModelError) as caught:
        await collected(library)
    assert caught.value.kind is ModelErrorKind.AUTH
    assert "gcloud auth" in caught.value.hint


NONSENSE = [
    b"null",
    b"[]",
    b"7",
    b'"text"',
    b"{",
    b"\xff\xfe",
    b'{"type": 7}',
    b'{"choices": "x"}',
    b'{"choices": [7]}',
    b'{"candidates": [7]}',
    b'{"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta"}}',
    b'{"type": "response.output_item.added", "item": 7}',
]


@pytest.mark.parametrize("payload", NONSENSE)
@pytest.mark.parametrize(("provider", "model"), [("azure-chat", "gpt-5.6"), *THINKERS])
async def test_payloads_that_are_no_events_give_a_model_error(provider: str, model: str, payload: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        body = b"data: %s\n\n" % payload
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
        writer.write(b"content-length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()

    async with serving(answer) as url:
        library = Library(endpoint(provider, model, url.replace("/base", "/v1")), MemoryBlobs())
        with pytest.raises(ModelError):
            await collected(library)
        await library.close()


@asynccontextmanager
async def bedrock(*answers: tuple[int, bytes] | None, **network: float) -> AsyncIterator[tuple[Library, Bedrock]]:
    async with bedrock_server(answers) as server:
        at = endpoint("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0", server.url)
        library = Library(replace(at, network=Network(**network)), MemoryBlobs())
        yield library, server
        await library.close()


async def test_bedrock_is_heard_in_amazon_s_own_framing() -> None:
    usage = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 180}
    whole = reply(**usage, cacheReadInputTokens=50, cacheWriteInputTokens=10)
    async with bedrock((200, whole)) as (library, server):
        events = await collected(library, request(tools=TOOLS))
    message = message_of(events)
    assert (text_of(events), message.text, message.stop_reason) == ("I look.", "I look.", StopReason.END_TURN)
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == [
        ("tooluse_1", "read_file", {"path": "a"})
    ]
    assert "".join(event.arguments for event in events if isinstance(event, ToolCallDelta)) == '{"path":"a"}'
    assert usage_of(events).usage == Usage(input=100, output=20, cache_read=50, cache_write=10)
    assert b"authorization: bearer sk-secret" in server.heads[0].lower()
    assert [tool["toolSpec"]["inputSchema"]["json"] for tool in server.bodies[0]["toolConfig"]["tools"][:-1]] == [
        spec.schema for spec in TOOLS
    ]


async def test_bedrock_s_thinking_goes_back_signed() -> None:
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    async with bedrock((200, reply(**usage)), (200, reply(**usage))) as (library, server):
        first = message_of(await collected(library, request(tools=TOOLS)))
        result = ToolResult(first.tool_calls[0].id, (Text("forty-two"),))
        await collected(library, request(HELLO, first, result, tools=TOOLS))
    thought = server.bodies[1]["messages"][1]["content"][0]["reasoningContent"]["reasoningText"]
    assert thought == {"text": "Hm.", "signature": "c2ln"}


THROTTLED = msgspec.json.encode({"message": "Too many requests, please wait.", "__type": "ThrottlingException"})
TOO_LONG = msgspec.json.encode({"message": "Input is too long for requested model.", "__type": "ValidationException"})
DENIED = msgspec.json.encode({"message": "You don't have access.", "__type": "AccessDeniedException"})
OVERLOADED = frame("modelStreamErrorException", {"message": "Overloaded"}, kind="exception")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ((429, THROTTLED), ModelErrorKind.RATE_LIMIT),
        ((400, TOO_LONG), ModelErrorKind.CONTEXT_EXCEEDED),
        ((403, DENIED), ModelErrorKind.AUTH),
        ((200, frame("messageStart", {"role": "assistant"})), ModelErrorKind.NETWORK),
        ((200, b"nonsense" * 9), ModelErrorKind.MALFORMED),
        (None, ModelErrorKind.STALLED),
    ],
    ids=["throttled", "long", "denied", "cut", "nonsense", "silent"],
)
async def test_bedrock_s_failures_have_their_kinds(answer: tuple[int, bytes] | None, kind: ModelErrorKind) -> None:
    async with bedrock(answer, first_byte_timeout=0.2) as (library, _):
        with pytest.raises(ModelError) as caught:
            await collected(library)
    assert caught.value.kind is kind
    assert "sk-secret" not in caught.value.text + caught.value.hint


async def test_an_error_in_the_middle_of_bedrock_s_stream_is_retryable() -> None:
    begun = frame("messageStart", {"role": "assistant"})
    async with bedrock((200, begun + OVERLOADED)) as (library, _):
        with pytest.raises(ModelError) as caught:
            await collected(library)
    assert caught.value.retryable


async def test_bedrock_without_credentials_says_where_they_come_from(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    library = Library(endpoint("bedrock", key=""), MemoryBlobs())
    with pytest.raises(ModelError, match="credentials") as caught:
        await collected(library)
    assert caught.value.kind is ModelErrorKind.AUTH
    assert "AWS_PROFILE" in caught.value.hint
