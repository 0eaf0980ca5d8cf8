"""Fields that gateways stream beside the format and want back as they came: signed reasoning, signatures of calls.

OpenRouter and Vercel send `reasoning_details`, LiteLLM `thinking_blocks`, Google `extra_content` at each call. Gemini
and Claude refuse the request after a call without them. `Thinking.redacted` holds them as JSON text.
"""

from halocline.protocol import json_input
from halocline.protocol.messages import Thinking
from halocline.protocol.values import JsonObject
from halocline.providers.json_cache import encode_json

ENTRY_LISTS = ("reasoning_details", "thinking_blocks")
"""Fields of a reply that are lists of entries."""
REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Fields with reasoning that can be read. A server wants it back in the one that it used."""
FIELD = "field"
CALL_FIELDS = ("extra_content", "provider_specific_fields")
"""Fields of a call."""
_TEXTS = ("text", "summary", "thinking")
"""Fields of an entry that grow from piece to piece; of all others the newest value counts."""


class OpaqueEntries:
    """The entries of one reply, joined from their pieces, in the order they began."""

    def __init__(self) -> None:
        self._lists: dict[str, list[JsonObject]] = {}

    def add(self, field: str, pieces: object) -> str:
        """Add pieces, if it is a list, to their entries; return the reasoning that can be read in them."""
        if not isinstance(pieces, list):
            return ""
        entries = self._lists.setdefault(field, [])
        readable = []
        for piece in pieces:
            if not isinstance(piece, dict):
                continue
            readable += [text for name in _TEXTS if isinstance(text := piece.get(name), str)]
            if entries and _continues(entries[-1], piece):
                _extend_entry(entries[-1], piece)
            else:
                entries.append(dict(piece))
        return "".join(readable)

    def seal(self, field: str) -> str:
        """Return all entries as JSON text, or else the field that the reasoning came in; empty without both."""
        entries = {name: entries for name, entries in self._lists.items() if entries}
        return seal_call(entries or ({FIELD: field} if field else {}))


def seal_call(fields: JsonObject) -> str:
    """Return a call's own fields as JSON text; empty when there are none."""
    return encode_json(fields).decode() if fields else ""


def unseal_fields(part: Thinking) -> JsonObject:
    """Return the fields to send back; empty when there are none."""
    return json_input.decode_or(
        {}, part.redacted, JsonObject
    )  # it may be another family's, under the same vendor's name


def _continues(entry: JsonObject, piece: JsonObject) -> bool:
    """True if a piece belongs to the newest entry: same type, place and id, and no new text after a signature."""
    same = all(piece.get(name) in (None, entry.get(name)) for name in ("type", "index"))
    known = entry.get("id") is None or piece.get("id") in (None, entry.get("id"))
    has_text = any(piece.get(name) for name in _TEXTS)
    whole = entry.get("data") is not None or (entry.get("signature") and has_text)
    return same and known and not whole


def _extend_entry(entry: JsonObject, piece: JsonObject) -> None:
    for name, value in piece.items():
        if name in _TEXTS and isinstance(value, str):
            entry[name] = (entry.get(name) or "") + value
        elif value is not None and value != "":
            entry[name] = value
