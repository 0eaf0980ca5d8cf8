"""What every model promises, whoever fulfils it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager

import pytest
from msgspec.structs import replace
from tests.conformance.service_keys import service_key
from tests.providers.markup import TOOLS, spoken
from tests.providers.streams import (
    HELLO,
    MemoryBlobs,
    collected as collected_of,
    endpoint,
    message_of,
    request as request_of,
    text_of,
    usage_of,
)
from tests.servers.model_server import ModelServer

from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import (
    AssistantMessageCompleted,
    StepRetried,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    UsageReported,
)
from halocline.protocol.messages import AssistantMessage, Message, StopReason, Text, ToolCall, ToolResult, Usage
from halocline.providers.anthropic.request import Anthropic
from halocline.providers.gemini.request import Gemini
from halocline.providers.ollama.request import Ollama
from halocline.providers.openai_chat.request import OpenAIChat
from halocline.providers.openai_responses.request import OpenAIResponses
from halocline.providers.sap.request import SapAiCore
from halocline.providers.scripted.model import Call, Fault, Scripted, Turn
from halocline.providers.sdk.model import Library
from halocline.providers.text_tools.correction import Correcting
from halocline.providers.text_tools.model import TextProtocol
from halocline.providers.wrappers.retry import Retrying

Opened = Callable[[Sequence[Turn]], AsyncIterator[Model]]

FAMILIES = {
    "anthropic": Anthropic,
    "openai": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "gemini": Gemini,
    "ollama": Ollama,
    "azure-chat": Library,
    "azure-responses": Library,
}
DELTAS = (TextDelta, ThinkingDelta, ToolCallDelta, StepRetried)


@asynccontextmanager
async def anthropic(turns: Sequence[Turn], write_size: int = 0) -> AsyncIterator[Model]:
    async with ModelServer(turns, write_size=write_size) as server:
        model = Anthropic(endpoint("anthropic", base_url=server.url("anthropic")), MemoryBlobs())
        yield model
        await model.close()


@asynccontextmanager
async def openai(turns: Sequence[Turn], write_size: int = 0) -> AsyncIterator[Model]:
    async with ModelServer(turns, write_size=write_size) as server:
        model = OpenAIChat(endpoint("openai", base_url=server.url("openai")), MemoryBlobs())
        yield model
        await model.close()


@asynccontextmanager
async def gemini(turns: Sequence[Turn], write_size: int = 0) -> AsyncIterator[Model]:
    async with ModelServer(turns, write_size=write_size) as server:
        model = Gemini(endpoint("gemini", base_url=server.url("gemini")), MemoryBlobs())
        yield model
        await model.close()


@asynccontextmanager
async def responses(turns: Sequence[Turn], write_size: int = 0) -> AsyncIterator[Model]:
    async with ModelServer(turns, write_size=write_size) as server:
        model = OpenAIResponses(endpoint("openai-responses", base_url=server.url("openai-responses")), MemoryBlobs())
        yield model
        await model.close()


@asynccontextmanager
async def ollama(turns: Sequence[Turn], write_size: int = 0) -> AsyncIterator[Model]:
    async with ModelServer(turns, write_size=write_size) as server:
        model = Ollama(endpoint("ollama", base_url=server.url("ollama")), MemoryBlobs())
        yield model
        await model.close()


@asynccontextmanager
async def sap(turns: Sequence[Turn], write_size: int = 0) -> AsyncIterator[Model]:
    async with ModelServer(turns, write_size=write_size) as server:
        model = SapAiCore(endpoint("sap-ai-core", key=service_key(server)), MemoryBlobs())
        yield model
        await model.close()


@asynccontextmanager
async def library(turns: Sequence[Turn], write_size: int = 0) -> AsyncIterator[Model]:
    async with ModelServer(turns, write_size=write_size) as server:
        model = Library(endpoint("azure-chat", base_url=server.url("openai")), MemoryBlobs())
        yield model
        await model.close()


@asynccontextmanager
async def library_with_responses(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with ModelServer(turns) as server:
        model = Library(endpoint("azure-responses", base_url=server.url("openai")), MemoryBlobs())
        yield model
        await model.close()


@asynccontextmanager
async def vertex_with_claude(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with ModelServer(turns) as server:
        model = Library(endpoint("vertex", "claude-test", base_url=server.url("anthropic")), MemoryBlobs())
        yield model
        await model.close()


@asynccontextmanager
async def vertex_with_gemini(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with ModelServer(turns) as server:
        model = Library(endpoint("vertex", "gemini-test", base_url=server.url("anthropic")), MemoryBlobs())
        yield model
        await model.close()


@asynccontextmanager
async def anthropic_in_small_pieces(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with anthropic(turns, write_size=5) as model:
        yield model


@asynccontextmanager
async def openai_in_small_pieces(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with openai(turns, write_size=5) as model:
        yield model


@asynccontextmanager
async def gemini_in_small_pieces(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with gemini(turns, write_size=5) as model:
        yield model


@asynccontextmanager
async def responses_in_small_pieces(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with responses(turns, write_size=5) as model:
        yield model


@asynccontextmanager
async def ollama_in_small_pieces(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with ollama(turns, write_size=5) as model:
        yield model


@asynccontextmanager
async def sap_in_small_pieces(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with sap(turns, write_size=5) as model:
        yield model


@asynccontextmanager
async def library_in_small_pieces(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with library(turns, write_size=5) as model:
        yield model


@asynccontextmanager
async def scripted(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    yield Scripted(turns)


@asynccontextmanager
async def retrying(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with openai(turns) as model:
        yield Retrying(model, waits=())


@asynccontextmanager
async def correcting(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with openai(turns) as model:
        yield Correcting(model)


@asynccontextmanager
async def text_protocol(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    yield TextProtocol(Scripted([spoken(turn) for turn in turns]))


@asynccontextmanager
async def text_protocol_over_http(turns: Sequence[Turn]) -> AsyncIterator[Model]:
    async with openai_in_small_pieces([spoken(turn) for turn in turns]) as model:
        yield TextProtocol(model)


FULFILMENTS = (
    anthropic,
    openai,
    gemini,
    responses,
    ollama,
    sap,
    anthropic_in_small_pieces,
    openai_in_small_pieces,
    gemini_in_small_pieces,
    responses_in_small_pieces,
    ollama_in_small_pieces,
    sap_in_small_pieces,
    library,
    library_with_responses,
    vertex_with_claude,
    vertex_with_gemini,
    library_in_small_pieces,
    scripted,
    retrying,
    correcting,
    text_protocol,
    text_protocol_over_http,
)
every_model = pytest.mark.parametrize("opened", FULFILMENTS, ids=lambda opened: opened.__name__)
models_that_stream_calls = pytest.mark.parametrize(
    # Calls of Gemini and Ollama come whole.
    "opened",
    [opened for opened in FULFILMENTS if "gemini" not in opened.__name__ and "ollama" not in opened.__name__],
    ids=lambda opened: opened.__name__,
)
every_family = pytest.mark.parametrize("family", FAMILIES)


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Google's cloud wants one named."""
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "project")


