"""Servers that refuse an optional field of ours, in every family and in many words."""

import msgspec
import pytest
from msgspec.structs import replace
from tests.net.raw_server import read_request, serving
from tests.providers.streams import MemoryBlobs, collected, message_of, request
from tests.servers.gemini_format import GeminiFormat
from tests.servers.model_server import ModelServer, Refusal
from tests.servers.responses_format import ResponsesFormat
from tests.servers.wire_formats import OpenAIFormat
from tests.tables import for_each

from halocline.net.network import DIRECT
from halocline.ports.tool import ToolSpec
from halocline.protocol.errors import ModelError
from halocline.protocol.events import StepRetried
from halocline.protocol.messages import Effort
from halocline.providers.anthropic.request import Anthropic
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.providers.gemini.request import Gemini
from halocline.providers.ollama.request import Ollama
from halocline.providers.openai_chat.request import OpenAIChat
from halocline.providers.openai_responses.request import OpenAIResponses
from halocline.providers.scripted.model import Turn

FAMILIES = {
    "openai": (OpenAIChat, "gpt-5.6"),
    "openai-responses": (OpenAIResponses, "gpt-5.6"),
    "anthropic": (Anthropic, "claude-sonnet-5-5"),
    "gemini": (Gemini, "gemini-3.8-flash"),
    "ollama": (Ollama, "qwen3"),
}
SENT = [
    ("openai", "stream_options"),
    ("openai-responses", "include"),
    ("openai-responses", "store"),
    ("openai-responses", "reasoning.summary"),
    ("gemini", "generationConfig.thinkingConfig"),
]
WORDS = {
    "pydantic": (400, lambda name: {"error": {"message": f"{name}: Extra inputs are not permitted"}}),
    "fastapi": (
        422,
        lambda name: {
            "detail": [
                {"type": "extra_forbidden", "loc": ["body", *name.split(".")], "msg": "Extra inputs", "input": 1}
            ]
        },
    ),
    "openai": (
        400,
        lambda name: {"error": {"message": f"Unsupported parameter: '{name}' is not supported with this model."}},
    ),
    "older openai": (400, lambda name: {"error": {"message": f"Unrecognized request argument supplied: {name}"}}),
    "fireworks": (400, lambda name: {"error": {"message": f"Extra inputs are not permitted, field: '{name}'"}}),
    "serde": (
        400,
        lambda name: {"error": {"message": f"unknown field `{name}`, expected one of `messages`, `model`, `store`"}},
    ),
    "google": (400, lambda name: {"error": {"message": f'Invalid JSON payload received. Unknown name "{name}"'}}),
    "litellm": (400, lambda name: {"error": {"message": f"mine does not support parameters: ['{name}'], for model=m"}}),
    "unnamed": (400, lambda name: {"error": {"message": "Bad Request: unsupported parameters"}}),
}


def has(body, name):
    for part in name.split("."):
        if not isinstance(body, dict) or part not in body:
            return False
        body = body[part]
    return True


def refusing(name, words):
    status, document = WORDS[words]
    return lambda asked: Refusal(status, document(name)) if has(asked.body, name) else None


def model_at(server, family, **more):
    of, name = FAMILIES[family]
    endpoint = Endpoint(VENDORS[family], name, base_url=server.url(family), network=DIRECT, **more)
    return of(endpoint, MemoryBlobs())


@for_each("words", WORDS)
@for_each("family, name", SENT)
async def test_a_field_of_ours_that_a_server_refuses_is_left_out_from_then_on(family, name, words):
    async with ModelServer([Turn(text="Hello."), Turn(text="Again.")], refuses=refusing(name, words)) as server:
        model = model_at(server, family)
        assert message_of(await collected(model)).text == "Hello."
        assert [has(asked.body, name) for asked in server.requests] == [True, False]
        assert message_of(await collected(model)).text == "Again."
        assert [has(asked.body, name) for asked in server.requests] == [True, False, False]
        kept = {"model", "messages", "input", "contents"} & server.requests[0].body.keys()
        assert kept <= server.requests[-1].body.keys()
        await model.close()


WIRES = {"openai": OpenAIFormat(), "openai-responses": ResponsesFormat(), "gemini": GeminiFormat()}


@pytest.mark.parametrize("as_stream", [True, False])
@pytest.mark.parametrize(("family", "name"), SENT)
async def test_a_field_that_is_refused_in_a_response_of_status_200_is_left_out_too(family, name, as_stream):
    error = {"message": f"Unsupported parameter: '{name}'", "type": "invalid_request_error", "code": 400}
    document = {"type": "error", "error": error}
    asked = []

    async def answer(reader, writer):
        _, body = await read_request(reader)
        asked.append(has(msgspec.json.decode(body), name))
        kind = "text/event-stream" if as_stream or not asked[-1] else "application/json"
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode())
        if asked[-1]:
            writer.write((b"data: %s\n\n" if as_stream else b"%s") % msgspec.json.encode(document))
        else:
            writer.writelines(piece.data for piece in WIRES[family].stream(Turn(text="Hello."), "m", len(asked)))
        await writer.drain()

    async with serving(answer) as url:
        of, model_name = FAMILIES[family]
        model = of(Endpoint(VENDORS[family], model_name, base_url=url, network=DIRECT), MemoryBlobs())
        for _ in range(2):
            assert message_of(await collected(model)).text == "Hello."
        assert asked == [True, False, False]
        await model.close()


