"""The form in which servers accept a history that others made: roles in turn, plain names of tools, short ids. Pure.

And as much of a tool's description as they take.
"""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from halocline.ports.tool import LONGEST_EVERYWHERE, ToolSpec
from halocline.protocol.patterns import compile_later
from halocline.protocol.terminal_text import cut_words
from halocline.providers.json_cache import encode_json
from halocline.providers.reply import NO_NAME, plain_name

REPLY_BETWEEN = encode_json({"role": "assistant", "content": "I have read these results."})
"""Stands between results and a prompt where only a reply may follow results."""
_ROLE = compile_later(rb'\{"role":"(\w+)",?(?:"parts":\[\{"functionResponse")?')
_ODD = compile_later(r"\A(?=[\d-])|[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64


def fit_name(name: str) -> str:
    """Return a tool's name in the characters and the length that every vendor takes."""
    if name.isidentifier() and name.isascii() and len(name) <= _LONGEST_NAME:
        return name
    return _ODD.sub("_", plain_name(name))[:_LONGEST_NAME] or NO_NAME


def fit_id(id: str, allowed: re.Pattern[str], size: int) -> str:
    """Return a call's id; where it is not in the allowed form, a hash of this size in its place."""
    if allowed.fullmatch(id):
        return id
    from hashlib import sha256

    return sha256(id.encode(errors="replace")).hexdigest()[:size]


def put_in_turn(messages: Iterable[bytes], *, reply_between: bool = False) -> list[bytes]:
    """Merge encoded messages of one role that follow each other: templates of many models refuse these.

    With `reply_between`, a prompt does not follow results directly. Results stay apart, each with its call.
    """
    turns: list[bytes] = []
    before, after_result = b"", False
    for message in messages:
        found = _ROLE.match(message)
        begin, role = (found[0], found[1]) if found else (message, b"")
        if begin == before and role != b"tool":
            turns[-1] = _merge_messages(turns[-1], message)
            continue
        if reply_between and after_result and role == b"user":
            turns.append(REPLY_BETWEEN)
        turns.append(message)
        before, after_result = begin, role == b"tool"
    return turns


def _merge_messages(one: bytes, other: bytes) -> bytes:
    merged: dict[str, Any] = msgspec.json.decode(one)
    for name, value in msgspec.json.decode(other).items():
        own = merged.get(name)
        if not own:
            merged[name] = value
        elif isinstance(own, str) and isinstance(value, str):
            merged[name] = "\n\n".join(filter(None, (own, value))) if name != "role" else own
        elif value:
            merged[name] = [*_list_parts(own), *_list_parts(value)]
    return encode_json(merged)


def _list_parts(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def fit_function(spec: ToolSpec) -> dict[str, Any]:
    """Return a tool as OpenAI's formats describe it, with as much of its description as every vendor takes."""
    description = cut_words(spec.description, LONGEST_EVERYWHERE)
    return {"name": spec.name, "description": description, "parameters": spec.schema}
