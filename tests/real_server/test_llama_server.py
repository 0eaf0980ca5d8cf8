import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.providers.streams import MemoryBlobs, collected, endpoint, message_of, request, text_of, usage_of
from tests.real_server.llama_server import CALLS_TOOLS, NEVER_STOPS, STOPS_SOON, llama_server, relay

from halocline.net.network import DIRECT, Network
from halocline.ports.model import Model
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import TextDelta, ToolCallDelta
from halocline.protocol.messages import AssistantMessage, Message, StopReason, Text, ToolResult, UserMessage
from halocline.protocol.state.state import State
from halocline.providers.anthropic.request import Anthropic
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.providers.openai_chat.request import OpenAIChat
from halocline.providers.openai_responses.request import OpenAIResponses
from halocline.providers.server_probe import ask_server
from halocline.runtime.models.local_servers import served_models
from halocline.task.calls.arguments import input_of
from halocline.tools.toolset import ALL, Tools

FAMILIES = {"anthropic": Anthropic, "llamacpp": OpenAIChat, "openai-responses": OpenAIResponses}
SPECS = tuple(spec for spec in Tools(ALL).specs(State()) if spec.name in ("read_file", "update_todos", "list_files"))
EVERY_FAMILY = pytest.mark.parametrize("family", FAMILIES)


@asynccontextmanager
async def opened(family: str, url: str, key: str = "sk-right", network: Network = DIRECT) -> AsyncIterator[Model]:
    base = url if family == "anthropic" else f"{url}/v1"
    at = replace(endpoint(family, "nonsense", base_url=base, key=key), network=network)
    model = FAMILIES[family](at, MemoryBlobs())
    yield model
    await model.close()


def said(text: str) -> UserMessage:
    return UserMessage((Text(text),))


def answered(message: AssistantMessage, more: str) -> Sequence[Message]:
    """The message, a result for each call, and another prompt."""
    results = [ToolResult(call.id, (Text("Nothing there."),), is_error=True) for call in message.tool_calls]
    return (message, *results, said(more))


@EVERY_FAMILY
async def test_text_arrives_in_pieces_and_whole(family: str, nonsense: Path) -> None:
    async with llama_server(nonsense) as server, opened(family, server.url) as model:
        events = await collected(model, request(max_tokens=40))
    message = message_of(events)
    assert message.stop_reason is StopReason.MAX_TOKENS
    assert sum(isinstance(event, TextDelta) for event in events) > 10
    assert message.text == text_of(events)


@EVERY_FAMILY
async def test_a_reply_that_the_model_ends_says_so(family: str, nonsense: Path) -> None:
    async with llama_server(nonsense, *STOPS_SOON) as server, opened(family, server.url) as model:
        assert message_of(await collected(model)).stop_reason is StopReason.END_TURN


@EVERY_FAMILY
async def test_usage_tells_what_was_read_from_the_servers_cache(family: str, nonsense: Path) -> None:
    async with llama_server(nonsense) as server, opened(family, server.url) as model:
        first = usage_of(await collected(model, request(max_tokens=16))).usage
        again = usage_of(await collected(model, request(max_tokens=16))).usage
    assert (first.output, first.cache_read) == (16, 0)
    assert again.cache_read > again.input > 0
    assert again.total == first.total


@EVERY_FAMILY
async def test_calls_are_whole_and_fit_their_tools(family: str, nonsense: Path) -> None:
    called = []
    for seed in range(1, 5):
        flags = (*CALLS_TOOLS, "--seed", str(seed))
        async with llama_server(nonsense, *flags) as server, opened(family, server.url) as model:
            events = await collected(model, request(tools=SPECS, max_tokens=300))
        calls = message_of(events).tool_calls
        assert {event.call for event in events if isinstance(event, ToolCallDelta)} <= {call.id for call in calls}
        called += [call for call in calls if not call.malformed or call is not calls[-1]]
    assert len({call.id for call in called}) == len(called) > 4
    for call in called:
        tool = Tools(ALL).find(call.name)
        assert tool is not None
        # Nonsense may name an empty path, which fits the schema and which the tool refuses in words.
        named = {"path": "a"} if call.arguments.get("path") == "" else {}
        assert input_of(call.arguments | named, tool) is not None
        assert not call.malformed


@EVERY_FAMILY
async def test_a_call_that_the_limit_cuts_is_not_run(family: str, nonsense: Path) -> None:
    async with llama_server(nonsense, *CALLS_TOOLS) as server, opened(family, server.url) as model:
        limits = range(40, 80, 2)
        replies = [message_of(await collected(model, request(tools=SPECS, max_tokens=most))) for most in limits]
    cut = [reply for reply in replies if reply.tool_calls and reply.tool_calls[-1].malformed]
    assert cut
    for reply in replies:
        assert not any(call.malformed for call in reply.tool_calls[:-1])


