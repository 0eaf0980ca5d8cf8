"""A server that wants something of the person: one question for each field, and never more than they say.

A server cannot ask for secrets this way, and whatever it asks is shown as its words, not ours.
"""

from typing import Any

import mcp_types as types

from halocline.mcp.wording import plain
from halocline.ports.mcp import Ask
from halocline.protocol.values import JsonObject

MOST_FIELDS = 10
SKIP, DECLINE = "Leave it out", "Decline"
_DONE = "I did that"


async def answered(params: Any, server: str, ask: Ask | None) -> types.ElicitResult:
    """The person's answer. Where nobody can answer, it is cancelled."""
    if ask is None:
        return types.ElicitResult(action="cancel")
    said = f"The MCP server {server} asks: {plain(params.message, 1_000)}"
    if getattr(params, "mode", "form") == "url":
        return await _opened(said, str(params.url), ask)
    fields = params.requested_schema.get("properties", {})
    required = params.requested_schema.get("required", ())
    content: dict[str, Any] = {}
    for name, field in list(fields.items())[:MOST_FIELDS]:
        given = await ask(_question(said, name, field), _options(field, needed=name in required))
        if given is None:
            return types.ElicitResult(action="cancel")
        if given == DECLINE:
            return types.ElicitResult(action="decline")
        if given != SKIP:
            content[name] = _value(given, field)
    if not fields and await ask(said, ("Yes", DECLINE)) != "Yes":
        return types.ElicitResult(action="decline")
    return types.ElicitResult(action="accept", content=content)


async def _opened(said: str, url: str, ask: Ask) -> types.ElicitResult:
    """A page is shown as an address; a person opens it, we never do."""
    if not url.startswith(("https://", "http://")):
        return types.ElicitResult(action="cancel")
    given = await ask(f"{said}\nIt wants you to open {plain(url, 2_000)}", (_DONE, DECLINE))
    return types.ElicitResult(action="accept" if given == _DONE else "decline" if given else "cancel")


def _question(said: str, name: str, field: JsonObject) -> str:
    about = plain(str(field.get("description") or ""), 300)
    return f"{said}\n{plain(str(field.get('title') or name), 100)}{': ' + about if about else ''}"


def _options(field: JsonObject, *, needed: bool) -> tuple[str, ...]:
    choices = field.get("enum") or [each.get("const") for each in field.get("oneOf", ()) if isinstance(each, dict)]
    if field.get("type") == "boolean":
        choices = ["yes", "no"]
    found = [plain(str(choice), 100) for choice in choices][:20]
    return (*found, *(() if needed else (SKIP,)), DECLINE)


def _value(given: str, field: JsonObject) -> Any:
    try:
        match field.get("type"):
            case "boolean":
                return given.strip().lower() in ("yes", "y", "true", "1")
            case "integer":
                return int(given)
            case "number":
                return float(given)
            case "array":
                return [part.strip() for part in given.split(",")]
    except ValueError:
        return given
    return given
