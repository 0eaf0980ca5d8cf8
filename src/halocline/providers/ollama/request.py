"""Ollama's chat API: our messages to its wire format. Its OpenAI format cannot set the size of the context.

What must stay true: the encoded messages of one request are a prefix of the next one's; nothing is cut silently: a
request that is longer than the context is refused, and a reply that fills it ends there.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing

from halocline import providers
from halocline.net.http import HttpClient
from halocline.ports.blobs import Blobs
from halocline.ports.model import ModelEvent, Request
from halocline.protocol import messages as msg
from halocline.protocol.values import JsonObject
from halocline.providers import json_cache, server_probe
from halocline.providers.accepted import fit_name, put_in_turn
from halocline.providers.endpoint import Endpoint
from halocline.providers.extra_body import encode_head
from halocline.providers.http import ServedModel
from halocline.providers.json_cache import Fragments
from halocline.providers.ollama.stream import FromWire
from halocline.providers.openai_chat.request import encode_tools

_ACCEPT = {"accept": "application/x-ndjson"}
USUAL = 32_768
"""Tokens to ask for if the person set none: enough for an agent, and what most machines can hold."""


async def choose_window(at: Endpoint) -> int | None:
    """Return the context size for a model; None leaves it to the server."""
    if at.info.window:
        return at.info.window
    (question, running), (_, described) = await server_probe.fetch_answers(at)
    own, trained = (
        server_probe.read_size(described, path) for path in ("parameters/num_ctx", "model_info/*.context_length")
    )
    if own or any(server_probe.find_values(described, "remote_host")):
        return None
    wanted = max(server_probe.read_info(running, question, at.model).window or 0, USUAL)
    return min(wanted, trained or wanted)


class Ollama(ServedModel[bytes]):
    """A model of an Ollama server. `blobs` holds the images in messages."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs, client: HttpClient | None = None) -> None:
        self._options: JsonObject | None = None
        super().__init__(endpoint, Fragments(Encoder(endpoint, blobs).encode), client, endpoint.url.removesuffix("/v1"))

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        if self._options is None:
            window = await choose_window(self._endpoint)
            self._options = {"num_ctx": window} if window else {}
        body = to_wire(request, self._endpoint, self._fragments, self._options)
        translator = FromWire(request, self._endpoint, self._fragments.calls)
        reply = self._exchange(request, "/api/chat", body, translator, _ACCEPT, lines=True)
        async with aclosing(reply) as events:
            async for event in events:
                yield event


def to_wire(request: Request, endpoint: Endpoint, fragments: Fragments[bytes], options: JsonObject) -> list[bytes]:
    """Build the body of a request, in parts to send in order. Pure, except for the cache of messages."""
    head: JsonObject = {"model": endpoint.wire_model(request.model), "stream": True, "truncate": False, "shift": False}
    head["options"] = options | ({"num_predict": request.max_tokens} if request.max_tokens else {})
    if request.wishes_thinking:
        head |= providers.thinking.for_ollama(request, endpoint)
    if request.tools:
        head["tools"] = encode_tools(request)
    messages = [json_cache.encode_json({"role": "system", "content": request.system})] if request.system else []
    messages += fragments.written(
        request.messages, lambda _, encoded: json_cache.join_parts(put_in_turn(filter(None, encoded)))
    )
    return [encode_head(head, endpoint), b',"messages":[', *json_cache.separate_parts(messages), b"]}"]


class Encoder:
    """Encodes messages in their order: a result names the tool of its call, which came before it."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs) -> None:
        self._endpoint = endpoint
        self._blobs = blobs
        self._tools: dict[str, str] = {}

    def encode(self, message: msg.Message) -> bytes:
        """Encode one message; empty for a reply that has nothing to send back."""
        match message:
            case msg.UserMessage():
                return json_cache.encode_json({"role": "user", **self._encode_content(message.content)})
            case msg.ToolResult():
                named = {"tool_call_id": message.call, "tool_name": self._tools.get(message.call, "")}
                content = self._encode_content(message.content)
                if message.is_error:  # the format cannot mark a failed call
                    content["content"] = f"Error: {content['content']}"
                return json_cache.encode_json({"role": "tool", **named, **content})
            case msg.AssistantMessage():
                reply = self._encode_reply(message)
                return json_cache.encode_json(reply) if len(reply) > 1 else b""

    def _encode_content(self, parts: Sequence[msg.Text | msg.Note | msg.Image]) -> JsonObject:
        pictures = {part: json_cache.encode_image(part, self._blobs) for part in parts if isinstance(part, msg.Image)}
        words = [
            part.words if not isinstance(part, msg.Image) else json_cache.MISSING_PICTURE * (not pictures[part])
            for part in parts
        ]
        content: JsonObject = {"content": "\n\n".join(filter(None, words))}
        sent = [data for data in pictures.values() if data]
        return content | ({"images": sent} if sent else {})

    def _encode_reply(self, message: msg.AssistantMessage) -> JsonObject:
        own = [part for part in message.content if isinstance(part, msg.Thinking)]
        thoughts = "".join(part.text for part in own if part.provider == self._endpoint.vendor.name)
        reply: JsonObject = {"role": "assistant"}
        if message.text:
            reply["content"] = message.text
        if calls := list(self._encode_calls(message)):
            reply["content"] = message.text
            reply["tool_calls"] = calls
        return reply | ({"thinking": thoughts} if thoughts and len(reply) > 1 else {})

    def _encode_calls(self, message: msg.AssistantMessage) -> Iterator[JsonObject]:
        calls = [part for part in message.content if isinstance(part, msg.ToolCall)]
        for index, call in enumerate(calls):
            name = self._tools[call.id] = fit_name(call.name)
            yield {"id": call.id, "function": {"index": index, "name": name, "arguments": call.arguments}}
