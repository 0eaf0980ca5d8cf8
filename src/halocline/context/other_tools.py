"""Other programs' tools and what each is among ours: their calls in imported tasks, and names that models use by habit.

Arguments are translated too, so that the calls that a model reads in its history match its current tools. Unknown tools
keep their name and arguments. A translated call is judged and run as the call of our tool that it is.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from halocline.protocol import json_input
from halocline.protocol.events.mcp import McpServer, McpTool
from halocline.protocol.kinds import TodoStatus
from halocline.protocol.messages import ToolCall
from halocline.protocol.values import JsonObject, Value


class Theirs(Value, frozen=True):
    """Translation of another program's tool: our name, our names for its parameters, and those to drop."""

    name: str
    parameters: Mapping[str, str] = {}
    dropped: tuple[str, ...] = ()
    made: Callable[[JsonObject], JsonObject] | None = None


def translate_call(call: ToolCall, theirs: Mapping[str, Theirs]) -> ToolCall:
    """Translate a call to one of our tools."""
    if (known := theirs.get(call.name)) is None:
        return call
    given = {known.parameters.get(key, key): value for key, value in call.arguments.items() if key not in known.dropped}
    return ToolCall(call.id, known.name, known.made(given) if known.made else given, call.malformed)


def todo_status(given: Any) -> TodoStatus:
    """Return the status of a to-do; one that is unknown is pending."""
    return TodoStatus(given) if given in tuple(TodoStatus) else TodoStatus.PENDING


