"""Maps other programs' tools to ours, with a table for each program. Unknown tools keep their name and arguments.

Arguments are translated too, so that the calls that a model reads in its history match its current tools.
"""

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from halocline.importers.transcript import as_rows, as_text
from halocline.protocol.kinds import Todo, TodoStatus, ToolKind
from halocline.protocol.messages import ToolCall
from halocline.protocol.values import JsonObject, Value


class Ours(Value, frozen=True):
    """Title of a call of one of our tools: its kind, a verb, and the parameter to show after it."""

    kind: ToolKind
    verb: str
    subject: str = ""


class Theirs(Value, frozen=True):
    """Translation of another program's tool: our name, our names for its parameters, and those to drop."""

    name: str
    parameters: Mapping[str, str] = {}
    dropped: tuple[str, ...] = ()
    made: Callable[[JsonObject], JsonObject] | None = None


OURS = {
    "read_file": Ours(ToolKind.READ, "Read", "path"),
    "list_files": Ours(ToolKind.READ, "List", "path"),
    "search_files": Ours(ToolKind.SEARCH, "Search for", "regex"),
    "list_code_definition_names": Ours(ToolKind.SEARCH, "Definitions in", "path"),
    "replace_in_file": Ours(ToolKind.EDIT, "Edit", "path"),
    "write_to_file": Ours(ToolKind.EDIT, "Write", "path"),
    "apply_patch": Ours(ToolKind.EDIT, "Apply a patch"),
    "execute_command": Ours(ToolKind.EXECUTE, "", "command"),
    "web_fetch": Ours(ToolKind.FETCH, "Fetch", "url"),
    "web_search": Ours(ToolKind.FETCH, "Search the web:", "query"),
    "update_todos": Ours(ToolKind.THINK, "Update the to-do list"),
    "ask_followup_question": Ours(ToolKind.OTHER, "Ask:", "question"),
    "plan_mode_respond": Ours(ToolKind.THINK, "Plan"),
    "attempt_completion": Ours(ToolKind.OTHER, "Finish"),
    "use_skill": Ours(ToolKind.READ, "Use skill", "skill_name"),
    "access_mcp_resource": Ours(ToolKind.READ, "Resource", "uri"),
}
LONGEST_TITLE = 300


def title_of(call: ToolCall) -> tuple[str, ToolKind]:
    """Return the title and kind of a call."""
    ours = OURS.get(call.name, Ours(ToolKind.OTHER, call.name))
    subject = call.arguments.get(ours.subject, "") if ours.subject else ""
    title = f"{ours.verb} {subject if isinstance(subject, str) else ''}".strip()
    return (title or call.name)[:LONGEST_TITLE], ours.kind


def translate_call(call: ToolCall, theirs: Mapping[str, Theirs]) -> ToolCall:
    """Translate a call to one of our tools."""
    if (known := theirs.get(call.name)) is None:
        return call
    given = {known.parameters.get(key, key): value for key, value in call.arguments.items() if key not in known.dropped}
    return ToolCall(call.id, known.name, known.made(given) if known.made else given, call.malformed)


def todos_in(call: ToolCall) -> tuple[Todo, ...] | None:
    """Return the to-do list that a call set; None if it set none."""
    if call.name != "update_todos":
        return None
    return tuple(
        Todo(as_text(row.get("text")), _todo_status(row.get("status"))) for row in as_rows(call.arguments.get("todos"))
    )


def _todo_status(given: Any) -> TodoStatus:
    return TodoStatus(given) if given in tuple(TodoStatus) else TodoStatus.PENDING


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
        found = as_rows(given.get(key))
        return {"todos": [{"text": as_text(row.get(text)), "status": _todo_status(row.get("status"))} for row in found]}

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
