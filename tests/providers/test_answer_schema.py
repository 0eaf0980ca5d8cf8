from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from tests.providers.streams import HELLO, MemoryBlobs, collected, endpoint, request
from tests.servers.model_server import ModelServer, Turn
from tests.tables import for_each

from halocline.ports.model import Request
from halocline.providers.anthropic import request as anthropic
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.providers.gemini import request as gemini
from halocline.providers.openai_chat import request as openai_chat
from halocline.providers.openai_chat.request import OpenAIChat
from halocline.providers.openai_responses import request as openai_responses
from halocline.providers.openai_responses.request import OpenAIResponses
from halocline.providers.response_format import is_strict, native_schema
from halocline.providers.text_tools.prompt import TextPrompt

OPENAI = endpoint("openai", "gpt-5.6")
TEXT = {"type": "string"}


def form(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


SCHEMA = form(verdict=TEXT)


def native(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    return native_schema(request(output_schema=schema), OPENAI)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (SCHEMA, SCHEMA),
        ({"type": "object", "properties": {"verdict": TEXT}, "required": ["verdict"]}, SCHEMA),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", **SCHEMA}, SCHEMA),
        (form(n={"type": "integer", "minimum": 1, "default": 2}), form(n={"type": "integer"})),
        (form(n={"const": "a"}), form(n={"enum": ["a"], "type": "string"})),
        (form(n={"enum": [1, 2]}), form(n={"enum": [1, 2], "type": "integer"})),
        (form(n={"type": ["string", "null"], "description": "Who."}),) * 2,
        (form(n={"anyOf": [TEXT, {"type": "null"}]}),) * 2,
        (form(n={"type": "array", "items": TEXT, "minItems": 1}), form(n={"type": "array", "items": TEXT})),
        (form(n=form(deep={"type": "array", "items": form(x=TEXT)})),) * 2,
        ({**form(n={"$ref": "#/$defs/one"}), "$defs": {"one": TEXT}}, form(n=TEXT)),
    ],
)
def test_a_vendor_is_sent_what_all_of_them_understand(given: dict, sent: dict) -> None:
    assert native(given) == sent


@for_each(
    "given",
    [
        {"type": "object"},
        {**SCHEMA, "additionalProperties": True},
        {**SCHEMA, "additionalProperties": TEXT},
        {**SCHEMA, "required": ["verdict", "another"]},
        {**SCHEMA, "patternProperties": {"^x": TEXT}},
        {**SCHEMA, "allOf": [{"required": ["verdict"]}]},
        form(n={}),
        form(n={"enum": ["a", 1]}),
        form(n={"enum": []}),
        form(n=True),
        form(n={"type": "array"}),
        form(n={"oneOf": [TEXT]}),
        form(n={"$ref": "#/$defs/none"}),
        form(n={"$ref": "https://example.com/schema"}),
        {**form(n={"$ref": "#/$defs/tree"}), "$defs": {"tree": form(child={"$ref": "#/$defs/tree"})}},
    ],
)
def test_what_not_every_vendor_understands_is_said_in_words_alone(given: dict) -> None:
    assert native(given) is None


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (form(n=TEXT), True),
        ({**form(n=TEXT), "required": []}, False),
        (form(n={"type": "array", "items": {**form(n=TEXT), "required": []}}), False),
        (form(n={"anyOf": [TEXT, {**form(n=TEXT), "required": []}]}), False),
    ],
)
def test_a_schema_is_strict_when_nothing_may_be_left_out(schema: dict, strict: bool) -> None:
    assert is_strict(schema) is strict


def body(family: Any, at: Endpoint, asked: Request) -> dict[str, Any]:
    state = at.vendor.name if family is openai_responses else at
    return msgspec.json.decode(b"".join(family.to_wire(asked, at, family.encode_messages(state, MemoryBlobs()))))


def test_each_family_asks_for_the_form_in_its_own_fields() -> None:
    asked = request(output_schema=SCHEMA)
    named = {"name": "answer", "schema": SCHEMA, "strict": True}
    sent = body(anthropic, endpoint("anthropic", "claude-opus-5-5"), asked)
    assert sent["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert body(openai_responses, OPENAI, asked)["text"] == {"format": {"type": "json_schema", **named}}
    sent = body(openai_chat, OPENAI, asked)
    assert sent["response_format"] == {"type": "json_schema", "json_schema": named}
    config = body(gemini, endpoint("gemini", "gemini-3.8-flash"), asked)["generationConfig"]
    assert (config["responseMimeType"], config["responseJsonSchema"]) == ("application/json", SCHEMA)


def test_anthropic_is_told_form_and_effort_together() -> None:
    asked = request(output_schema=SCHEMA, effort="low")
    sent = body(anthropic, endpoint("anthropic", "claude-opus-5-5"), asked)["output_config"]
    assert sent == {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}}


@pytest.mark.parametrize(
    ("family", "at"),
    [
        (anthropic, endpoint("anthropic", "claude-opus-5-5", base_url="http://gateway")),
        (anthropic, endpoint("anthropic", "claude-sonnet-4-20250514")),
        (openai_chat, endpoint("openai", "gpt-5.6", base_url="http://gateway/v1")),
        (openai_chat, endpoint("groq", "openai/gpt-oss-120b")),
        (openai_chat, endpoint("ollama", "qwen3")),
        (gemini, endpoint("gemini", "gemini-2.5-flash")),
    ],
    ids=lambda one: getattr(one, "name", one.__name__ if hasattr(one, "__name__") else ""),
)
def test_who_cannot_have_form_and_tools_together_is_not_asked_for_it(family: Any, at: Endpoint) -> None:
    assert body(family, at, request(output_schema=SCHEMA)) == body(family, at, request())


def test_a_model_that_writes_calls_as_text_is_never_bound_to_json() -> None:
    assert TextPrompt().of(request(output_schema=SCHEMA)).output_schema is None


@pytest.mark.parametrize(
    ("provider", "family"),
    [("openai", openai_chat), ("openai", openai_responses), ("openai-responses", openai_responses)],
)
def test_openai_is_told_which_requests_begin_alike(provider: str, family: Any) -> None:
    asked = request(cache_key="a-task")
    assert body(family, endpoint(provider, "gpt-5.6"), asked)["prompt_cache_key"] == "a-task"
    assert "prompt_cache_key" not in body(family, endpoint(provider, "m", base_url="http://gateway"), asked)


@pytest.mark.parametrize("provider", ["deepseek", "groq", "ollama", "xai"])
def test_who_does_not_know_the_cache_s_key_is_not_sent_it(provider: str) -> None:
    assert "prompt_cache_key" not in body(openai_chat, endpoint(provider), request(cache_key="a-task"))


@pytest.mark.parametrize(("family", "path"), [(OpenAIChat, "/chat/completions"), (OpenAIResponses, "/responses")])
async def test_key_and_form_arrive_at_the_vendor_s_own_server(family: Any, path: str) -> None:
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as server:
        own = msgspec.structs.replace(VENDORS["openai"], base_url=server.url("openai"))
        model = family(Endpoint(own, "gpt-5.6", key="sk-secret"), MemoryBlobs())
        for _ in range(2):
            await collected(model, request(HELLO, cache_key="a-task", output_schema=SCHEMA))
        await model.close()
    for received in server.requests:
        assert received.path.endswith(path)
        assert received.body["prompt_cache_key"] == "a-task"
        assert received.body.keys() & {"text", "response_format"}
