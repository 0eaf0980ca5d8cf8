"""Models of VS Code's Language Model API: our messages to its kinds of parts, a reply's parts to our events.

The API has no system prompt and reports no usage: the instructions are the first message, and the model's own tokenizer
counts what is new in a request.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import msgspec

from halocline.ports.blobs import Blobs
from halocline.ports.editor_models import EditorModelFailure, EditorModels, ReplyPart
from halocline.ports.model import ModelEvent, Request
from halocline.protocol import messages as msg
from halocline.protocol.errors import ModelError
from halocline.protocol.events import TextDelta, ToolCallDelta
from halocline.protocol.values import JsonObject
from halocline.providers.accepted import fit_name
from halocline.providers.endpoint import Endpoint
from halocline.providers.errors import classify_words, read_answers
from halocline.providers.json_cache import Fragments, PartForm
from halocline.providers.reply import ReplyReader

_FORM = PartForm(
    text=lambda text: {"type": "text", "text": text},
    picture=lambda kind, data: {"type": "image", "mime": kind, "data": data},
)


def translate_failure(failure: EditorModelFailure, endpoint: Endpoint) -> ModelError:
    """Return the error for a failure."""
    rows = read_answers().editor
    row = rows.get(failure.code) or rows["other"]
    kind = row.kind or classify_words(500, str(failure))
    said = endpoint.without_key(" ".join(str(failure).split()))[:300]
    return ModelError(kind, f"{row.what.format(model=endpoint.model)}{f': {said}' if said else '.'}", row.hint)


class VsCode:
    """A model of VS Code. `blobs` holds the images in messages."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs, models: EditorModels) -> None:
        self.name = endpoint.name
        self._endpoint = endpoint
        self._models = models
        self._blobs = blobs
        self._fragments = Fragments(lambda message: Encoded(encode_message(message, blobs)))

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        model = self._endpoint.wire_model(request.model)
        head = Encoded({"role": "user", "content": [_FORM.text(request.system)]} if request.system else {})
        sent = [one for one in (head, *self._fragments.of(request.messages)) if one.message.get("content")]
        tools = [{"name": t.name, "description": t.description, "inputSchema": t.schema} for t in request.tools]
        reply = Reply(request, self._endpoint)
        try:
            async with aclosing(self._models.ask(model, [one.message for one in sent], tools)) as pieces:
                async for parts in pieces:
                    for event in reply.translate(parts):
                        yield event
        except EditorModelFailure as failure:
            raise translate_failure(failure, self._endpoint) from failure
        for event in reply.end(await self._count(model, sent, tools, reply)):
            yield event

    async def close(self) -> None:
        """Nothing is open between two requests."""

    async def _count(
        self, model: str, sent: "Sequence[Encoded]", tools: Sequence[JsonObject], reply: "Reply"
    ) -> msg.Usage | None:
        """Return the tokens of request and reply; None if the editor cannot count them."""
        new = [one for one in sent if one.tokens is None]
        described = {"role": "user", "content": [_FORM.text(msgspec.json.encode(tools).decode())]}
        answer = {"role": "assistant", "content": [_encode_part(part, self._blobs) for part in reply.parts()]}
        try:
            *counts, of_tools, of_reply = await self._models.count(
                model, [*(one.message for one in new), described, answer]
            )
        except (EditorModelFailure, ValueError):
            return None
        for one, count in zip(new, counts, strict=False):
            one.tokens = count
        return msg.Usage(input=sum(one.tokens or 0 for one in sent) + (of_tools if tools else 0), output=of_reply)


@dataclass(slots=True)
class Encoded:
    """A message as JSON, and its size once it was counted."""

    message: JsonObject
    tokens: int | None = None


class Reply(ReplyReader):
    """A reply that is being read."""

    def __init__(self, request: Request, endpoint: Endpoint) -> None:
        super().__init__(request, endpoint)
        self._words: list[str] = []
        self._calls: list[msg.ToolCall] = []

    def end(self, usage: msg.Usage | None) -> tuple[ModelEvent, ...]:
        """Return usage and message. Raises ModelError for an empty reply."""
        self.ended, self._usage = True, usage
        return self.finish()

    def parts(self, stop: msg.StopReason = msg.StopReason.END_TURN) -> list[msg.AssistantPart]:
        """Return the reply so far."""
        text = "".join(self._words)
        return [*([msg.Text(text)] if text else []), *self._calls]

    def translate(self, parts: Sequence[ReplyPart]) -> Iterator[ModelEvent]:
        """Return the events of further parts."""
        for part in parts:
            if part.name:
                call = msg.ToolCall(self._ids.claim(part.call), part.name, part.input)
                self._calls.append(call)
                yield ToolCallDelta(call.id, call.name, msgspec.json.encode(call.arguments).decode())
            elif part.text:
                self._words.append(part.text)
                yield TextDelta(part.text)


def encode_message(message: msg.Message, blobs: Blobs) -> JsonObject:
    """Describe a message. Its content is empty if there is nothing to send back."""
    match message:
        case msg.UserMessage():
            return {"role": "user", "content": _encode_parts(message.content, blobs)}
        case msg.AssistantMessage():
            return {"role": "assistant", "content": _encode_parts(message.content, blobs)}
        case msg.ToolResult():
            content = _encode_parts(message.content, blobs)
            if message.is_error:  # a result cannot be marked as failed
                content.insert(0, _FORM.text("Error:"))
            return {"role": "user", "content": [{"type": "result", "id": message.call, "content": content}]}


def _encode_parts(parts: Sequence[msg.AssistantPart | msg.Note | msg.Image], blobs: Blobs) -> list[JsonObject]:
    """Describe parts; thinking has no kind of its own there and is left out."""
    found = (_encode_part(part, blobs) for part in parts)
    return [part for part in found if part and part.get("text") != ""]


def _encode_part(part: msg.AssistantPart | msg.Note | msg.Image, blobs: Blobs) -> JsonObject:
    match part:
        case msg.Text() | msg.Note() | msg.Image():
            return _FORM.encode(part, blobs)
        case msg.ToolCall():
            return {"type": "call", "id": part.id, "name": fit_name(part.name), "input": part.arguments}
        case _:
            return {}