def _list_rows(given: object) -> list[JsonObject]:
    return [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []


def _line_window(given: JsonObject) -> JsonObject:
    """Convert Claude Code's `offset` and `limit` to our line numbers."""
    first, number = given.pop("offset", None), given.pop("limit", None)
    if isinstance(first, int):
        given["start_line"] = max(1, first)
    if isinstance(number, int):
        given["end_line"] = given.get("start_line", 1) + number - 1
    return given


def _list_reader(key: str, text: str) -> Callable[[JsonObject], JsonObject]:
    def made(given: JsonObject) -> JsonObject:
        found = _list_rows(given.get(key))
        return {
            "todos": [{"text": str(row.get(text) or ""), "status": todo_status(row.get("status"))} for row in found]
        }

    return made


def _join_command(given: JsonObject) -> JsonObject:
    """Convert a list of words, or a shell with a `-c` script, to a command line."""
    command = given.get("command")
    if isinstance(command, list):
        argv = [part for part in command if isinstance(part, str)]
        shell = len(argv) == 3 and argv[0].endswith("sh") and argv[1] in ("-c", "-lc")
        given["command"] = argv[2] if shell else shlex.join(argv)
    return given


def _regex_flag(given: JsonObject) -> JsonObject:
    if "recursive" in given:
        given["recursive"] = given["recursive"] in (True, "true")
    return given


CLINE: Mapping[str, Theirs] = {
    "list_files": Theirs("list_files", dropped=("task_progress",), made=_regex_flag),
    **{
        name: Theirs(name, dropped=("task_progress",))
        for name in ("read_file", "write_to_file", "replace_in_file", "search_files", "attempt_completion")
    },
    "execute_command": Theirs("execute_command", dropped=("task_progress", "timeout")),
    "plan_mode_respond": Theirs("plan_mode_respond", dropped=("task_progress",)),
    "plan_mode_response": Theirs("plan_mode_respond", dropped=("task_progress",)),
}
CLAUDE: Mapping[str, Theirs] = {
    "Bash": Theirs("execute_command", dropped=("description", "timeout", "run_in_background")),
    "Read": Theirs("read_file", {"file_path": "path"}, made=_line_window),
    "Write": Theirs("write_to_file", {"file_path": "path"}),
    "Edit": Theirs("replace_in_file", {"file_path": "path", "old_string": "old_text", "new_string": "new_text"}),
    "LS": Theirs("list_files", dropped=("ignore",)),
    "Grep": Theirs("search_files", {"pattern": "regex", "glob": "file_pattern"}),
    "WebFetch": Theirs("web_fetch", dropped=("prompt",)),
    "WebSearch": Theirs("web_search"),
    "TodoWrite": Theirs("update_todos", made=_list_reader("todos", "content")),
    "ExitPlanMode": Theirs("plan_mode_respond", {"plan": "response"}),
    "Skill": Theirs("use_skill", {"skill": "skill_name", "command": "skill_name"}),
}
_SHELL = Theirs(
    "execute_command",
    {"cmd": "command"},
    ("timeout_ms", "workdir", "yield_time_ms", "max_output_tokens", "login", "shell", "justification"),
    _join_command,
)
CODEX: Mapping[str, Theirs] = {
    **dict.fromkeys(("shell", "exec_command", "shell_command", "container.exec", "local_shell"), _SHELL),
    "apply_patch": Theirs("apply_patch"),
    "update_plan": Theirs("update_todos", made=_list_reader("plan", "step")),
}


def _bash(given: JsonObject) -> JsonObject:
    """Convert Claude Code's milliseconds to seconds, and its word for a job to ours."""
    known = {"command": given.get("command", "")}
    if isinstance(limit := given.get("timeout"), int | float):
        known["timeout"] = limit / 1000
    return known | ({"background": True} if given.get("run_in_background") is True else {})


def _grep(given: JsonObject) -> JsonObject:
    known = {key: one for key, one in given.items() if key in ("regex", "path", "file_pattern")}
    if given.get("-i") is True and isinstance(known.get("regex"), str):
        known["regex"] = f"(?i){known['regex']}"
    return known


def _glob(given: JsonObject) -> JsonObject:
    """List the folder that a pattern begins with, and all below."""
    folder = re.match(r"(?:[^*?\[{]*/)?", str(given.get("pattern", "")))
    return {"path": f"{given.get('path') or '.'}/{folder[0] if folder else ''}".rstrip("/"), "recursive": True}


def _show_remark(given: JsonObject) -> JsonObject:
    return {"response": str(given.get("response", "")), "needs_more_exploration": True}


_READ = Theirs("read_file", {"file_path": "path"}, made=_line_window)
_WRITE = Theirs("write_to_file", {"file_path": "path"})
_INSERT = Theirs(
    "replace_in_file",
    {**dict.fromkeys(("line", "line_number", "insert_line"), "before_line")}
    | dict.fromkeys(("content", "text", "new_str", "new_string"), "new_text"),
)
_BASH, _GREP, _GLOB = Theirs("execute_command", made=_bash), CLAUDE["Grep"], Theirs("list_files", made=_glob)
BY_HABIT: Mapping[str, Theirs] = {
    **CODEX,
    **CLAUDE,
    "plan_mode_response": CLINE["plan_mode_response"],
    "act_mode_respond": Theirs("plan_mode_respond", made=_show_remark),
    **dict.fromkeys(("read_files", "read_many_files", "read", "view"), _READ),
    **dict.fromkeys(("insert_line", "insert_content"), _INSERT),
    **dict.fromkeys(("write_file", "create_file", "write"), _WRITE),
    **dict.fromkeys(("edit_file", "edit", "str_replace"), CLAUDE["Edit"]),
    **dict.fromkeys(("Bash", "bash", "run_command", "run_shell_command", "run_terminal_cmd"), _BASH),
    **dict.fromkeys(("Grep", "grep", "grep_search"), Theirs(_GREP.name, _GREP.parameters, made=_grep)),
    **dict.fromkeys(("Glob", "glob", "glob_search"), _GLOB),
    **dict.fromkeys(("ls", "list_dir", "list_directory"), CLAUDE["LS"]),
    "AskUserQuestion": Theirs("ask_followup_question"),
}
"""Names of tools that models know from Cline, Claude Code and others, where we have none of that name."""
THROUGH_SERVER = "use_mcp_tool"
"""Cline's tool that calls one of a server."""


def translate_by_habit(call: ToolCall, servers: tuple[McpServer, ...]) -> ToolCall | None:
    """Return the call of our tool, or a server's, that a call under another name is; None for an unknown name."""
    tools = [tool for server in servers for tool in server.tools]
    if call.name == THROUGH_SERVER:
        wanted = (call.arguments.get("server_name"), call.arguments.get("tool_name"))
        arguments = _decode_object(call.arguments.get("arguments"))
        found = next((tool for tool in tools if (tool.server, tool.tool) == wanted), None)
        return ToolCall(call.id, found.name, arguments, call.malformed) if found and arguments is not None else None
    if call.name in BY_HABIT:
        return translate_call(call, BY_HABIT)
    meant = [tool for tool in tools if _is_name_of(call.name, tool)]
    return ToolCall(call.id, meant[0].name, call.arguments, call.malformed) if len(meant) == 1 else None


def _is_name_of(name: str, tool: McpTool) -> bool:
    """True for Claude Code's form of a server's tool, for the two names with another sign, and for the tool's alone."""
    joined = (f"{tool.server}{sign}{tool.tool}" for sign in (".", "/", ":"))
    return name != tool.name and name.removeprefix("mcp__") in (tool.name, tool.tool, *joined)


def _decode_object(given: Any) -> JsonObject | None:
    if isinstance(given, str):
        try:
            given = json_input.decode(given or "{}")
        except msgspec.DecodeError:
            return None
    return {} if given is None else given if isinstance(given, dict) else None
