"""Rebuilds the messages of a Cline task of which only the screen is left, in the format of the lost file.

The screen shows a call and its result as rows: `tool` and `use_mcp_server` hold both or are followed by the result,
`command` and `browser_action` are followed by rows of output. What must stay true: nothing is made up. A call without a
row of its result has none, and rows that say nothing of the conversation are counted, unless they are only decoration.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from halocline.importers.cline.costs import read_json, read_request
from halocline.importers.to_events import QUESTION
from halocline.importers.transcript import Ground, as_text
from halocline.protocol.values import JsonObject

_DECORATION = frozenset(
    {
        *("api_req_finished", "api_req_retried", "deleted_api_reqs", "checkpoint_created", "info", "task_progress"),
        *("shell_integration_warning", "shell_integration_warning_with_suggestion", "load_mcp_documentation"),
        *("hook_status", "hook_output_stream", "conditional_rules_applied", "mcp_server_request_started"),
        *("resume_task", "resume_completed_task", "subagent_usage"),
    }
)
"""Rows that say nothing of the conversation."""
_FAILURES = ("diff_error", "clineignore_error", "command_permission_denied")
"""Rows that are the result of the last call."""

_TOOLS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "editedExistingFile": ("replace_in_file", {"path": "path", "diff": "diff"}),
    "newFileCreated": ("write_to_file", {"path": "path", "content": "content"}),
    "fileDeleted": ("apply_patch", {"path": "path"}),
    "readFile": ("read_file", {"path": "path", "start_line": "readLineStart", "end_line": "readLineEnd"}),
    "listFilesTopLevel": ("list_files", {"path": "path"}),
    "listFilesRecursive": ("list_files", {"path": "path"}),
    "listCodeDefinitionNames": ("list_code_definition_names", {"path": "path"}),
    "searchFiles": ("search_files", {"path": "path", "regex": "regex", "file_pattern": "filePattern"}),
    "webFetch": ("web_fetch", {"url": "path"}),
    "webSearch": ("web_search", {"query": "path"}),
    "useSkill": ("use_skill", {"skill_name": "path"}),
}
"""Tools of rows: our name, and the fields of the row for its parameters."""
_SHOWN_RESULTS = ("listFilesTopLevel", "listFilesRecursive", "listCodeDefinitionNames", "searchFiles")
"""Tools whose rows hold the result in `content`. For others that is an argument, or the absolute path."""


class _Messages:
    """Collects the reply that is being shown, and the results of its calls, until the next one begins."""

    def __init__(self) -> None:
        self._reply: list[JsonObject] = []
        self._results: list[JsonObject] = []
        self._facts: JsonObject = {}
        self._calls = 0

    def begin(self, row: JsonObject) -> Iterator[JsonObject]:
        """Begin the reply to a request: yield the messages of the one before."""
        yield from self.end()
        asked = read_request(row)
        usage = asked.usage
        self._facts = {"ts": row.get("ts")}
        if usage.total:
            self._facts["metrics"] = {
                "inputTokens": usage.input + usage.cache_read + usage.cache_write,
                "outputTokens": usage.output,
                "cacheReadTokens": usage.cache_read,
                "cacheWriteTokens": usage.cache_write,
                "cost": asked.cost,
            }

    def end(self) -> Iterator[JsonObject]:
        """Yield the messages so far."""
        if self._reply:
            yield {"role": "assistant", "content": self._reply, **self._facts}
        if self._results:
            yield {"role": "user", "content": self._results}
        self._reply, self._results, self._facts = [], [], {}

    def tell(self, row: JsonObject) -> Iterator[JsonObject]:
        """Yield what the person wrote, after the messages before it; if a question waits, it is the answer."""
        content = [_make_text(as_text(row.get("text"))), *_read_images(row)]
        last = self._reply[-1] if self._reply else {}
        answered = any(one["tool_use_id"] == last.get("id") for one in self._results)
        if last.get("name") == QUESTION and not answered:
            self.answer(*content)
            return
        yield from self.end()
        yield {"role": "user", "content": content, "ts": row.get("ts")}

    def say(self, kind: str, text: str) -> None:
        """Add text or thinking to the reply."""
        self._reply.append({"type": kind, kind: text})

    def call(self, name: str, arguments: JsonObject) -> None:
        """Add a call to the reply."""
        self._calls += 1
        self._reply.append({"type": "tool_use", "id": f"screen-{self._calls}", "name": name, "input": arguments})

    def answer(self, *content: JsonObject, failed: bool = False) -> bool:
        """Add to the result of the last call. Return False if there is none."""
        if not any(block["type"] == "tool_use" for block in self._reply):
            return False
        last = f"screen-{self._calls}"
        if not self._results or self._results[-1]["tool_use_id"] != last:
            self._results.append({"type": "tool_result", "tool_use_id": last, "content": [], "is_error": failed})
        self._results[-1]["content"].extend(content)
        return True


def rebuild_messages(screen: Iterable[JsonObject | None], ground: Ground) -> Iterator[JsonObject]:
    """Yield the messages that the rows of a screen show."""
    messages = _Messages()
    for row in screen:
        if row is None or row.get("partial") is True:
            continue
        kind = as_text(row.get("say") or row.get("ask"))
        if kind in ("task", "user_feedback"):
            yield from messages.tell(row)
        elif kind == "api_req_started":
            yield from messages.begin(row)
        elif kind not in _DECORATION and not _add_row(messages, kind, row):
            ground.lost["screen row outside the conversation"] += 1
    yield from messages.end()


def _add_row(messages: _Messages, kind: str, row: JsonObject) -> bool:
    """Add a row of the model or of a tool; False if it is neither."""
    text = as_text(row.get("text"))
    if kind in _FAILURES:
        return messages.answer(_make_text(text), failed=True)
    if (add := _ROWS.get(kind)) is None:
        return False
    return add(messages, text) is not False


def _add_text(messages: _Messages, text: str) -> None:
    if text:
        messages.say("text", text)


def _add_thinking(messages: _Messages, text: str) -> None:
    if text:
        messages.say("thinking", text)


def _add_plan(messages: _Messages, text: str) -> None:
    _add_text(messages, as_text(read_json(text).get("response")) or text)


def _add_question(messages: _Messages, text: str) -> None:
    asked = read_json(text)
    question = as_text(asked.get("question")) or text
    messages.call(QUESTION, {"question": question, "options": _read_texts(asked.get("options"))})
    if chosen := as_text(asked.get("selected")):
        messages.answer(_make_text(chosen))


def _add_tool(messages: _Messages, text: str) -> bool:
    row = read_json(text)
    tool = as_text(row.get("tool"))
    if tool not in _TOOLS:
        return False
    name, fields = _TOOLS[tool]
    given = {parameter: row[field] for parameter, field in fields.items() if _is_given(row.get(field))}
    if tool == "listFilesRecursive":
        given["recursive"] = True
    elif tool == "editedExistingFile" and "diff" not in given:
        given["diff"] = as_text(row.get("content"))
    elif tool == "fileDeleted":
        given = {"input": f"*** Begin Patch\n*** Delete File: {as_text(row.get('path'))}\n*** End Patch"}
    messages.call(name, given)
    if tool in _SHOWN_RESULTS:
        messages.answer(_make_text(as_text(row.get("content"))))
    return True


def _add_command(messages: _Messages, text: str) -> None:
    messages.call("execute_command", {"command": text.removesuffix("REQ_APP")})


def _add_output(messages: _Messages, text: str) -> bool:
    return messages.answer(_make_text(text))


def _add_mcp_call(messages: _Messages, text: str) -> None:
    row = read_json(text)
    server = as_text(row.get("serverName"))
    if row.get("type") == "access_mcp_resource":
        messages.call("access_mcp_resource", {"server_name": server, "uri": as_text(row.get("uri"))})
        return
    tool, given = as_text(row.get("toolName")), as_text(row.get("arguments"))
    messages.call("use_mcp_tool", {"server_name": server, "tool_name": tool, "arguments": given})


def _open_browser(messages: _Messages, text: str) -> None:
    messages.call("browser_action", {"action": "launch", "url": text})


def _act_in_browser(messages: _Messages, text: str) -> None:
    messages.call("browser_action", {key: value for key, value in read_json(text).items() if value})


def _show_browser(messages: _Messages, text: str) -> bool:
    shown = read_json(text)
    told = [as_text(shown.get(key)) for key in ("currentUrl", "logs")]
    picture = _read_data_url(as_text(shown.get("screenshot")))
    return messages.answer(*([_make_text("\n".join(filter(None, told)))] if any(told) else []), *picture)


_ROWS: Mapping[str, Callable[[_Messages, str], Any]] = {
    "text": _add_text,
    "completion_result": _add_text,
    "reasoning": _add_thinking,
    "plan_mode_respond": _add_plan,
    "act_mode_respond": _add_plan,
    "summarize_task": _add_text,
    "condense": _add_text,
    "new_task": _add_text,
    "followup": _add_question,
    "tool": _add_tool,
    "command": _add_command,
    "command_output": _add_output,
    "use_mcp_server": _add_mcp_call,
    "mcp_server_response": _add_output,
    "browser_action_launch": _open_browser,
    "browser_action": _act_in_browser,
    "browser_action_result": _show_browser,
}
"""How each kind of row is added; False if it cannot be."""


def _is_given(value: Any) -> bool:
    return bool(value) and isinstance(value, str | int)


def _make_text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _read_images(row: JsonObject) -> Iterator[JsonObject]:
    for image in _read_texts(row.get("images")):
        yield from _read_data_url(image)


def _read_texts(given: Any) -> list[str]:
    return [text for text in given if isinstance(text, str)] if isinstance(given, list) else []


def _read_data_url(url: str) -> Iterator[JsonObject]:
    head, _, data = url.partition(";base64,")
    if head.startswith("data:") and data:
        yield {"type": "image", "source": {"media_type": head.removeprefix("data:"), "data": data}}