def request(*messages: Message) -> Request:
    return request_of(*messages, tools=TOOLS)


async def collected(model: Model, asked: Request | None = None) -> list[ModelEvent]:
    return await collected_of(model, asked or request())


FULL = Turn(
    thinking="Let me think about this.",
    text="Grüße! I read two files, and then I say more than one delta holds.",
    calls=(Call("read_file", {"path": "ä.py"}), Call("list_files", {})),
    usage=Usage(input=100, output=20, cache_read=50),
)


@every_model
async def test_deltas_come_first_then_usage_then_the_message(opened: Opened) -> None:
    async with opened([FULL]) as model:
        events = await collected(model)
    assert all(isinstance(event, DELTAS) for event in events[:-2])
    assert isinstance(events[-2], UsageReported)
    assert isinstance(events[-1], AssistantMessageCompleted)


@every_model
async def test_the_message_holds_what_was_streamed(opened: Opened) -> None:
    async with opened([FULL]) as model:
        events = await collected(model)
    message = message_of(events)
    thoughts = "".join(event.text for event in events if isinstance(event, ThinkingDelta))
    assert (thoughts, text_of(events), message.text) == (FULL.thinking, FULL.text, FULL.text)
    assert [(call.name, call.arguments) for call in message.tool_calls] == [
        ("read_file", {"path": "ä.py"}),
        ("list_files", {}),
    ]
    assert {event.call for event in events if isinstance(event, ToolCallDelta)} == {c.id for c in message.tool_calls}
    assert message.stop_reason is StopReason.END_TURN


@every_model
async def test_usage_counts_every_token_once(opened: Opened) -> None:
    async with opened([FULL]) as model:
        counted = usage_of(await collected(model)).usage
    assert counted.total == FULL.usage.total
    assert counted == FULL.usage or "ollama" in opened.__name__  # it does not say what it had in its cache


