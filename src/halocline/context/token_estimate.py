"""How many tokens a text, a message or a request is, about: no vendor's counter is asked and nothing is loaded.

What must stay true: sizes add up and cost little, so that a list of messages is summed as it grows. Whoever has a
figure of the provider scales by it.
"""

from collections.abc import Sequence
from math import ceil
from operator import is_

from halocline.ports.model import Request
from halocline.protocol.messages import Image, Message, Note, Text, Thinking, ToolCall

BYTES = 3.6
"""Bytes of UTF-8 in a token of code or English prose."""
IMAGE = 1_600
"""Tokens of a picture: what a screen of 900 × 600 to 1,500 × 1,000 costs with most vendors."""
FRAME = 6
"""Tokens of what a vendor puts around a message or a part of one."""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is. Bytes count, not letters: beyond ASCII a letter is often a token by itself."""
    length = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return ceil(length / BYTES)


def message_tokens(message: Message) -> int:
    """About how many tokens a message is."""
    return FRAME + sum(_estimate_part(part) for part in message.content)


def _estimate_part(part: Text | Note | Image | Thinking | ToolCall) -> int:
    match part:
        case Image():
            return IMAGE
        case Thinking():
            return estimate_tokens(part.text or part.redacted)
        case ToolCall():
            return FRAME + estimate_tokens(part.name) + _estimate_arguments(part)
        case _:
            return FRAME + estimate_tokens(part.words)


def _estimate_arguments(call: ToolCall) -> int:
    return estimate_tokens(call.malformed) if call.malformed else estimate_tokens(str(call.arguments))


def request_tokens(request: Request, messages: "Sum | None" = None) -> int:
    """About how many tokens a request is, with what stands around the conversation. `messages` spares counting."""
    return overhead_tokens(request) + (messages or Sum()).of(request.messages)


class Sum:
    """The tokens of a list of messages, at the price of what is new since it was last asked."""

    def __init__(self) -> None:
        self._messages: Sequence[Message] = ()
        self._total = 0

    def of(self, messages: Sequence[Message]) -> int:
        if len(messages) < len(self._messages) or not all(map(is_, self._messages, messages)):
            self._messages, self._total = (), 0
        self._total += sum(map(message_tokens, messages[len(self._messages) :]))
        self._messages = messages
        return self._total


def overhead_tokens(request: Request) -> int:
    """The part of a request that is there before anything was said: the system prompt and the tools."""
    tools = sum(estimate_tokens(f"{tool.name} {tool.description} {tool.schema}") for tool in request.tools)
    return estimate_tokens(request.system) + tools