FORMS = {
    "openai": "response_format",
    "openai-responses": "text.format",
    "anthropic": "output_config.format",
    "gemini": "generationConfig.responseJsonSchema",
}
SCHEMA = {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"], "additionalProperties": False}
OF_FORMS = {
    "openai": ["Invalid schema for response_format 'answer': In context=()", "'response_format' is not supported"],
    "openai-responses": ["Invalid schema for response_format 'answer': In context=()", "Invalid 'text.format.schema'"],
    "anthropic": ["Schema is too complex for compilation.", "output_config.format: Extra inputs are not permitted"],
    "gemini": ["Function calling with a response mime type: 'application/json' is unsupported", "response_json_schema"],
}
OF_OTHERS = [
    "temperature: too high",
    "tools.3.custom.input_schema: JSON schema is invalid",
    "Bad Request",
    "max_tokens",
]


def model_with_forms(server, family):
    """A model at its vendor's own address, which alone is asked for the form of an answer."""
    of, name = FAMILIES[family]
    vendor = replace(VENDORS[family], base_url=server.url(family))
    return of(Endpoint(vendor, name, key="sk-secret", network=DIRECT), MemoryBlobs())


@pytest.mark.parametrize(("family", "words"), [(family, one) for family, some in OF_FORMS.items() for one in some])
async def test_the_form_of_an_answer_that_a_server_refuses_is_left_out_from_then_on(family, words):
    def refuse(asked):
        return Refusal(400, {"error": {"message": words}}) if has(asked.body, FORMS[family]) else None

    async with ModelServer([Turn(text="Hello."), Turn(text="Again.")], refuses=refuse) as server:
        model = model_with_forms(server, family)
        for _ in range(2):
            await collected(model, request(output_schema=SCHEMA))
        assert [has(asked.body, FORMS[family]) for asked in server.requests] == [True, False, False]
        assert not any(has(asked.body, "generationConfig.responseMimeType") for asked in server.requests[1:])
        await model.close()


@for_each("words", OF_OTHERS)
@for_each("family", FORMS)
async def test_a_refusal_of_something_else_leaves_the_form_of_answers_as_it_is(family, words):
    broken = []

    def refuse(asked):
        broken.append(asked)
        return Refusal(400, {"error": {"message": words}}) if len(broken) == 1 else None

    async with ModelServer([Turn(text="Hello.")], refuses=refuse) as server:
        model = model_with_forms(server, family)
        with pytest.raises(ModelError):
            await collected(model, request(output_schema=SCHEMA))
        await collected(model, request(output_schema=SCHEMA))
        assert [has(asked.body, FORMS[family]) for asked in server.requests] == [True, True]
        await model.close()


async def test_what_every_family_sends_by_itself_is_what_these_tests_know():
    optional = {"include", "store", "stream_options", "reasoning", "thinking", "generationConfig"}
    needed = {"model", "stream", "messages", "input", "contents", "max_tokens", "options", "truncate", "shift"}
    needed |= {"instructions", "system", "systemInstruction"}
    for family in FAMILIES:
        async with ModelServer([Turn(text="Hello.")]) as server:
            model = model_at(server, family)
            await collected(model)
            await model.close()
            assert server.requests[0].body.keys() <= optional | needed, family


@pytest.mark.parametrize(
    ("family", "name", "more"),
    [
        ("openai", "stream_options", {"extra_body": {"stream_options": {"include_usage": False}}}),
        ("openai", "logit_bias", {"extra_body": {"logit_bias": {}}}),
    ],
)
async def test_a_field_of_the_settings_is_an_error_and_not_dropped(family, name, more):
    async with ModelServer([Turn(text="Hello.")], refuses=refusing(name, "openai")) as server:
        model = model_at(server, family, **more)
        with pytest.raises(ModelError, match=name.rpartition(".")[2]):
            await collected(model)
        assert len(server.requests) == 1
        await model.close()


async def test_what_did_not_help_is_not_left_out_later():
    broken = []

    def refuse(asked):
        broken.append(asked)
        return Refusal(400, {"error": {"message": "unknown parameter"}}) if len(broken) < 3 else None

    async with ModelServer([Turn(text="Hello.")], refuses=refuse) as server:
        model = model_at(server, "openai")
        with pytest.raises(ModelError):
            await collected(model)
        assert [has(asked.body, "stream_options") for asked in server.requests] == [True, False]
        await collected(model)
        assert has(server.requests[-1].body, "stream_options")
        await model.close()


async def test_tools_and_messages_are_never_dropped():
    spec = ToolSpec("read_file", "Read.", {"type": "object", "properties": {"stream_options": {"type": "string"}}})
    document = {"error": {"message": "tools.0.function.parameters.properties.store: Extra inputs are not permitted"}}
    async with ModelServer([], refuses=lambda asked: Refusal(400, document)) as server:
        model = model_at(server, "openai")
        with pytest.raises(ModelError):
            await collected(model, request(tools=(spec,)))
        assert all(len(asked.body["tools"]) == 1 for asked in server.requests)
        await model.close()


EFFORTS = [{"effort": effort} for effort in (Effort.HIGH, Effort.NONE)] + [{"thinking_budget": 4096}]


def leaves(fields, within=""):
    for name, value in fields.items():
        inner = list(leaves(value, f"{within}{name}.")) if isinstance(value, dict) else []
        yield from inner or [f"{within}{name}"]


async def sent_to(vendor, model_name, **asked):
    """The body of a request for a vendor's model."""
    of = MAKERS[vendor.family]
    async with ModelServer([Turn(text="Hello.")]) as server:
        endpoint = Endpoint(vendor, model_name, base_url=server.url(SPOKEN[vendor.family]), key="sk", network=DIRECT)
        model = of(endpoint, MemoryBlobs())
        await collected(model, request(**asked))
        await model.close()
        return server.requests[0].body


MAKERS = {
    "openai_chat": OpenAIChat,
    "openai_responses": OpenAIResponses,
    "anthropic": Anthropic,
    "gemini": Gemini,
    "ollama": Ollama,
}
SPOKEN = {one: one.replace("_chat", "").replace("_", "-") for one in MAKERS}
STYLED = {(one.family, one.thinking_style): one for one in VENDORS.values() if one.family in MAKERS}
NAMES = ("gpt-5.6", "some-model", "claude-sonnet-5-5", "claude-opus-4-6", "gemini-2.5-pro", "gemini-3.8-flash")


def notices_of(events):
    return [event.cause for event in events if isinstance(event, StepRetried)]


@pytest.mark.parametrize(("family", "style"), STYLED)
async def test_an_effort_that_a_server_refuses_is_left_out_with_a_notice_and_tried_again_when_it_is_another(
    family, style
):
    vendor, seen = STYLED[family, style], set()
    for name, asked in [(name, asked) for name in NAMES for asked in EFFORTS]:
        usual = set(leaves(await sent_to(vendor, name)))
        for field in sorted(set(leaves(await sent_to(vendor, name, **asked))) - usual - seen - {"max_tokens"}):
            seen.add(field)
            async with ModelServer(4 * [Turn(text="Hello.")], refuses=refusing(field, "pydantic")) as server:
                endpoint = Endpoint(vendor, name, base_url=server.url(SPOKEN[family]), key="sk", network=DIRECT)
                model = MAKERS[family](endpoint, MemoryBlobs())
                (notice,) = notices_of(await collected(model, request(**asked)))
                assert f"asked without `{field}`" in notice
                assert notices_of(await collected(model, request(**asked))) == []
                assert [has(one.body, field) for one in server.requests] == [True, False, False]
                has_other = field in leaves(await sent_to(vendor, name, effort=Effort.LOW))
                assert len(notices_of(await collected(model, request(effort=Effort.LOW)))) == has_other
                await collected(model)
                await model.close()
    assert seen


@for_each("words", WORDS)
@for_each("field", ["logit_bias", "provider.order", "top_k"])
async def test_the_error_about_a_field_of_the_settings_names_it_and_where_it_is_set(words, field):
    outer, _, inner = field.partition(".")
    more = {"extra_body": {outer: {inner: [1]} if inner else 1}}
    async with ModelServer([], refuses=refusing(field, words)) as server:
        model = model_at(server, "openai", **more)
        with pytest.raises(ModelError) as refused:
            await collected(model)
        await model.close()
    assert f"refused `{field}`, which you set. Remove it from [extra_body]" in refused.value.hint


async def test_an_object_that_only_a_set_effort_fills_is_left_out_as_a_whole():
    async with ModelServer([Turn(text="Hello.")], refuses=refusing("output_config", "pydantic")) as server:
        model = model_at(server, "anthropic")
        (notice,) = notices_of(await collected(model, request(effort=Effort.HIGH)))
        await model.close()
    assert "asked without `output_config`" in notice


async def test_what_a_refused_field_of_an_effort_needs_beside_it_goes_with_it():
    vendor = next(one for one in VENDORS.values() if one.family == "anthropic")
    async with ModelServer([Turn(text="Hello.")], refuses=refusing("thinking.budget_tokens", "pydantic")) as server:
        endpoint = Endpoint(vendor, "claude-sonnet-4-5", base_url=server.url("anthropic"), key="sk", network=DIRECT)
        model = Anthropic(endpoint, MemoryBlobs())
        await collected(model, request(thinking_budget=4096))
        await model.close()
    assert "thinking" not in server.requests[-1].body


async def test_an_error_about_something_else_keeps_its_advice_although_an_effort_is_set():
    document = {"error": {"message": "temperature: too high"}}
    async with ModelServer([], refuses=lambda asked: Refusal(400, document)) as server:
        model = model_at(server, "openai")
        with pytest.raises(ModelError) as refused:
            await collected(model, request(effort=Effort.HIGH))
        await model.close()
    assert refused.value.hint.startswith("Check the model name (-m)")
