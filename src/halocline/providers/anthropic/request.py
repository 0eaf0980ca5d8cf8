"""Anthropic's Messages API: our messages to its wire format, its stream to our events.

What must stay true: thinking goes back unchanged and only to the model that made it; results come first in the user
message after their calls; and a message's encoding never depends on later ones, so that the server's prompt cache keeps
matching. Halocline asks for no tools that the server runs itself, but a gateway may add some: their blocks go back as
they came, and are never ours to run.
"""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from msgspec.structs import replace

from halocline.net.http import HttpClient
from halocline.ports.blobs import Blobs
from halocline.ports.model import ModelEvent, Request
from halocline.protocol import json_input, messages as msg
from halocline.protocol.errors import ModelError
from halocline.protocol.events import AssistantMessageCompleted, UsageReported
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import JsonObject
from halocline.providers import json_cache
from halocline.providers.accepted import fit_id, fit_name
from halocline.providers.anthropic.stream import FromWire
from halocline.providers.endpoint import Endpoint
from halocline.providers.extra_body import encode_head
from halocline.providers.http import ServedModel
from halocline.providers.json_cache import Fragments
from halocline.providers.response_format import native_schema
from halocline.providers.thinking import for_anthropic, headers_for_anthropic

_IDS = compile_later(r"[a-zA-Z0-9_-]{1,64}"), 64
_FORM = json_cache.PartForm(
    text=lambda text: {"type": "text", "text": text},
    picture=lambda kind, data: {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}},
)
MOST_PAUSES = 20
"""Continuations of one reply; after that it counts as cut off."""
_BREAKPOINTS = 2
_CACHED = b',"cache_control":{"type":"ephemeral"}}'


class Anthropic(ServedModel[bytes]):
    """A model behind the Messages API. `blobs` holds the images in messages."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs, client: HttpClient | None = None) -> None:
        super().__init__(endpoint, encode_messages(endpoint, blobs), client, endpoint.url.removesuffix("/v1"))

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Yield one reply, asking again while the server pauses it to run tools of its own. Its parts become one."""
        content: tuple[msg.AssistantPart, ...] = ()
        spent: UsageReported | None = None
        for pauses in range(MOST_PAUSES + 1):
            asked = (
                replace(request, messages=(*request.messages, msg.AssistantMessage(content))) if content else request
            )
            reader, events = self._ask(asked)
            try:
                async with aclosing(events):
                    async for event in events:
                        match event:
                            case UsageReported():
                                spent = _add_usage(spent, event)
                            case AssistantMessageCompleted():
                                last = event
                                content += event.message.content
                            case _:
                                yield event
            except ModelError:
                if spent:
                    yield spent
                raise
            if not reader.is_paused or last.message.tool_calls or pauses == MOST_PAUSES:
                break
        if spent:
            yield spent
        yield replace(last, message=replace(last.message, content=tuple(_without_unanswered(content))))

    def _ask(self, request: Request) -> tuple[FromWire, AsyncGenerator[ModelEvent, None]]:
        """Send one request. The reply is read by the translator."""
        body = to_wire(request, self._endpoint, self._fragments)
        reader = FromWire(request, self._endpoint, self._fragments.calls)
        headers = headers_for_anthropic(request, self._endpoint)
        return reader, self._exchange(request, "/v1/messages", body, reader, headers)


def encode_messages(endpoint: Endpoint, blobs: Blobs) -> Fragments[bytes]:
    """Encode messages as content blocks joined by commas; empty for a message with nothing to send."""
    return Fragments(lambda message: json_cache.encode_parts(_encode_blocks(message, endpoint, blobs)))


def to_wire(request: Request, endpoint: Endpoint, fragments: Fragments[bytes]) -> list[bytes]:
    """Build the body of a request, in parts to send in order. Pure, except for the cache of `encode_messages`."""
    head = {"model": endpoint.wire_model(request.model), "stream": True, **for_anthropic(request, endpoint)}
    if request.output_schema is not None and (schema := native_schema(request, endpoint)):
        form = {"type": "json_schema", "schema": schema}
        head["output_config"] = {**head.get("output_config", {}), "format": form}
    if request.tools:
        tools = request.tools
        head["tools"] = [{"name": t.name, "description": t.description, "input_schema": t.schema} for t in tools]
    if request.system:
        head["system"] = [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}]
    messages = _list_messages(request.messages, fragments)
    return [encode_head(head, endpoint), b',"messages":[', *messages, b"]}"]


