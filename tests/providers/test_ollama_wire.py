"""Ollama's own API. The SDK's types judge its requests in `tests/conformance`."""

from typing import Any

import msgspec
import pytest
from tests.providers.documents import documents
from tests.providers.streams import HELLO, MemoryBlobs, collected, endpoint, message_of, request, text_of
from tests.servers.model_server import ModelServer, Turn

from halocline.ports.model import Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.messages import (
    AssistantMessage,
    Effort,
    Image,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from halocline.providers.catalog.models import ModelInfo
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.providers.json_cache import Fragments
from halocline.providers.ollama.request import USUAL, Encoder, Ollama, choose_window, to_wire
from halocline.providers.ollama.stream import FromWire
from halocline.providers.thinking import list_levels

NAME = "qwen3:8b"


def body(asked: Request, model: str = NAME, **blobs: bytes) -> Any:
    at = endpoint("ollama", model)
    fragments = Fragments(Encoder(at, MemoryBlobs(**blobs)).encode)
    return msgspec.json.decode(b"".join(to_wire(asked, at, fragments, {"num_ctx": 8192})))


def lines(*documents: Any) -> list[Any]:
    translator = FromWire(request(), endpoint("ollama", NAME))
    events = [event for document in documents for event in translator.feed(msgspec.json.encode(document))]
    return [*events, *translator.finish()]


def shown(trained: int | None = None, parameters: str = "", **more: Any) -> Any:
    info = {"general.architecture": "qwen3", "qwen3.context_length": trained} if trained else {}
    return {"parameters": parameters, "model_info": info, "capabilities": ["completion", "tools"], **more}


@pytest.mark.parametrize(
    ("running", "description", "window"),
    [
        (None, None, USUAL),
        (None, shown(262_144), USUAL),
        (None, shown(8_192), 8_192),
        (4_096, shown(262_144), USUAL),
        (131_072, shown(262_144), 131_072),
        (None, shown(262_144, "stop  x\nnum_ctx      16384"), None),
        (None, shown(131_072, remote_host="https://ollama.com:443"), None),
    ],
    ids=["silent", "not loaded", "trained for less", "loaded small", "loaded large", "its own size", "in the cloud"],
)
async def test_a_context_is_asked_for_in_which_an_agent_can_work(
    running: int | None, description: Any, window: int | None
) -> None:
    loaded = [{"name": NAME, "model": NAME, "context_length": running}] if running else []
    answers = {"/api/ps": {"models": loaded}, "/api/show": description}
    async with documents({path: answer for path, answer in answers.items() if answer and description}) as server:
        assert await choose_window(Endpoint(VENDORS["ollama"], NAME, base_url=server.url)) == window


async def test_the_person_s_own_size_goes_before_all_others_and_nobody_is_asked() -> None:
    async with documents({}) as server:
        at = Endpoint(VENDORS["ollama"], NAME, base_url=server.url, known=ModelInfo(window=50_000))
        assert await choose_window(at) == 50_000
    assert server.requests == []


async def test_the_size_is_asked_for_once_and_sent_with_every_request_to_either_form_of_the_address() -> None:
    for ending in ("", "/v1"):
        async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as server:
            model = Ollama(endpoint("ollama", NAME, server.url("ollama") + ending), MemoryBlobs())
            await collected(model)
            await collected(model)
            await model.close()
        assert [sent.body["options"] for sent in server.requests] == [{"num_ctx": USUAL}] * 2
        assert sorted(sent.path for sent in server.questions) == ["/api/ps", "/api/show"]


async def test_a_prompt_that_does_not_fit_is_refused_and_not_cut() -> None:
    async with ModelServer([Turn(text="Never.")], window=10) as server:
        model = Ollama(endpoint("ollama", NAME, server.url("ollama")), MemoryBlobs())
        with pytest.raises(ModelError) as caught:
            await collected(model)
        await model.close()
    assert caught.value.kind is ModelErrorKind.CONTEXT_EXCEEDED
    assert (server.requests[0].body["truncate"], server.requests[0].body["shift"]) == (False, False)


def test_the_limit_of_a_reply_is_beside_the_size_of_the_context() -> None:
    assert body(request(max_tokens=100))["options"] == {"num_ctx": 8192, "num_predict": 100}


def test_a_result_names_its_tool_and_holds_its_pictures() -> None:
    said = AssistantMessage((Thinking("Hm.", provider="ollama"), ToolCall("a", "read_file", {"path": "x"})))
    result = ToolResult("a", (Text("Shown."), Image("image/png", "pixel"), Image("image/png", "gone")), is_error=True)
    assert body(request(HELLO, said, result), pixel=b"\x00\x01")["messages"][2:] == [
        {
            "role": "assistant",
            "content": "",
            "thinking": "Hm.",
            "tool_calls": [{"id": "a", "function": {"index": 0, "name": "read_file", "arguments": {"path": "x"}}}],
        },
        {
            "role": "tool",
            "tool_call_id": "a",
            "tool_name": "read_file",
            "content": "Error: Shown.\n\n[Image missing: its file is gone.]",
            "images": ["AAE="],
        },
    ]


@pytest.mark.parametrize(
    ("model", "effort", "think"),
    [
        (NAME, None, None),
        (NAME, Effort.NONE, False),
        (NAME, Effort.MAX, True),
        ("gpt-oss:20b", Effort.LOW, "low"),
        ("gpt-oss:20b", Effort.MAX, "high"),
        ("gpt-oss:20b", Effort.NONE, "low"),
    ],
)
def test_thinking_is_a_switch_and_a_level_where_a_model_has_levels(
    model: str, effort: Effort | None, think: object
) -> None:
    assert body(request(effort=effort), model).get("think") == think


def test_a_budget_of_thinking_is_a_switch_too() -> None:
    assert body(request(thinking_budget=0))["think"] is False
    assert body(request(thinking_budget=9_000))["think"] is True
    assert list_levels(endpoint("ollama", "gpt-oss:20b")) == (Effort.NONE, Effort.LOW, Effort.MEDIUM, Effort.HIGH)


def test_thinking_of_either_kind_is_thinking() -> None:
    events = lines(
        {"message": {"content": "<think>First", "thinking": "Zero. "}},
        {"message": {"content": ".</think>\n\nAnswer."}},
        {"done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 3},
    )
    assert message_of(events).content == (Thinking("Zero. First.", provider="ollama"), Text("Answer."))
    assert text_of(events) == "Answer."


def test_a_reply_that_fills_the_context_is_cut_off() -> None:
    events = lines({"message": {"content": "So"}}, {"done": True, "done_reason": "length", "eval_count": 9})
    assert message_of(events).stop_reason is StopReason.MAX_TOKENS


def test_what_a_local_model_takes_costs_nothing() -> None:
    events = lines({"message": {"content": "So"}}, {"done": True, "prompt_eval_count": 7, "eval_count": 3})
    (usage,) = [event for event in events if hasattr(event, "usage")]
    assert (usage.usage, usage.cost) == (Usage(input=7, output=3), 0.0)


async def test_an_error_in_the_stream_is_said_in_the_server_s_words() -> None:
    with pytest.raises(ModelError, match="model runner has unexpectedly stopped"):
        lines({"message": {"content": "So"}}, {"error": "model runner has unexpectedly stopped"})
