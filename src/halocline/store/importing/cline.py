"""Cline's tasks: `api_conversation_history.json` in a task's folder, or `<id>.messages.json` of the newer generation.

Both are one JSON document, which is taken apart message by message, so that of a torn one all whole messages are read.
"""

import json
import re
from collections.abc import Iterator

from halocline.protocol.messages import Usage
from halocline.protocol.values import JsonObject
from halocline.store.importing.said import (
    Beat,
    Prompted,
    Spoke,
    Unread,
    heard,
    moment,
    number,
    objects,
    safe,
    spoken,
    words,
)

_ADDED = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_WRAPPED = re.compile(r"</?(?:task|feedback|user_message|user_input|answer)\b[^>]*>")
_START = re.compile(r'\A\s*(?:\{.*?"messages"\s*:\s*)?\[', re.DOTALL)


def read(source: bytes, began: float = 0.0) -> Iterator[Beat]:
    """What a conversation says; messages without a time of their own are given `began`."""
    for count, message in enumerate(_messages(source.decode("utf-8", "replace"))):
        if isinstance(message, Unread):
            yield message
            return
        yield from _message(message, moment(message.get("ts")) or began, count)


def _messages(text: str) -> Iterator[JsonObject | Unread]:
    start = _START.match(text)
    if start is None:
        yield Unread("all of it: it is no conversation")
        return
    decoder, at = json.JSONDecoder(), start.end()
    while True:
        while text[at : at + 1] in (" ", "\n", "\r", "\t", ","):
            at += 1
        if text[at : at + 1] == "]":
            return
        try:
            found, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield Unread("the end: it is torn or damaged")
            return
        if isinstance(found, dict):
            # JSON may hold half a character, which no log can.
            clean = json.dumps(found, ensure_ascii=False).encode("utf-8", "replace").decode()
            yield json.loads(clean)


def _message(message: JsonObject, at: float, count: int) -> Iterator[Beat]:
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(objects(content))
    if message.get("role") == "assistant":
        parts = tuple(part for block in blocks if (part := spoken(block)))
        info = message.get("modelInfo")
        about = info if isinstance(info, dict) else {}
        model = str(about.get("modelId") or about.get("id") or "")
        yield Spoke(at, str(count), parts, model, *_measured(message.get("metrics")))
    elif message.get("role") == "user":
        yield from (result for block in blocks if (result := heard(block, at)))
        text = safe(_WRAPPED.sub("", _ADDED.sub("", words(content)))).strip()
        if text:
            yield Prompted(at, text)


def _measured(metrics: object) -> tuple[Usage | None, float | None]:
    """Tokens and cost, as either generation writes them."""
    if not isinstance(metrics, dict):
        return None, None
    tokens = metrics.get("tokens")
    old = tokens if isinstance(tokens, dict) else {}
    usage = Usage(
        input=number(old, "prompt") or number(metrics, "inputTokens"),
        output=number(old, "completion") or number(metrics, "outputTokens"),
        cache_read=number(old, "cached") or number(metrics, "cacheReadTokens"),
        cache_write=number(metrics, "cacheWriteTokens"),
    )
    cost = metrics.get("cost")
    return usage, float(cost) if isinstance(cost, int | float) and cost >= 0 else None
