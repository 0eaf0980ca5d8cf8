"""Other programs' tools and what each is among ours: their calls in imported tasks, and names that models use by habit.

Arguments are translated too, so that the calls that a model reads in its history match its current tools. Unknown tools
keep their name and arguments. A translated call is judged and run as the call of our tool that it is. No argument is
lost: what no translation understands stays, and the tool set refuses it.
"""

import os.path
import re
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline.ports.tool import FOLDERS
from halocline.protocol import json_input
from halocline.protocol.errors import WRONG_CALL, ToolFailure
from halocline.protocol.events.mcp import McpServer, McpTool
from halocline.protocol.kinds import TodoStatus
from halocline.protocol.messages import ToolCall
from halocline.protocol.values import JsonObject, Value

TWICE = "{tool} has {one} and another argument of the same meaning, with another value. Nothing was run; give one."
_NO_LINE = "There is no line {line} to insert at: lines count from 1. Nothing was changed."
_NO_COMMAND = "There is no command {command!r}, but {all}. Nothing was done."
_ONE_QUESTION = "Nothing was asked: ask one question at a time, with ask_followup_question."


class Theirs(Value, frozen=True):
    """Translation of another program's tool: our name, our names for its parameters, those that change nothing in ours.

    `made` gets the rest, translates what else it knows, and keeps what it does not. It may raise ToolFailure.
    """

    name: str
    parameters: Mapping[str, str] = {}
    ignored: tuple[str, ...] = ()
    made: Callable[[JsonObject], JsonObject] | None = None
    choose: Callable[[JsonObject], "Theirs"] | None = None
    """For a tool of several commands: the translation of the one that was given."""


def translate_call(call: ToolCall, theirs: Mapping[str, Theirs]) -> ToolCall:
    """Translate a call to one of our tools. Raises ToolFailure for one that means nothing that ours can do."""
    if (known := theirs.get(call.name)) is None:
        return call
    known = known.choose(call.arguments) if known.choose and not call.malformed else known
    given: JsonObject = {}
    for key, value in call.arguments.items():
        name = known.parameters.get(key, key)
        if key in known.ignored or value is None:
            continue
        if given.setdefault(name, value) != value:
            raise ToolFailure(TWICE.format(tool=call.name, one=key), person=WRONG_CALL)
    made = known.made and not call.malformed
    return ToolCall(call.id, known.name, known.made(given) if made and known.made else given, call.malformed)


def todo_status(given: Any) -> TodoStatus:
    """Return the status of a to-do; one that is unknown is pending."""
    return TodoStatus(given) if given in tuple(TodoStatus) else TodoStatus.PENDING


