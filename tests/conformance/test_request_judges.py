"""The vendors' own types judge our requests: each field we send is one they know, with a value that they allow."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from tests.conformance.sdks import PICTURE
from tests.conformance.test_model_port import FAMILIES
from tests.providers.markup import TOOLS
from tests.providers.streams import HELLO, MemoryBlobs, collected, endpoint, request
from tests.servers.model_server import ModelServer, Turn

from halocline.protocol.messages import (
    AssistantMessage,
    Image,
    Message,
    Note,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)

every_family = pytest.mark.parametrize("family", FAMILIES)

MODELS = {"gemini": "gemini-3.8-flash", "azure-responses": "gpt-5.6"}
IMAGE = Image("image/png", "picture")
REASONING = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2VjcmV0"}'
SEALED = '{"part":"thinking","id":"rs_1","signature":"c2VjcmV0","provider_name":"azure-chat"}'
OWN = {
    "anthropic": (
        Thinking("Hm.", signature="c2ln", provider="anthropic"),
        Thinking(redacted="x", provider="anthropic"),
    ),
    "openai": (Thinking("Hm.", provider="openai"),),
    "openai-responses": (Thinking("Hm.", redacted=REASONING, provider="openai-responses"),),
    "azure-chat": (Thinking("Hm.", provider="azure-chat"),),
    "azure-responses": (Thinking("Hm.", redacted=SEALED, provider="azure-responses"),),
    "ollama": (Thinking("Hm.", provider="ollama"),),
    "gemini": (Thinking("Hm.", signature="c2ln", provider="gemini"), Thinking(signature="c2ln", provider="gemini")),
}


def history(family: str) -> Sequence[Message]:
    """A conversation in which everything occurs that a conversation can hold."""
    return (
        UserMessage((Note("linux", source="environment"), Text("What is this?"), IMAGE, Image("image/png", "gone"))),
        AssistantMessage(
            (
                *OWN[family],
                Thinking("Foreign.", signature="x", provider="another"),
                Text("I look."),
                ToolCall("call_1", "read_file", {"path": "ä.py"}),
                ToolCall("call/2", "list_files", {}),
                ToolCall("x" * 70, "read_file", malformed='{"path'),
            )
        ),
        ToolResult("call_1", (Text("forty-two"), IMAGE)),
        ToolResult("call/2", (Text("No such folder."),), is_error=True),
        ToolResult("x" * 70, (), is_error=True),
        UserMessage((Text("Go on."),)),
        AssistantMessage((Thinking("It may be."), Text("So it is.")), interrupted=True),
        HELLO,
        AssistantMessage((Thinking("And then"),), interrupted=True),
        HELLO,
    )


async def sent(family: str) -> Any:
    """The body of a request as it arrived at the server."""
    async with ModelServer([Turn(text="Well.")]) as server:
        at = endpoint(family, MODELS.get(family, "m"), server.url(family))
        model = FAMILIES[family](at, MemoryBlobs(picture=PICTURE))
        await collected(model, request(*history(family), tools=TOOLS, max_tokens=1000))
        await model.close()
    return server.requests[0].body


@cache
def judged_by(kind: Any) -> Callable[[Any], Any]:
    """What is left of a body when the fields are dropped that a type of an SDK does not know."""
    from pydantic import TypeAdapter

    adapter = TypeAdapter(kind)
    return lambda body: gone_through(adapter.validate_python(body))


def gone_through(value: Any) -> Any:
    """The value with its iterators as lists: only going through them looks at what they hold."""
    match value:
        case str() | None | int():
            return value
        case dict():
            return {name: gone_through(inner) for name, inner in value.items()}
        case Iterable() if not hasattr(value, "model_dump"):
            return [gone_through(inner) for inner in value]
        case _:
            return plain(value)


def anthropic(body: Any) -> Any:
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

    return judged_by(MessageCreateParamsStreaming)(body)


def openai(body: Any) -> Any:
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    return judged_by(CompletionCreateParamsStreaming)(body)


def responses(body: Any) -> Any:
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    return judged_by(ResponseCreateParamsStreaming)(body)


def gemini(body: Any) -> Any:
    """These types refuse fields that they do not know. What is the SDK's alone is not part of a body."""
    from google.genai import types

    config = types.GenerateContentConfig.model_validate(body["generationConfig"])
    return {
        "generationConfig": plain(config),
        "tools": [in_small_letters(plain(types.Tool.model_validate(tool))) for tool in body["tools"]],
        "systemInstruction": plain(types.Content.model_validate(body["systemInstruction"])),
        "contents": [plain(types.Content.model_validate(content)) for content in body["contents"]],
    }


def ollama(body: Any) -> Any:
    """The SDK lacks what the server's own source has beside it: ids of calls, and the two refusals to cut a text."""
    from ollama._types import ChatRequest, Message as OllamaMessage

    assert (body.pop("truncate"), body.pop("shift")) == (False, False)
    for message in body["messages"]:
        message.pop("tool_call_id", None)
        for index, call in enumerate(message.get("tool_calls", ())):
            assert call.pop("id")
            assert call["function"].pop("index") == index
    shown = [{"images": [{"value": one} for one in message.get("images", ())]} for message in body["messages"]]
    messages = [
        plain(OllamaMessage.model_validate(message | (images if images["images"] else {})))
        for message, images in zip(body["messages"], shown, strict=True)
    ]
    return judged_by(ChatRequest)(body) | {"messages": messages}


def in_small_letters(schema: Any) -> Any:
    """A schema with its types as JSON Schema writes them; the API takes both."""
    match schema:
        case dict():
            small = {"type": schema["type"].lower()} if isinstance(schema.get("type"), str) else {}
            return {name: in_small_letters(inner) for name, inner in schema.items()} | small
        case list():
            return [in_small_letters(inner) for inner in schema]
        case _:
            return schema


def plain(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_unset=True)


JUDGES: Mapping[str, Callable[[Any], Any]] = {
    "anthropic": anthropic,
    "openai": openai,
    "openai-responses": responses,
    "gemini": gemini,
    "ollama": ollama,
    "azure-chat": openai,
    "azure-responses": responses,
}


@every_family
async def test_a_request_with_everything_in_it_is_one_the_vendor_s_own_types_allow(family: str) -> None:
    body = await sent(family)
    assert JUDGES[family](body) == body


@every_family
async def test_the_judges_notice_a_field_that_is_not_the_vendor_s(family: str) -> None:
    from pydantic import ValidationError

    body = await sent(family)
    conversation = next(body[name] for name in ("messages", "input", "contents") if name in body)
    conversation[-1]["colour"] = "blue"
    try:
        judged = JUDGES[family](body)
    except ValidationError:
        return
    assert judged != body
