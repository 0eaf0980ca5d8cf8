"""OpenAI's Chat Completions, and the many servers that speak it: our messages to its wire format, its stream to ours.

What must stay true: the encoded messages of one request are a prefix of the next one's, and tool messages directly
follow their calls (images in results come after all of them in a user message: a tool message cannot hold images).
What this server accepts of a history stands in `_Encoder`.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence

from halocline import providers
from halocline.net.http import HttpClient
from halocline.ports.blobs import Blobs
from halocline.ports.model import ModelEvent, Request
from halocline.protocol import messages as msg
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import JsonObject
from halocline.providers import json_cache
from halocline.providers.accepted import fit_function, fit_id, fit_name, put_in_turn
from halocline.providers.endpoint import Endpoint
from halocline.providers.extra_body import encode_head
from halocline.providers.http import ServedModel
from halocline.providers.json_cache import Fragment, Fragments
from halocline.providers.openai_chat.opaque import CALL_FIELDS, ENTRY_LISTS, FIELD, REASONING_FIELDS, unseal_fields
from halocline.providers.openai_chat.stream import FromWire

_MISTRAL = ("mistral", "ministral", "mixtral", "devstral", "codestral", "magistral", "pixtral")
_NINE = compile_later(r"[a-zA-Z0-9]{9}"), 9
_FORTY = compile_later(r"[a-zA-Z0-9_-]{1,40}"), 40
"""Forms of ids, and the length of those that replace others: Mistral's; and what both OpenAI and Anthropic take."""
_FORM = json_cache.PartForm(
    text=lambda text: {"type": "text", "text": text},
    picture=lambda kind, data: {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}},
)


