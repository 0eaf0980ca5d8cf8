"""Google's Gemini API: our messages to its wire format, its stream to our events.

What must stay true: a reply's results follow it in one content, in the order of their calls; signatures go back with
the part they came with; and the encoded contents of one request are a prefix of the next one's.
"""

import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from urllib.parse import quote

from halocline.net.http import HttpClient
from halocline.ports.blobs import Blobs
from halocline.ports.model import ModelEvent, Request
from halocline.ports.tool import ToolSpec
from halocline.protocol import messages as msg
from halocline.protocol.values import JsonObject
from halocline.providers import json_cache
from halocline.providers.accepted import fit_name, put_in_turn
from halocline.providers.endpoint import Endpoint
from halocline.providers.extra_body import encode_head
from halocline.providers.gemini.schema import gemini_parameters
from halocline.providers.gemini.stream import FromWire
from halocline.providers.http import ServedModel
from halocline.providers.json_cache import Fragment, Fragments
from halocline.providers.response_format import native_schema
from halocline.providers.thinking import for_gemini

_WANTS_SIGNATURES = re.compile(r"gemini-(?![12]\.)")
# The API's own value for calls made by another model or a person: ai.google.dev/gemini-api/docs/thought-signatures
_UNSIGNED = "skip_thought_signature_validator"
_FORM = json_cache.PartForm(
    text=lambda text: {"text": text},
    picture=lambda kind, data: {"inlineData": {"mimeType": kind, "data": data}},
)


class Gemini(ServedModel[Fragment]):
    """A model behind the Gemini API. `blobs` holds the images in messages."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs, client: HttpClient | None = None) -> None:
        super().__init__(endpoint, encode_messages(endpoint, blobs), client)

    def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        body = to_wire(request, self._endpoint, self._fragments)
        translator = FromWire(request, self._endpoint, self._fragments.calls)
        path = model_address(self._endpoint.wire_model(request.model))
        return self._exchange(request, path, body, translator)


def model_address(model: str) -> str:
    """Return a model's path below the base URL. A name with a collection (`tunedModels/mine`) is used as it is."""
    return f"/{quote(model if '/' in model else f'models/{model}')}:streamGenerateContent?alt=sse"


def encode_messages(endpoint: Endpoint, blobs: Blobs) -> Fragments[Fragment]:
    """Encode messages; `message` is empty for one with nothing to send."""
    return Fragments(lambda message: _encode_message(message, endpoint, blobs))


def to_wire(request: Request, endpoint: Endpoint, fragments: Fragments[Fragment]) -> list[bytes]:
    """Build the body of a request, in parts to send in order. Pure, except for the cache of `encode_messages`.

    The reply's length is limited only when the request says so: the server knows its own limits better.
    """
    head: JsonObject = {}
    if config := _build_config(request, endpoint):
        head["generationConfig"] = config
    if request.tools:
        head["tools"] = [{"functionDeclarations": [_encode_function(spec) for spec in request.tools]}]
    if request.system:
        head["systemInstruction"] = {"parts": [{"text": request.system}]}
    contents = fragments.written(request.messages, _write_contents)
    begin = encode_head(head, endpoint)
    return [begin, b'"contents":[' if begin == b"{" else b',"contents":[', *json_cache.separate_parts(contents), b"]}"]


def _build_config(request: Request, endpoint: Endpoint) -> JsonObject:
    config: JsonObject = {}
    if request.max_tokens:
        config["maxOutputTokens"] = request.max_tokens
    if thinking := for_gemini(request, endpoint):
        config["thinkingConfig"] = thinking
    if request.output_schema is not None and (schema := native_schema(request, endpoint)):
        config |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
    return config


def _encode_function(spec: ToolSpec) -> JsonObject:
    function: JsonObject = {"name": spec.name, "description": spec.description}
    accepted = gemini_parameters(spec.schema)
    return function | ({"parameters": accepted} if accepted else {})


def _write_contents(messages: Sequence[msg.Message], encoded: Sequence[Fragment]) -> bytes:
    contents: list[bytes] = []
    names: Mapping[str, str] = {}
    results: dict[str, Fragment] = {}
    for message, fragment in zip(messages, encoded, strict=True):
        if isinstance(message, msg.ToolResult):
            results[message.call] = fragment
            continue
        contents.append(_encode_answers(names, results))
        results = {}
        if isinstance(message, msg.AssistantMessage):
            names = {call.id: fit_name(call.name) for call in message.tool_calls}
        contents.append(fragment.message)
    contents.append(_encode_answers(names, results))
    return json_cache.join_parts(put_in_turn(filter(None, contents)))


def _encode_answers(names: Mapping[str, str], results: Mapping[str, Fragment]) -> bytes:
    """Encode a reply's results as one content, images last: the API matches responses to calls by count."""
    answered = [(id, name, results[id]) for id, name in names.items() if id in results]
    parts: list[bytes] = []
    for id, name, result in answered:
        called = json_cache.encode_json({"id": id, "name": name})[:-1]
        parts += (b'{"functionResponse":', called, b',"response":', result.message, b"}}", b",")
    for id, name, result in answered:
        if result.pictures:
            parts += (json_cache.encode_json({"text": f"[Images in the result of {name}, call {id}:]"}), b",")
            parts += (result.pictures, b",")
    return b"".join((b'{"role":"user","parts":[', *parts[:-1], b"]}")) if parts else b""


def _encode_message(message: msg.Message, endpoint: Endpoint, blobs: Blobs) -> Fragment:
    match message:
        case msg.UserMessage():
            return Fragment(_encode_content("user", _FORM.encode_all(message.content, blobs)))
        case msg.AssistantMessage():
            return Fragment(_encode_content("model", _encode_reply(message, endpoint)))
        case msg.ToolResult():
            response = {"error" if message.is_error else "output": message.text}
            pictures = (_FORM.encode(part, blobs) for part in message.content if isinstance(part, msg.Image))
            return Fragment(json_cache.encode_json(response), json_cache.encode_parts(pictures))


def _encode_content(role: str, parts: Iterable[JsonObject]) -> bytes:
    content = {"role": role, "parts": list(parts)}
    return json_cache.encode_json(content) if content["parts"] else b""


def _encode_reply(message: msg.AssistantMessage, endpoint: Endpoint) -> Iterable[JsonObject]:
    """Encode a reply. Thinking with only a signature belongs to the part after it."""
    unsigned = _UNSIGNED if _WANTS_SIGNATURES.match(endpoint.model.rpartition("/")[2]) else ""
    signature = ""
    for part in message.content:
        match part:
            case msg.Thinking() if part.provider != endpoint.vendor.name:
                continue
            case msg.Thinking(redacted=alone) if alone:
                yield _with_signature({"text": ""}, alone)
            case msg.Thinking(text=text) if text:
                yield _with_signature({"text": text, "thought": True}, part.signature)
            case msg.Thinking():
                signature = part.signature
            case msg.Text(text=text):
                if text:
                    yield _with_signature({"text": text}, signature)
                signature = ""
            case msg.ToolCall():
                called = {"id": part.id, "name": fit_name(part.name), "args": part.arguments}
                yield _with_signature({"functionCall": called}, signature or unsigned)
                # Only the first call of a reply needs a signature.
                signature = unsigned = ""


def _with_signature(part: JsonObject, signature: str) -> JsonObject:
    return part | ({"thoughtSignature": signature} if signature else {})
