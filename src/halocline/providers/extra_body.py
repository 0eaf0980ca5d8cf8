"""The head of a request's body, with the fields that a person adds to those that we send."""

from collections.abc import Mapping
from typing import Any

from halocline.protocol.values import JsonObject
from halocline.providers.endpoint import Endpoint
from halocline.providers.json_cache import encode_json

RESERVED = frozenset(
    ("model", "stream", "messages", "contents", "input", "system", "systemInstruction", "instructions", "tools")
)
"""Fields that make a request ours: nothing else may set them."""


def encode_head(head: JsonObject, endpoint: Endpoint) -> bytes:
    """Encode everything but the messages, as an object that is still open. The endpoint's fields win over ours."""
    return encode_json(merge_fields(head, endpoint.extra_body))[:-1]


def merge_fields(ours: Mapping[str, Any], more: Mapping[str, Any]) -> JsonObject:
    """Merge fields, objects within objects too."""
    merged = dict(ours)
    for name, value in more.items():
        own = merged.get(name)
        merged[name] = merge_fields(own, value) if isinstance(own, dict) and isinstance(value, dict) else value
    return merged
