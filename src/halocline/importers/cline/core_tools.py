"""Tools of Cline's newer core. One call there may read several files or run several commands: it becomes several here.

What must stay true: a call keeps one result for each of the calls that it became, whatever shape its own result has.
"""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline.importers import content_blocks
from halocline.importers.transcript import Answer, Ground, as_rows, as_table, as_text
from halocline.protocol import json_input
from halocline.protocol.messages import AssistantPart, Text, ToolCall
from halocline.protocol.values import JsonObject

LISTS: Mapping[str, tuple[str, ...]] = {
    "read_files": ("files", "paths", "file_paths"),
    "run_commands": ("commands", "command", "cmd"),
    "search_codebase": ("queries",),
    "fetch_web_content": ("requests",),
}
"""Tools whose calls hold several operations, and the parameters in which these may stand."""
BESIDE = "(The result stands at the first of these calls.)"
PART = "-part-"
"""Between the id of a call and the number of one of its operations."""


def split_calls(parts: Iterator[AssistantPart], counts: dict[str, int]) -> Iterator[AssistantPart]:
    """Convert calls to those of our tools; `counts` gets how many a call became, by its id."""
    for part in parts:
        if not isinstance(part, ToolCall):
            yield part
            continue
        calls = [ToolCall(part.id, name, given, part.malformed) for name, given in _list_operations(part)] or [part]
        counts[part.id] = len(calls)
        yield from (replace(call, id=_part_id(part.id, number)) for number, call in enumerate(calls))


def split_answer(block: JsonObject, count: int, at: float, ground: Ground) -> Iterator[Answer]:
    """Yield a result for each call that a call became."""
    call, results = as_text(block.get("tool_use_id")), _list_results(block.get("content"))
    if len(results) == count:
        for number, result in enumerate(results):
            yield _read_result(_part_id(call, number), result, at, ground)
        return
    whole = content_blocks.tool_answer(block, at, ground)
    yield whole
    yield from (Answer(_part_id(call, number), (Text(BESIDE),), at, whole.failed) for number in range(1, count))


def _part_id(call: str, number: int) -> str:
    return f"{call}{PART}{number + 1}" if number else call


def _list_operations(call: ToolCall) -> list[tuple[str, JsonObject]]:
    """Return our tools and arguments for a call; empty for a tool that keeps its name."""
    given = call.arguments
    if names := LISTS.get(call.name):
        listed = next((given[name] for name in names if given.get(name)), given)
        operations = listed if isinstance(listed, list) else [listed]
        made = [_convert_operation(call.name, one) for one in operations]
        return [one for one in made if one] if all(made) else []
    match call.name:
        case "editor":
            return _convert_edit(given)
        case "skills":
            return [("use_skill", {"skill_name": as_text(given.get("skill"))})]
        case "ask_question":
            return [("ask_followup_question", given)]
        case "submit_and_exit":
            return [("attempt_completion", {"result": as_text(given.get("summary"))})]
    return []


def _convert_operation(tool: str, one: Any) -> tuple[str, JsonObject] | None:
    match tool, one:
        case "read_files", str():
            return "read_file", {"path": one}
        case "read_files", {"path": str()}:
            return "read_file", {key: value for key, value in one.items() if value is not None}
        case "run_commands", str():
            return "execute_command", {"command": one}
        case "run_commands", {"command": str(program)}:
            words = [word for word in one.get("args") or () if isinstance(word, str)]
            return "execute_command", {"command": shlex.join([program, *words])}
        case "search_codebase", str():
            return "search_files", {"path": ".", "regex": one}
        case "fetch_web_content", {"url": str(url)}:
            return "web_fetch", {"url": url}
    return None


def _convert_edit(given: JsonObject) -> list[tuple[str, JsonObject]]:
    """Convert a call of `editor`; one that inserts at a line has no counterpart here."""
    path, text = as_text(given.get("path")), as_text(given.get("new_text"))
    if given.get("insert_line") is not None:
        return []
    if old := as_text(given.get("old_text")):
        return [("replace_in_file", {"path": path, "old_text": old, "new_text": text})]
    return [("write_to_file", {"path": path, "content": text})]


def _list_results(content: object) -> list[JsonObject]:
    """Return the results of single operations, which may be JSON in a text; empty if there are none."""
    if isinstance(content, list) and len(content) == 1 and as_table(content[0]).get("type") == "text":
        content = as_text(as_table(content[0]).get("text"))
    if isinstance(content, str):
        try:
            content = json_input.decode(content)
        except msgspec.DecodeError:
            return []
    rows = as_rows(content)
    return rows if all("query" in row and "success" in row for row in rows) else []


def _read_result(call: str, result: JsonObject, at: float, ground: Ground) -> Answer:
    failed = result.get("success") is False
    shown = result.get("error") if failed and result.get("error") else result.get("result")
    content = shown if isinstance(shown, str | list) else ground.text(shown)
    return content_blocks.tool_answer({"tool_use_id": call, "content": content, "is_error": failed}, at, ground)