def _list_rows(given: object) -> list[JsonObject]:
    return [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []


def _line_window(given: JsonObject) -> JsonObject:
    """Convert `offset` and `limit`, or a `view_range` up to -1 for the end, to our line numbers."""
    match given.get("view_range"), given.get("offset"), given.get("limit"):
        case [int(first), int(last)], _, _:
            del given["view_range"]
            return given | {"start_line": max(1, first)} | ({"end_line": last} if last > 0 else {})
        case _, None | int() as offset, None | int() as limit:
            lines = {key: value for key, value in given.items() if key not in ("offset", "limit")}
            start = max(1, offset or 1)
            lines |= {} if offset is None else {"start_line": start}
            return lines | ({} if limit is None else {"end_line": start + limit - 1})
    return given


def _list_reader(key: str, text: str) -> Callable[[JsonObject], JsonObject]:
    def made(given: JsonObject) -> JsonObject:
        found = _list_rows(given.pop(key, None))
        rows = [{"text": str(row.get(text) or ""), "status": todo_status(row.get("status"))} for row in found]
        return given | {"todos": rows}

    return made


_SHELLS = re.compile(r"(?:/(?:usr/|usr/local/|opt/homebrew/)?bin/)?(?:ba|z|k|da)?sh")
_ESCALATED = ("with_escalated_permissions", "dangerouslyDisableSandbox", "require_user_approval")


def _read_shell(given: JsonObject) -> JsonObject:
    """Convert words to a command line, milliseconds to seconds, and a request to leave the sandbox to a warning."""
    command = given.get("command")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        is_script = len(command) == 3 and _SHELLS.fullmatch(command[0]) and command[1] in ("-c", "-lc")
        given["command"] = command[2] if is_script else shlex.join(command)
    if isinstance(limit := given.get("timeout_ms"), int | float):
        given["timeout"] = given.pop("timeout_ms") / 1000
    elif isinstance(limit := given.get("timeout"), int | float) and limit >= 1000:
        given["timeout"] = limit / 1000
    if isinstance(given.get("shell"), str) and _SHELLS.fullmatch(given["shell"]):
        del given["shell"]
    leaves = [given.pop(name) for name in _ESCALATED if isinstance(given.get(name), bool)]
    if isinstance(given.get("sandbox_permissions"), str):
        leaves.append(given.pop("sandbox_permissions") != "use_default")
    return given | ({"requires_approval": True} if any(leaves) else {})


_SHELL = Theirs(
    "execute_command",
    {"cmd": "command"}
    | dict.fromkeys(FOLDERS, "folder")
    | dict.fromkeys(("run_in_background", "is_background", "isBackground"), "background"),
    (
        *("description", "explanation", "goal", "justification", "prefix_rule", "security_risk"),
        *("yield_time_ms", "max_output_tokens", "login"),
    ),
    _read_shell,
)


def place_folder(arguments: JsonObject, workspace: str, cwd: str) -> JsonObject:
    """Count a command's folder from the workspace. `cwd` is the shell's folder, if that is another."""
    if not isinstance(folder := arguments.get("folder"), str) or not folder:
        return arguments
    whole = os.path.normpath(os.path.join(workspace, os.path.expanduser(folder)))
    if whole == workspace and not cwd:
        return {key: value for key, value in arguments.items() if key != "folder"}
    return arguments | ({"folder": whole} if cwd else {})


def _regex_flag(given: JsonObject) -> JsonObject:
    if "recursive" in given:
        given["recursive"] = given["recursive"] in (True, "true")
    return given


_SHOWN = {"content": "lines", "files_with_matches": "files", "count": "counts"}


def _read_grep(given: JsonObject) -> JsonObject:
    """Convert ripgrep's flags, as other agents name them."""
    regex = given.get("regex")
    if isinstance(regex, str) and given.pop("isRegexp", True) is False:
        regex = re.escape(regex)
    flags = [given.pop("-i", False) is True, given.pop("case_sensitive", True) is False]
    if isinstance(regex, str):
        given["regex"] = f"(?i){regex}" if any(flags) else regex
    around = [given.pop(flag) for flag in ("-A", "-B", "-C") if isinstance(given.get(flag), int)]
    if (shown := _SHOWN.get(str(given.get("output_mode")))) and given.pop("output_mode"):
        given["show"] = shown
    return given | ({"context": max(around)} if around else {})


def _read_glob(given: JsonObject) -> JsonObject:
    """Move the folder that a pattern begins with to the path, which is judged."""
    pattern = given.pop("pattern", "")
    if not isinstance(pattern, str):
        return given | {"pattern": pattern}
    found = re.match(r"(?:[^*?\[{]*/)?", pattern)
    folder = found[0] if found else ""
    path = os.path.join(str(given.get("path") or "."), os.path.expanduser(folder)).removeprefix("./")
    given["path"] = path.rstrip("/") or ("/" if path else ".")
    rest = pattern[len(folder) :]
    return given | ({"pattern": rest} if rest.strip("*") else {"recursive": True})


def _show_remark(given: JsonObject) -> JsonObject:
    return given | {"response": str(given.get("response", "")), "needs_more_exploration": True}


def _ask_one(given: JsonObject) -> JsonObject:
    """Convert a list with one question and its labelled options."""
    rows = _list_rows(given.get("questions"))
    if len(rows) > 1:
        raise ToolFailure(_ONE_QUESTION, person=WRONG_CALL)
    if not rows:
        return given
    del given["questions"]
    words = ([one.get("label"), one.get("description")] for one in _list_rows(rows[0].get("options")))
    options = [": ".join(str(word) for word in both if word) for both in words]
    return given | {"question": str(rows[0].get("question", "")), "options": options}


def _count_lines(given: JsonObject, *, after: bool = False, least: int = 1) -> JsonObject:
    """Count the line as `before_line` does: from 1, where 0 is the end of the file. `after`: it is the line above."""
    line = given.get("before_line")
    if isinstance(line, int | str) and re.fullmatch(r"-?\d+", str(line)):
        given["before_line"] = int(line) + after
        if given["before_line"] < least:
            raise ToolFailure(_NO_LINE.format(line=line), person=WRONG_CALL)
    return given


def _choose_insertion(given: JsonObject) -> Theirs:
    """Claude's `insert_line` is the line above the new ones, and 0 the beginning; `line` is the one below them."""
    return _INSERT_AFTER if "insert_line" in given else _INSERT_BEFORE


def _edit_or_insert(given: JsonObject) -> JsonObject:
    """Cline's editor inserts before a line, replaces a text, or, without both, creates the file."""
    return _count_lines(given) if "before_line" in given else {"old_text": ""} | given


def _choose_command(given: JsonObject) -> Theirs:
    command = given.get("command")
    if not isinstance(command, str) or command not in _EDITOR:
        raise ToolFailure(_NO_COMMAND.format(command=command, all=", ".join(_EDITOR)), person=WRONG_CALL)
    return _EDITOR[command]


_NEW = dict.fromkeys(("content", "text", "new_str", "new_string", "insert_text"), "new_text")
_LINE = dict.fromkeys(("line", "line_number", "insert_line"), "before_line")
_READ = Theirs("read_file", {"file_path": "path", "file_paths": "paths"}, made=_line_window)
_WRITE = Theirs("write_to_file", {"file_path": "path"})
_EDIT = Theirs("replace_in_file", {"file_path": "path", "old_string": "old_text", "new_string": "new_text"})
_INSERT_BEFORE = Theirs("replace_in_file", _LINE | _NEW, made=_count_lines)
_INSERT_AFTER = Theirs("replace_in_file", _LINE | _NEW, ("command",), made=partial(_count_lines, after=True))
_INSERT_OR_APPEND = Theirs("replace_in_file", _LINE | _NEW, made=partial(_count_lines, least=0))
_EDITOR = {
    "view": Theirs("read_file", {}, ("command", "security_risk"), _line_window),
    "create": Theirs("write_to_file", {"file_text": "content"}, ("command", "security_risk")),
    "str_replace": Theirs(
        "replace_in_file", {"old_str": "old_text", "new_str": "new_text"}, ("command", "security_risk")
    ),
    "insert": replace(_INSERT_AFTER, ignored=("command", "security_risk")),
}
_LIST = Theirs(
    "list_files", {"dir_path": "path", "target_directory": "path"}, ("ignore", "explanation", "file_filtering_options")
)
_GREP = Theirs(
    "search_files",
    {"pattern": "regex", "query": "regex", "dir_path": "path"}
    | dict.fromkeys(("glob", "include", "include_pattern", "includePattern"), "file_pattern"),
    ("-n", "head_limit", "offset", "limit", "multiline", "explanation", "maxResults"),
    _read_grep,
)
_GLOB = Theirs(
    "list_files",
    dict.fromkeys(("glob_pattern", "filePattern", "glob"), "pattern")
    | {"dir_path": "path", "target_directory": "path"},
    ("explanation", "limit", "offset", "respect_git_ignore", "respect_gemini_ignore"),
    _read_glob,
)
_PROGRESS = ("task_progress",)
CLINE: Mapping[str, Theirs] = {
    "list_files": Theirs("list_files", ignored=_PROGRESS, made=_regex_flag),
    **{
        name: Theirs(name, ignored=_PROGRESS)
        for name in ("read_file", "write_to_file", "replace_in_file", "search_files", "attempt_completion")
    },
    "execute_command": Theirs("execute_command", ignored=(*_PROGRESS, "timeout")),
    "plan_mode_respond": Theirs("plan_mode_respond", ignored=_PROGRESS),
    "plan_mode_response": Theirs("plan_mode_respond", ignored=_PROGRESS),
}
CLAUDE: Mapping[str, Theirs] = {
    "Bash": _SHELL,
    "Read": _READ,
    "Write": _WRITE,
    "Edit": _EDIT,
    "LS": _LIST,
    "Grep": _GREP,
    "Glob": _GLOB,
    "WebFetch": Theirs("web_fetch", ignored=("prompt", "format", "timeout")),
    "WebSearch": Theirs("web_search"),
    "TodoWrite": Theirs("update_todos", made=_list_reader("todos", "content")),
    "ExitPlanMode": Theirs("plan_mode_respond", {"plan": "response"}, ("allowedPrompts",)),
    "Skill": Theirs("use_skill", {"skill": "skill_name", "command": "skill_name"}, ("args",)),
    "AskUserQuestion": Theirs("ask_followup_question", made=_ask_one),
}
CODEX: Mapping[str, Theirs] = {
    **dict.fromkeys(("shell", "exec_command", "shell_command", "container.exec", "local_shell"), _SHELL),
    "update_plan": Theirs("update_todos", ignored=("explanation",), made=_list_reader("plan", "step")),
}
BY_HABIT: Mapping[str, Theirs] = {
    **CODEX,
    **CLAUDE,
    "plan_mode_response": CLINE["plan_mode_response"],
    "act_mode_respond": Theirs("plan_mode_respond", made=_show_remark),
    **dict.fromkeys(("read_files", "read_many_files", "read", "view"), _READ),
    **dict.fromkeys(("write_file", "create_file", "write"), _WRITE),
    **dict.fromkeys(("edit_file", "edit", "str_replace"), _EDIT),
    **dict.fromkeys(
        ("str_replace_editor", "str_replace_based_edit_tool", "text_editor"),
        Theirs("read_file", choose=_choose_command),
    ),
    "editor": Theirs("replace_in_file", {"insert_line": "before_line"}, made=_edit_or_insert),
    "insert_line": Theirs("replace_in_file", choose=_choose_insertion),
    "insert_content": _INSERT_OR_APPEND,
    **dict.fromkeys(("bash", "run_command", "run_shell_command", "run_terminal_cmd"), _SHELL),
    **dict.fromkeys(("grep", "grep_search"), _GREP),
    **dict.fromkeys(("glob", "glob_search"), _GLOB),
    **dict.fromkeys(("ls", "list_dir", "list_directory"), _LIST),
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