@every_model
async def test_what_a_cache_was_given_is_counted_apart_or_as_input(opened: Opened) -> None:
    usage = Usage(input=100, output=20, cache_read=50, cache_write=10)
    async with opened([Turn(text="Well.", usage=usage)]) as model:
        counted = usage_of(await collected(model)).usage
    assert counted.total == usage.total
    assert counted.cache_write in (0, usage.cache_write)


@every_model
async def test_the_message_names_the_model(opened: Opened) -> None:
    async with opened([FULL]) as model:
        assert message_of(await collected(model)).model == model.name
        assert "/" in model.name


# Of a call that Gemini could not write, the library tells only that the reply failed; Ollama leaves it in the text.
@pytest.mark.parametrize(
    "opened", [opened for opened in FULFILMENTS if opened not in (vertex_with_gemini, ollama, ollama_in_small_pieces)]
)
async def test_arguments_that_do_not_parse_arrive_as_they_are(opened: Opened) -> None:
    async with opened([Turn(calls=(Call("read_file", raw='{"path": "a'),))]) as model:
        (call,) = message_of(await collected(model)).tool_calls
    assert (call.arguments, call.malformed) == ({}, '{"path": "a')


@models_that_stream_calls
async def test_a_limit_that_cuts_the_last_call_leaves_those_before_it_whole(opened: Opened) -> None:
    calls = (Call("list_files", {}), Call("read_file", raw='{"path": "a'))
    async with opened([Turn(calls=calls, stop=StopReason.MAX_TOKENS)]) as model:
        message = message_of(await collected(model))
    assert message.stop_reason is StopReason.MAX_TOKENS
    assert [(call.name, call.malformed) for call in message.tool_calls] == [
        ("list_files", ""),
        ("read_file", '{"path": "a'),
    ]


@every_model
@pytest.mark.parametrize("stop", [StopReason.MAX_TOKENS, StopReason.REFUSAL])
async def test_the_stop_reason_is_kept(opened: Opened, stop: StopReason) -> None:
    if "ollama" in opened.__name__ and stop is StopReason.REFUSAL:
        pytest.skip("Ollama has no filter that refuses")
    async with opened([Turn(text="So", stop=stop)]) as model:
        assert message_of(await collected(model)).stop_reason is stop


@every_model
async def test_a_conversation_goes_on_with_calls_and_results(opened: Opened) -> None:
    turns = [Turn(calls=(Call("read_file", {"path": "a"}),)), Turn(text="It says 42.", expect="forty-two")]
    async with opened(turns) as model:
        reply = message_of(await collected(model))
        result = ToolResult(reply.tool_calls[0].id, (Text("forty-two"),))
        assert message_of(await collected(model, request(HELLO, reply, result))).text == "It says 42."


FAILURES = [
    (Fault.RATE_LIMIT, ModelErrorKind.RATE_LIMIT),
    (Fault.OVERLOADED, ModelErrorKind.OVERLOADED),
    (Fault.SERVER, ModelErrorKind.SERVER),
    (Fault.AUTH, ModelErrorKind.AUTH),
    (Fault.CONTEXT_EXCEEDED, ModelErrorKind.CONTEXT_EXCEEDED),
    (Fault.DISCONNECT, ModelErrorKind.NETWORK),
]


@every_model
@pytest.mark.parametrize(("fault", "kind"), FAILURES)
async def test_failures_have_their_kind_and_say_what_to_do(opened: Opened, fault: Fault, kind: ModelErrorKind) -> None:
    async with opened([Turn(text="Hello you.", fault=fault, retry_after=7)]) as model:
        with pytest.raises(ModelError) as caught:
            await collected(model)
    assert caught.value.kind is kind
    assert caught.value.hint
    assert "sk-secret" not in caught.value.text + caught.value.hint
    if fault is Fault.RATE_LIMIT:
        assert caught.value.retry_after == 7


@every_model
async def test_an_error_within_the_stream_is_retryable(opened: Opened) -> None:
    async with opened([Turn(text="Hello you.", fault=Fault.STREAM_ERROR)]) as model:
        with pytest.raises(ModelError) as caught:
            await collected(model)
    assert caught.value.retryable


@every_model
async def test_the_model_can_be_asked_again_after_a_failure(opened: Opened) -> None:
    faults = [Turn(text="Hello you.", fault=fault) for fault, _ in FAILURES]
    async with opened([*faults, Turn(text="Well.")]) as model:
        for _ in faults:
            with pytest.raises(ModelError):
                await collected(model)
        assert message_of(await collected(model)).text == "Well."


