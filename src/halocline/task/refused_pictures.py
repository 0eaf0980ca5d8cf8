"""Takes pictures out of a request that a server refused. Pure.

What must stay true: it ends, as every attempt has fewer pictures; later requests leave out only those without which the
server answered; and the log keeps all of them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from halocline.context.truncate import LEFT_OUT, without_pictures
from halocline.ports.model import Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import PicturesLeftOut
from halocline.protocol.messages import AssistantMessage, Image, Message

_TOO_LARGE = 413


class Lighter:
    """The attempts of one step to be answered without pictures."""

    def __init__(self) -> None:
        self._left_out: PicturesLeftOut | None = None
        self._is_told = False
        self._suspected: ModelError | None = None
        """The error of the request with all pictures, if nothing said that it was because of them."""

    def take_result(self) -> PicturesLeftOut | None:
        """Return what was left out, once: the server answers now."""
        result, self._is_told = None if self._is_told else self._left_out, True
        return result

    def choose_error(self, error: ModelError) -> ModelError:
        """Return the error that ends the attempts: the first one, if a suspicion was wrong."""
        is_same = error.kind is ModelErrorKind.INVALID_REQUEST
        return self._suspected if self._suspected and is_same else error

    def lighten(self, error: ModelError, request: Request) -> Request | None:
        """Return the request without its newest pictures; None if they are not why it was refused, or there are none.

        A server that says that it refuses pictures is asked without the newest ones, then without any. One that gives
        no known reason is asked once, if pictures came since its last reply.
        """
        is_named = error.kind is ModelErrorKind.PICTURE
        is_suspect = error.kind is ModelErrorKind.INVALID_REQUEST or error.status == _TOO_LARGE
        if not is_named and (self._left_out or not is_suspect):
            return None
        blobs = frozenset(_list_pictures(_newest(request)))
        if is_named and not blobs:
            blobs = frozenset(_list_pictures(request.messages))
        if not blobs:
            return None
        self._suspected = None if is_named else error
        taken = sorted(blobs | set(self._left_out.blobs if self._left_out else ()))
        self._is_told = False
        self._left_out = PicturesLeftOut(blobs=tuple(taken), model=request.model, cause=error.text)
        return replace(request, messages=[without_pictures(each, LEFT_OUT, blobs) for each in request.messages])


def _newest(request: Request) -> Sequence[Message]:
    """Return the messages since the last reply of the request's model: it has accepted what came before."""
    messages = request.messages
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if isinstance(message, AssistantMessage) and message.model in ("", request.model):
            return messages[at + 1 :]
    return messages


def _list_pictures(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        parts: Sequence[Any] = message.content
        yield from (part.blob for part in parts if isinstance(part, Image))