@EVERY_FAMILY
async def test_a_history_of_calls_and_results_is_understood_and_found_in_the_cache(family: str, nonsense: Path) -> None:
    history: list[Message] = [said("Begin.")]
    async with llama_server(nonsense, *CALLS_TOOLS) as server, opened(family, server.url) as model:
        for step in range(4):
            events = await collected(model, request(*history, tools=SPECS, max_tokens=300))
            usage = usage_of(events).usage
            history += answered(message_of(events), f"Go on, {step}.")
    assert usage.cache_read > usage.input


@EVERY_FAMILY
async def test_who_leaves_early_makes_the_server_stop_generating(family: str, nonsense: Path) -> None:
    async with llama_server(nonsense, *NEVER_STOPS) as server, opened(family, server.url) as model:
        heard = 0
        async with aclosing(model.stream(request())) as events:
            async for _ in events:
                heard += 1
                if heard == 5:
                    assert not await server.is_idle()
                    break
        await server.rests()


@EVERY_FAMILY
async def test_a_prompt_longer_than_the_context_is_named_as_such(family: str, nonsense: Path) -> None:
    async with llama_server(nonsense, "-c", "512") as server, opened(family, server.url) as model:
        with pytest.raises(ModelError) as caught:
            await collected(model, request(said("water " * 400)))
    assert caught.value.kind is ModelErrorKind.CONTEXT_EXCEEDED
    assert "512" in caught.value.text


@EVERY_FAMILY
async def test_a_context_that_fills_up_ends_the_reply_as_cut(family: str, nonsense: Path) -> None:
    async with llama_server(nonsense, "-c", "512", *NEVER_STOPS) as server, opened(family, server.url) as model:
        message = message_of(await collected(model))
    assert message.stop_reason is (StopReason.END_TURN if family == "openai-responses" else StopReason.MAX_TOKENS)


@EVERY_FAMILY
async def test_a_wrong_key_is_refused_and_the_right_one_is_not(family: str, nonsense: Path) -> None:
    async with llama_server(nonsense, "--api-key", "sk-right") as server:
        async with opened(family, server.url, key="sk-wrong-0123") as model:
            with pytest.raises(ModelError) as caught:
                await collected(model)
        async with opened(family, server.url) as model:
            assert message_of(await collected(model, request(max_tokens=16))).text
    assert caught.value.kind is ModelErrorKind.AUTH
    assert "sk-wrong" not in str(caught.value)


@EVERY_FAMILY
async def test_connections_that_the_server_closes_without_a_word_are_no_error(family: str, nonsense: Path) -> None:
    async with llama_server(nonsense) as server, relay(server.url) as between, opened(family, between.url) as model:
        for _ in range(3):
            assert message_of(await collected(model, request(max_tokens=16))).text
    answers = [bytes(reply) for reply in between.replies if reply]
    assert sum(reply.count(b"HTTP/1.1 200 OK") for reply in answers) == 3
    assert all(b"Keep-Alive: timeout" in reply for reply in answers)


@EVERY_FAMILY
async def test_a_reply_that_takes_long_to_begin_is_waited_for_only_so_long(family: str, nonsense: Path) -> None:
    slow = request(said("water " * 900), max_tokens=16)
    hasty = Network(first_byte_timeout=0.05, stall_timeout=0.05)
    async with llama_server(nonsense) as server:
        async with opened(family, server.url, network=hasty) as model:
            with pytest.raises(ModelError) as caught:
                await collected(model, slow)
        await server.rests()
        async with opened(family, server.url) as model:
            began = time.monotonic()
            assert message_of(await collected(model, slow)).text
    assert caught.value.kind is ModelErrorKind.STALLED
    assert time.monotonic() - began > hasty.first_byte_timeout


async def test_two_replies_at_once_do_not_mix(nonsense: Path) -> None:
    async with (
        llama_server(nonsense, "-np", "2") as server,
        opened("llamacpp", server.url) as one,
        opened("anthropic", server.url) as other,
    ):
        together = await asyncio.gather(*(collected(model, request(max_tokens=60)) for model in (one, other)))
    for events in together:
        assert text_of(events) == message_of(events).text != ""


async def test_the_models_that_the_server_offers_are_found(nonsense: Path) -> None:
    async with llama_server(nonsense) as server:
        local = msgspec.structs.replace(VENDORS["llamacpp"], base_url=f"{server.url}/v1")
        assert await served_models(Endpoint(local, "")) == ["nonsense"]


async def test_nothing_is_offered_where_the_server_is_gone(nonsense: Path) -> None:
    async with llama_server(nonsense) as server:
        local = msgspec.structs.replace(VENDORS["llamacpp"], base_url=f"{server.url}/v1")
    assert await served_models(Endpoint(local, "")) == []


async def test_the_server_says_how_much_context_it_really_has(nonsense: Path) -> None:
    async with llama_server(nonsense, "-c", "8192") as server:
        at = endpoint("llamacpp", "nonsense", base_url=f"{server.url}/v1")
        assert (await ask_server(at)).window == 8192
