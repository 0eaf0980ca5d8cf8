"""OpenAI's Responses API: our messages to its wire format, its stream to our events. Nothing is stored on the server.

What must stay true: a model's reasoning goes back exactly as it came, directly before the item that followed it;
results follow their calls; and the encoded items of one request are a prefix of the next one's.
"""

from collections.abc import AsyncGenerator, Iterator

from halocline.net.http import HttpClient
from halocline.ports.blobs import Blobs
from halocline.ports.model import ModelEvent, Request
from halocline.protocol import messages as msg
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import JsonObject
from halocline.providers import json_cache
from halocline.providers.accepted import fit_function, fit_id, fit_name
from halocline.providers.endpoint import Endpoint
from halocline.providers.extra_body import encode_head
from halocline.providers.http import ServedModel
from halocline.providers.openai_responses.stream import FromWire
from halocline.providers.response_format import for_openai
from halocline.providers.thinking import for_responses

_LEAST_TOKENS = 16
_IDS = compile_later(r"(?s).{0,64}"), 64
"""Ids of other providers may be longer."""
_FORM = json_cache.PartForm(
    text=lambda text: {"type": "input_text", "text": text},
    picture=lambda kind, data: {"type": "input_image", "detail": "auto", "image_url": f"data:{kind};base64,{data}"},
)


class OpenAIResponses(ServedModel[bytes]):
    """A model behind a Responses server. `blobs` holds the images in messages."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs, client: HttpClient | None = None) -> None:
        super().__init__(endpoint, encode_messages(endpoint.vendor.name, blobs), client)

    def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        body = to_wire(request, self._endpoint, self._fragments)
        translator = FromWire(request, self._endpoint, self._fragments.calls)
        return self._exchange(request, "/responses", body, translator)


def encode_messages(maker: str, blobs: Blobs) -> json_cache.Fragments[bytes]:
    """Encode messages as items joined by commas; empty for a message with nothing to send.

    `maker` is the provider whose reasoning and phases are sent back; empty for none.
    """
    return json_cache.Fragments(lambda message: json_cache.join_parts(_encode_items(message, maker, blobs)))


def to_wire(request: Request, endpoint: Endpoint, fragments: json_cache.Fragments[bytes]) -> list[bytes]:
    """Build the body of a request, in parts to send in order. Pure, except for the cache of `encode_messages`.

    The reply's length is limited only when the request says so; the API rejects a limit below 16.
    """
    head: JsonObject = {"model": endpoint.wire_model(request.model), "stream": True, "store": False}
    head["include"] = ["reasoning.encrypted_content"]
    head["reasoning"] = {"summary": "auto", **(for_responses(request, endpoint) if request.wishes_thinking else {})}
    if request.cache_key and endpoint.vendor.cache_key_field and endpoint.at_home:
        head[endpoint.vendor.cache_key_field] = request.cache_key
    if request.output_schema is not None and (form := for_openai(request, endpoint)):
        head["text"] = {"format": {"type": "json_schema", **form}}
    if request.max_tokens:
        head["max_output_tokens"] = max(_LEAST_TOKENS, request.max_tokens)
    if request.system:
        head["instructions"] = request.system
    if request.tools:
        # Strict schemas allow no optional arguments.
        head["tools"] = [{"type": "function", **fit_function(spec), "strict": False} for spec in request.tools]
    items = fragments.written(request.messages, lambda _, encoded: json_cache.join_parts(filter(None, encoded)))
    return [encode_head(head, endpoint), b',"input":[', *json_cache.separate_parts(items), b"]}"]


def _encode_items(message: msg.Message, maker: str, blobs: Blobs) -> Iterator[bytes]:
    match message:
        case msg.UserMessage():
            content = _FORM.encode_plain(message.content, blobs)
            yield json_cache.encode_json(_encode_message("user", content))
        case msg.ToolResult():
            yield json_cache.encode_json(_encode_result(message, blobs))
        case msg.AssistantMessage():
            yield from _encode_reply(message, maker)


def _encode_message(role: str, content: str | list[JsonObject]) -> JsonObject:
    return {"type": "message", "role": role, "content": content}


def _encode_result(result: msg.ToolResult, blobs: Blobs) -> JsonObject:
    text = json_cache.text_of_result(result)
    pictures = [part for part in result.content if isinstance(part, msg.Image)]
    output = _FORM.encode_plain((msg.Text(text), *pictures), blobs)
    return {"type": "function_call_output", "call_id": fit_id(result.call, *_IDS), "output": output}


def _encode_reply(message: msg.AssistantMessage, maker: str) -> Iterator[bytes]:
    """Encode a reply, without reasoning that nothing followed: the API rejects it."""
    reasoning: list[bytes] = []
    phased = bool(maker) and message.model.startswith(f"{maker}/")
    for part in message.content:
        match part:
            case msg.Thinking(redacted=raw) if '"reasoning"' in raw and maker and part.provider == maker:
                reasoning.append(raw.encode())
            case msg.Text() if part.text.strip():
                phase: JsonObject = {"phase": part.phase} if part.phase and phased else {}
                yield from (*reasoning, json_cache.encode_json(_encode_message("assistant", part.text) | phase))
                reasoning = []
            case msg.ToolCall():
                yield from (*reasoning, json_cache.encode_json(_encode_call(part)))
                reasoning = []


def _encode_call(call: msg.ToolCall) -> JsonObject:
    named = {"call_id": fit_id(call.id, *_IDS), "name": fit_name(call.name)}
    return {"type": "function_call", **named, "arguments": json_cache.encode_json(call.arguments).decode()}