@dataclass(slots=True)
class _Group:
    """Adjacent messages of one role, which the API wants as one."""

    role: bytes
    results: list[bytes] = field(default_factory=list)
    others: list[bytes] = field(default_factory=list)

    def parts(self, cached: bool) -> list[bytes]:
        """Encode the message in pieces; `cached` marks its end as a cache breakpoint."""
        blocks = self.results + self.others
        if cached:
            blocks[-1] = blocks[-1][:-1] + _CACHED
        parts = [b'{"role":"', self.role, b'","content":[', blocks[0]]
        for block in blocks[1:]:
            parts += (b",", block)
        parts.append(b"]}")
        return parts


def _list_messages(messages: Sequence[msg.Message], fragments: Fragments[bytes]) -> list[bytes]:
    """List the messages in pieces. The last two from the user's side are breakpoints, so they are in no settled run."""
    encoded, runs = fragments.of(messages), [*fragments.runs(messages, _write_settled)]
    while True:
        begin = runs[-1][0] if runs else 0
        groups = _group_messages(messages[begin:], encoded[begin:])
        user_side = [group for group in groups if group.role == b"user"]
        if len(user_side) >= _BREAKPOINTS or not runs:
            break
        runs.pop()
    marked = user_side[-_BREAKPOINTS:]
    newest = [b"".join(group.parts(cached=any(group is one for one in marked))) for group in groups]
    return json_cache.separate_parts([*(part for _, part in runs if part), *newest])


def _write_settled(messages: Sequence[msg.Message], encoded: Sequence[bytes]) -> bytes:
    return json_cache.join_parts(b"".join(group.parts(cached=False)) for group in _group_messages(messages, encoded))


def _group_messages(messages: Sequence[msg.Message], encoded: Sequence[bytes]) -> list[_Group]:
    groups: list[_Group] = []
    for message, fragment in zip(messages, encoded, strict=True):
        if not fragment:
            continue
        role = b"assistant" if isinstance(message, msg.AssistantMessage) else b"user"
        if not groups or groups[-1].role != role:
            groups.append(_Group(role))
        group = groups[-1]
        (group.results if isinstance(message, msg.ToolResult) else group.others).append(fragment)
    return groups


def _encode_blocks(message: msg.Message, endpoint: Endpoint, blobs: Blobs) -> Iterable[JsonObject]:
    match message:
        case msg.UserMessage():
            return _FORM.encode_all(message.content, blobs)
        case msg.ToolResult():
            return (_encode_result(message, blobs),)
        case msg.AssistantMessage():
            thoughts = message.model in ("", endpoint.name)
            blocks = (
                _encode_reply_part(part, endpoint)
                for part in message.content
                if thoughts or not isinstance(part, msg.Thinking)
            )
            return (block for block in blocks if block)


def _encode_result(result: msg.ToolResult, blobs: Blobs) -> JsonObject:
    block: JsonObject = {"type": "tool_result", "tool_use_id": fit_id(result.call, *_IDS)}
    if content := _FORM.encode_all(result.content, blobs):
        block["content"] = content
    return block | ({"is_error": True} if result.is_error else {})


def _encode_reply_part(part: msg.AssistantPart, endpoint: Endpoint) -> JsonObject | None:
    match part:
        case msg.Text():
            return _FORM.text(part.text) if part.text.strip() else None
        case msg.ToolCall():
            named = {"id": fit_id(part.id, *_IDS), "name": fit_name(part.name)}
            return {"type": "tool_use", **named, "input": part.arguments}
        case msg.Thinking() if part.provider != endpoint.vendor.name:
            return None
        case msg.Thinking(redacted=data) if block := _unseal_block(data):
            return block
        case msg.Thinking(redacted=data) if data:
            return {"type": "redacted_thinking", "data": data}
        case msg.Thinking(signature=signature) if signature:
            return {"type": "thinking", "thinking": part.text, "signature": signature}
        case msg.Thinking():
            return None


def _unseal_block(redacted: str) -> JsonObject | None:
    """Return the block of a tool of the server, which `Thinking.redacted` holds as JSON; None for redacted thinking."""
    return json_input.decode_or(None, redacted, JsonObject)


def _add_usage(before: UsageReported | None, now: UsageReported) -> UsageReported:
    if before is None:
        return now
    cost = None if before.cost is None or now.cost is None else before.cost + now.cost
    return replace(now, usage=before.usage + now.usage, cost=cost)


def _without_unanswered(parts: Iterable[msg.AssistantPart]) -> Iterable[msg.AssistantPart]:
    """Drop the server's calls that have no result: the API refuses them in a later request."""
    parts = list(parts)
    blocks = [(part, _unseal_block(part.redacted) if isinstance(part, msg.Thinking) else None) for part in parts]
    answered = {block.get("tool_use_id") for _, block in blocks if block}
    for part, block in blocks:
        if not block or "tool_use_id" in block or block.get("id") in answered:
            yield part
