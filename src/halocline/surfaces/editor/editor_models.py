"""The models that VS Code offers to extensions, asked through ours."""

from collections.abc import AsyncGenerator, Sequence
from itertools import count
from typing import Any, TypeVar

import msgspec

from halocline.client.editor import EditorModel, EditorModelFailure, ReplyPart
from halocline.protocol.values import JsonObject, Value
from halocline.surfaces.editor.peer import EditorError, Peer

COUNTING = 10.0
"""Seconds to wait for the sizes of messages."""
T = TypeVar("T")


class Offered(Value, frozen=True):
    """The models that there are now."""

    models: tuple[EditorModel, ...]


class _Failure(Value, frozen=True):
    code: str = ""
    message: str = ""


class _ReplyUpdate(Value, frozen=True):
    """What came of a reply since the last time."""

    parts: tuple[ReplyPart, ...] = ()
    done: bool = False
    failure: _Failure | None = None


class _Counts(Value, frozen=True):
    """The tokens of each message."""

    counts: tuple[int, ...]


class VsCodeModels:
    """Implements `ports.editor_models.EditorModels` by asking the extension, which tells which models there are."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._numbers = count(1)
        self._offered: tuple[EditorModel, ...] = ()

    async def take(self, given: Offered) -> None:
        """Take other models."""
        self._offered = given.models

    def offered(self) -> Sequence[EditorModel]:
        return self._offered

    async def ask(
        self, model: str, messages: Sequence[JsonObject], tools: Sequence[JsonObject]
    ) -> AsyncGenerator[Sequence[ReplyPart], None]:
        number, update = str(next(self._numbers)), _ReplyUpdate()
        given = {"ask": number, "model": model, "messages": messages, "tools": tools}
        try:
            await self._request("models/ask", given)
            while not update.done:
                update = _read_answer(await self._request("models/next", {"ask": number}), _ReplyUpdate)
                yield update.parts
        finally:
            if not update.done:
                await self._peer.notify("models/cancel", {"ask": number})
        if update.failure:
            raise EditorModelFailure(update.failure.code, update.failure.message)

    async def count(self, model: str, messages: Sequence[JsonObject]) -> Sequence[int]:
        answer = await self._request("models/count", {"model": model, "messages": messages}, COUNTING)
        return _read_answer(answer, _Counts).counts

    async def _request(self, method: str, params: JsonObject, timeout: float | None = None) -> Any:
        try:
            return await self._peer.request(method, params, timeout)
        except EditorError as error:
            raise EditorModelFailure(EditorModelFailure.GONE, str(error)) from error


def _read_answer(answer: Any, kind: type[T]) -> T:
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise EditorModelFailure("", f"The extension's answer is not one of this version: {error}") from error
