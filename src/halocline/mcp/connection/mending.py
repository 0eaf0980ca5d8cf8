"""Makes a server's results valid MCP, element by element: a bad one costs itself, not its list and not its server.

The SDK refuses a list or a result as a whole. This runs before it, on what comes over the wire, and names what it
leaves out. Results are told apart by their fields, as they come without the name of their request.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import mcp_types as types
import msgspec
from pydantic import TypeAdapter, ValidationError

from halocline.mcp.tool_names import plain_text
from halocline.protocol import json_input
from halocline.protocol.values import JsonObject

_LISTS: dict[str, tuple[str, Any]] = {
    "tools": ("tool", types.Tool),
    "prompts": ("prompt", types.Prompt),
    "resources": ("resource", types.Resource),
    "resourceTemplates": ("resource template", types.ResourceTemplate),
}
_NEEDED = {"name", "uri", "uriTemplate", "inputSchema", "arguments"}
"""Fields of an element that cannot be left out alone; others can."""

_CONTENTS = types.TextResourceContents | types.BlobResourceContents
_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
Tell = Callable[[str], None]


def mend_result(result: JsonObject, tell: Tell) -> JsonObject:
    """Return a result that the SDK accepts, as far as it can be made one. `tell` hears what is left out."""
    mended = dict(result)
    for field, form in (("nextCursor", str | None), ("_meta", dict | None)):
        if not isinstance(result.get(field), form):
            del mended[field]
    for field, (what, kind) in _LISTS.items():
        if field in result:
            if not isinstance(elements := result[field], list):
                tell(f"its {what}s (they are not a list)")
                elements = []
            found = (_mend_element(one, at, what, kind, tell) for at, one in enumerate(elements, 1))
            mended[field] = [one for one in found if one is not None]
    if not result.keys().isdisjoint(("content", "structuredContent", "isError", "toolResult")) and "role" not in result:
        mended |= _mend_call_result(result)
    if isinstance(result.get("messages"), list):
        mended["messages"] = [_mend_message(one) for one in result["messages"] if isinstance(one, dict)]
    if isinstance(result.get("contents"), list):
        mended["contents"] = [_mend_contents(one) for one in result["contents"]]
    return mended


def mend_answer(line: bytes) -> JsonObject | None:
    """Return the answer that an invalid message was meant to be; None if it was none.

    Without it the request would wait for its answer until its time is over.
    """
    sent = json_input.decode_or(None, line)
    if not isinstance(sent, dict) or "method" in sent or not isinstance(sent.get("id"), int | str):
        return None
    head: JsonObject = {"jsonrpc": "2.0", "id": sent["id"]}
    if (error := sent.get("error")) is not None:
        fields = error if isinstance(error, dict) else {}
        code, words = fields.get("code"), fields.get("message")
        words = words if isinstance(words, str) else _write_value(error)
        return head | {"error": {"code": code if isinstance(code, int) else types.INTERNAL_ERROR, "message": words}}
    if "result" not in sent:
        return None
    result = sent["result"]
    return head | {"result": result if isinstance(result, dict) else {"content": result}}


def _mend_element(element: Any, at: int, what: str, kind: Any, tell: Tell) -> JsonObject | None:
    """Return an element of a list without its bad fields; None if it cannot be used."""
    name = element.get("name") if isinstance(element, dict) else None
    if not isinstance(name, str) or not name:
        tell(f"{what} number {at} (it has no name)")
        return None
    label = f"the {what} {plain_text(name, 64)}"
    element = dict(element)
    if what == "tool" and (why := _mend_tool(element, label, tell)):
        tell(f"{label} ({why})")
        return None
    for bad in _bad_fields(element, kind):
        if bad in _NEEDED:
            tell(f"{label} (its field {bad} is missing or not valid)")
            return None
        element.pop(bad, None)
    return dict(element)


def _mend_tool(tool: JsonObject, label: str, tell: Tell) -> str:
    """Make a tool's schemas such that the SDK takes them; return why it cannot be used, if so.

    The schema of its output is not needed, and without it the SDK keeps results that do not match.
    """
    output = tool.pop("outputSchema", None)
    if output is not None and not (isinstance(output, dict) and output.get("type") == "object"):
        tell(f"the outputSchema of {label}")
    if not isinstance(schema := tool.get("inputSchema"), dict):
        return "it has no inputSchema"
    tool["inputSchema"] = schema = dict(schema)
    if not isinstance(schema.get("properties"), dict | None):
        tell(f"the properties of {label} (they are not an object)")
        del schema["properties"]
    fields = schema.get("properties") or {}
    schema["properties"] = {key: one if isinstance(one, dict | bool) else {} for key, one in fields.items()}
    if schema.get("type") != "object":
        schema["type"] = "object"
    if not isinstance(schema.get("required"), list):
        schema.pop("required", None)
    else:
        schema["required"] = [one for one in schema["required"] if isinstance(one, str)]
    if not isinstance(schema.get("$schema"), str | None):
        del schema["$schema"]
    return ""


def _mend_call_result(result: JsonObject) -> Iterator[tuple[str, Any]]:
    given = result.get("content")
    blocks = given if isinstance(given, list) else [] if given is None else [given]
    content = [_mend_block(block) for block in blocks]
    structured = result.get("structuredContent", result.get("toolResult"))  # the latter is of 2024
    if structured is not None and not isinstance(structured, dict):
        content += [_text_block(_write_value(structured))] if not content else []
        structured = None
    failed = str(result.get("isError")).lower() in ("true", "1")
    yield from (("content", content), ("structuredContent", structured), ("isError", failed))


def _mend_message(message: JsonObject) -> JsonObject:
    role = message.get("role")
    return {"role": role if role in ("user", "assistant") else "user", "content": _mend_block(message.get("content"))}


def _mend_block(block: Any) -> JsonObject:
    """Return a content block; one of a kind that is not known here becomes a text that names it."""
    if not isinstance(block, dict):
        return _text_block(_write_value(block))
    if not (bad := list(_bad_fields(block, types.ContentBlock))) and "type" in block:
        return block
    rest = {key: one for key, one in block.items() if key not in bad or key == "type"}
    if rest != block and not list(_bad_fields(rest, types.ContentBlock)):
        return rest
    if isinstance(text := block.get("text"), str):
        return _text_block(text)
    kind = plain_text(str(block.get("type")), 40)
    return _text_block(f"[a part of the kind {kind} was left out: it is not known here, or not valid]")


def _mend_contents(contents: Any) -> JsonObject:
    if isinstance(contents, dict) and not list(_bad_fields(contents, _CONTENTS)):
        return contents
    uri, text = (contents.get("uri"), contents.get("text")) if isinstance(contents, dict) else ("", contents)
    text = text if isinstance(text, str) else "[a part was left out: it is not valid]"
    return {"uri": uri if isinstance(uri, str) else "unknown:", "text": text}


def _bad_fields(value: JsonObject, kind: Any) -> Iterator[str]:
    """Yield the fields that the SDK does not accept."""
    try:
        _adapter(kind).validate_python(value, by_name=False)
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False, include_context=False):
            known = [str(step) for step in one["loc"] if str(step) in value]
            yield known[0] if known else str(one["loc"][-1]) if one["loc"] else "type"


def _text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _write_value(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