@every_model
async def test_leaving_early_leaves_the_model_usable(opened: Opened) -> None:
    async with opened([Turn(text="word " * 100, pace=0.001), Turn(text="Next.")]) as model:
        async with aclosing(model.stream(request())) as events:
            assert isinstance(await anext(events), TextDelta)
        asked = request(HELLO, AssistantMessage((Text("word"),), interrupted=True), HELLO)
        assert message_of(await collected(model, asked)).text == "Next."


@every_model
async def test_cancellation_comes_through_as_itself(opened: Opened) -> None:
    async with opened([Turn(text="HalfHalf", fault=Fault.STALL)]) as model:
        heard = asyncio.Event()

        async def listen() -> None:
            async for _ in model.stream(request()):
                heard.set()

        task = asyncio.create_task(listen())
        await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@every_family
async def test_leaving_early_makes_the_server_stop(family: str) -> None:
    async with ModelServer([Turn(text="HalfHalf", fault=Fault.STALL)]) as server:
        model = FAMILIES[family](endpoint(family, base_url=server.url(family)), MemoryBlobs())
        async with aclosing(model.stream(request())) as events:
            await anext(events)
        await server.disconnected()


@every_family
async def test_steps_share_one_connection(family: str) -> None:
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as server:
        model = FAMILIES[family](endpoint(family, base_url=server.url(family)), MemoryBlobs())
        await collected(model)
        await collected(model)
        await model.close()
    assert server.connections - len(server.questions) == 1


@every_family
async def test_the_key_is_sent_where_the_vendor_looks_for_it(family: str) -> None:
    async with ModelServer([Turn(text="One.")]) as server:
        model = FAMILIES[family](endpoint(family, base_url=server.url(family)), MemoryBlobs())
        await collected(model)
        await model.close()
    headers = server.requests[0].headers
    expected = {
        "anthropic": ("x-api-key", "sk-secret"),
        "gemini": ("x-goog-api-key", "sk-secret"),
    }.get(family, ("authorization", "Bearer sk-secret"))
    assert headers[expected[0]] == expected[1]
    assert "sk-secret" not in server.requests[0].path


@pytest.mark.parametrize("family", [family for family, kind in FAMILIES.items() if kind is not Library])
async def test_a_vendors_own_headers_go_with_every_request(family: str) -> None:
    async with ModelServer([Turn(text="One.")]) as server:
        at = endpoint(family, base_url=server.url(family))
        at = replace(at, vendor=replace(at.vendor, key_header="api-key"), headers={"x-team": "blue"})
        model = FAMILIES[family](at, MemoryBlobs())
        await collected(model)
        await model.close()
    headers = server.requests[0].headers
    assert (headers["x-team"], headers["api-key"]) == ("blue", "sk-secret")
    assert {"authorization", "x-api-key", "x-goog-api-key"} & headers.keys() == set()


async def test_a_call_that_vertex_could_not_write_is_asked_for_again() -> None:
    async with vertex_with_gemini([Turn(calls=(Call("read_file", raw='{"path": "a'),))]) as model:
        with pytest.raises(ModelError, match="MALFORMED_FUNCTION_CALL") as caught:
            await collected(model)
    assert caught.value.retryable


async def test_retrying_hides_a_failure_that_passed() -> None:
    async with openai([Turn(text="Hello you.", fault=Fault.DISCONNECT), Turn(text="Well.")]) as model:
        events = await collected(Retrying(model, waits=(0.0,)))
    assert sum(isinstance(event, StepRetried) for event in events) == 1
    assert message_of(events) == AssistantMessage((Text("Well."),), model=model.name)
    assert not any(isinstance(part, ToolCall) for part in message_of(events).content)


@pytest.mark.parametrize("family", FAMILIES)
async def test_only_who_gave_a_phase_hears_it_again(family: str) -> None:
    said = AssistantMessage((Text("Looking.", phase="commentary"),), model="openai-responses/test-model")
    async with ModelServer([Turn(text="Done.")]) as server:
        model = FAMILIES[family](endpoint(family, base_url=server.url(family)), MemoryBlobs())
        await collected_of(model, request_of(HELLO, said, HELLO))
        await model.close()
    assert b"Looking." in server.requests[0].raw
    assert (b"commentary" in server.requests[0].raw) is (family == "openai-responses")