class OpenAIChat(ServedModel[Fragment]):
    """A model behind a Chat Completions server. `blobs` holds the images in messages."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs, client: HttpClient | None = None) -> None:
        super().__init__(endpoint, encode_messages(endpoint, blobs), client)

    def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        body = to_wire(request, self._endpoint, self._fragments)
        translator = FromWire(request, self._endpoint, self._fragments.calls)
        return self._exchange(request, "/chat/completions", body, translator, whole=True)


def encode_messages(endpoint: Endpoint, blobs: Blobs) -> Fragments[Fragment]:
    return Fragments(_Encoder(endpoint, blobs).encode)


def to_wire(request: Request, endpoint: Endpoint, fragments: Fragments[Fragment]) -> list[bytes]:
    """Build the body of a request, in parts to send in order. Pure, except for the cache of `encode_messages`.

    The reply's length is limited only when the request says so: servers know their own limits better.
    """
    vendor = endpoint.vendor
    head: JsonObject = {"model": endpoint.wire_model(request.model), "stream": vendor.streams}
    if vendor.usage_on_request and vendor.streams:
        head["stream_options"] = {"include_usage": True}
    if request.max_tokens:
        head[vendor.max_tokens_field] = request.max_tokens
    if request.wishes_thinking:
        head |= providers.thinking.for_chat(request, endpoint)
    if vendor.cache_key_field and request.cache_key and endpoint.at_home:
        head[vendor.cache_key_field] = request.cache_key
    if request.output_schema is not None and (form := providers.response_format.for_openai(request, endpoint)):
        head["response_format"] = {"type": "json_schema", "json_schema": form}
    if vendor.claude_fields and "claude" in str(head["model"]):
        head |= vendor.claude_fields
    if request.tools:
        head["tools"] = encode_tools(request)
    written = fragments.written(
        request.messages, lambda some, encoded: json_cache.join_parts(_list_messages(endpoint, some, encoded))
    )
    messages = [*_encode_system(request), *written]
    return [encode_head(head, endpoint), b',"messages":[', *json_cache.separate_parts(messages), b"]}"]


def encode_tools(request: Request) -> list[JsonObject]:
    """Encode the tools of a request."""
    return [{"type": "function", "function": fit_function(spec)} for spec in request.tools]


def list_messages(request: Request, endpoint: Endpoint, fragments: Fragments[Fragment]) -> list[bytes]:
    """Encode the messages of a request, the system prompt first."""
    return [*_encode_system(request), *_list_messages(endpoint, request.messages, fragments.of(request.messages))]


def _encode_system(request: Request) -> list[bytes]:
    return [json_cache.encode_json({"role": "system", "content": request.system})] if request.system else []


def _list_messages(endpoint: Endpoint, messages: Sequence[msg.Message], encoded: Sequence[Fragment]) -> Iterable[bytes]:
    plain = [fragment.message for fragment in encoded if fragment.message and not fragment.pictures]
    all = plain if len(plain) == len(encoded) else _with_pictures(messages, encoded)
    return put_in_turn(all, reply_between=_is_mistral(endpoint))


def _with_pictures(messages: Sequence[msg.Message], encoded: Sequence[Fragment]) -> Iterable[bytes]:
    pictures: list[bytes] = []
    for message, fragment in zip(messages, encoded, strict=True):
        if pictures and not isinstance(message, msg.ToolResult):
            yield _picture_message(pictures)
            pictures = []
        if fragment.message:
            yield fragment.message
        if fragment.pictures:
            pictures.append(fragment.pictures)
    if pictures:
        yield _picture_message(pictures)


def _picture_message(pictures: Sequence[bytes]) -> bytes:
    return b'{"role":"user","content":[' + json_cache.join_parts(pictures) + b"]}"


def _is_mistral(endpoint: Endpoint) -> bool:
    """True for a model whose server checks ids, and wants a reply behind results: so do its templates elsewhere."""
    return any(family in endpoint.name.lower() for family in _MISTRAL)


class _Encoder:
    """Encodes messages in their order, so that ids which this server made go back as they came."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs) -> None:
        self._endpoint = endpoint
        self._blobs = blobs
        self._own_ids: set[str] = set()
        self._id_form = _NINE if _is_mistral(endpoint) else _FORTY
        vendor, known = endpoint.vendor, endpoint.info.reasoning_field
        self._reasoning_field = vendor.reasoning_field or known
        filler = " " if known and not vendor.reasoning_field else None
        self._filler = filler if vendor.reasoning_filler is None else vendor.reasoning_filler

    def encode(self, message: msg.Message) -> Fragment:
        """Encode one message; empty for a reply that has nothing to send back."""
        match message:
            case msg.UserMessage():
                content = _FORM.encode_plain(message.content, self._blobs)
                return Fragment(json_cache.encode_json({"role": "user", "content": content}))
            case msg.ToolResult():
                return self._encode_result(message)
            case msg.AssistantMessage():
                if message.model == self._endpoint.name and self._id_form is _FORTY:
                    self._own_ids |= {call.id for call in message.tool_calls}
                reply = self._encode_reply(message)
                return Fragment(json_cache.encode_json(reply) if len(reply) > 1 else b"")

    def _fit_id(self, id: str) -> str:
        return id if id in self._own_ids else fit_id(id, *self._id_form)

    def _encode_result(self, result: msg.ToolResult) -> Fragment:
        text = json_cache.text_of_result(result)
        pictures = [part for part in result.content if isinstance(part, msg.Image)]
        if pictures:
            text = f"{text}\n[The images of this result follow in the next user message.]".strip()
        message = {"role": "tool", "tool_call_id": self._fit_id(result.call), "content": text}
        parts = json_cache.encode_parts(_FORM.encode(image, self._blobs) for image in pictures)
        return Fragment(json_cache.encode_json(message), parts)

    def _encode_reply(self, message: msg.AssistantMessage) -> JsonObject:
        """Encode a reply. Opaque fields go back only to the model that made them, in place of the plain reasoning."""
        vendor = self._endpoint.vendor.name
        own = [part for part in message.content if isinstance(part, msg.Thinking) and part.provider == vendor]
        is_same = message.model in ("", self._endpoint.name)
        reply: JsonObject = {"role": "assistant"}
        if message.text:
            reply["content"] = message.text
        if calls := list(self._encode_calls(message, own if is_same else ())):
            reply["content"] = message.text or None
            reply["tool_calls"] = calls
        if len(reply) > 1:
            sealed = [unseal_fields(part) for part in own]
            entries = {
                name: value for fields in sealed if is_same for name, value in fields.items() if name in ENTRY_LISTS
            }
            reply |= entries or self._encode_reasoning("".join(part.text for part in own), sealed)
        return reply

    def _encode_reasoning(self, thoughts: str, sealed: Sequence[JsonObject]) -> JsonObject:
        """Encode reasoning for the field where this vendor wants it, or else the one in which it came."""
        came_in = (field for fields in sealed if (field := fields.get(FIELD)) in REASONING_FIELDS)
        field = self._reasoning_field or next(came_in, "")
        said = thoughts or self._filler
        return {field: said} if field and said is not None else {}

    def _encode_calls(self, message: msg.AssistantMessage, own: Sequence[msg.Thinking]) -> Iterator[JsonObject]:
        """Encode the calls. Opaque fields of a call stand directly before it."""
        fields: JsonObject = {}
        for part in message.content:
            if isinstance(part, msg.ToolCall):
                arguments = json_cache.encode_json(part.arguments).decode()
                function = {"name": fit_name(part.name), "arguments": arguments}
                call = {"id": self._fit_id(part.id), "type": "function", "function": function}
                yield call | {name: fields[name] for name in CALL_FIELDS if name in fields}
            fields = unseal_fields(part) if isinstance(part, msg.Thinking) and part in own else {}
