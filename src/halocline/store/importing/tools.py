"""Tools of others by our names, with our names for what they are given; what is not here keeps its own.

A model that goes on with an imported task reads these calls as if it had made them with the tools it has.
"""

from msgspec.structs import replace

from halocline.protocol.kinds import ToolKind
from halocline.protocol.messages import ToolCall

ROWS = {
    "Read": ("read_file", {"file_path": "path"}),
    "Write": ("write_to_file", {"file_path": "path"}),
    "Edit": ("replace_in_file", {"file_path": "path", "old_string": "old_text", "new_string": "new_text"}),
    "Bash": ("execute_command", {}),
    "Grep": ("search_files", {"pattern": "regex", "glob": "file_pattern"}),
    "LS": ("list_files", {}),
    "WebFetch": ("web_fetch", {}),
    "WebSearch": ("web_search", {}),
    "TodoWrite": ("update_todos", {}),
    "ExitPlanMode": ("plan_mode_respond", {"plan": "response"}),
    "shell": ("execute_command", {"cmd": "command"}),
    "shell_command": ("execute_command", {"cmd": "command"}),
    "exec_command": ("execute_command", {"cmd": "command"}),
    "update_plan": ("update_todos", {"plan": "todos"}),
    "view_image": ("read_file", {}),
    "replace_in_file": ("replace_in_file", {}),
    "execute_command": ("execute_command", {}),
}
"""A foreign name: ours, and ours for its arguments."""
KINDS = {
    "read_file": ToolKind.READ,
    "list_files": ToolKind.READ,
    "write_to_file": ToolKind.EDIT,
    "replace_in_file": ToolKind.EDIT,
    "apply_patch": ToolKind.EDIT,
    "execute_command": ToolKind.EXECUTE,
    "search_files": ToolKind.SEARCH,
    "web_fetch": ToolKind.FETCH,
    "web_search": ToolKind.FETCH,
    "update_todos": ToolKind.THINK,
    "plan_mode_respond": ToolKind.THINK,
}
ENDING = ("attempt_completion",)
"""Calls that end a turn."""
SUBJECTS = ("path", "command", "regex", "url", "query", "question", "result")
"""Arguments that say best what a call was about."""
LONGEST = 200


def ours(call: ToolCall) -> ToolCall:
    """The call by our names."""
    name, fields = ROWS.get(call.name, (call.name, {}))
    given = {fields.get(key, key): value for key, value in call.arguments.items()}
    if name == "execute_command" and isinstance(given.get("command"), list):
        given["command"] = _line([str(word) for word in given["command"]])
    return replace(call, name=name, arguments=given)


def title(call: ToolCall) -> tuple[str, ToolKind]:
    """What a person reads of a call, and of what kind it is."""
    about = next((str(call.arguments[key]) for key in SUBJECTS if call.arguments.get(key)), "")
    kind = KINDS.get(call.name, ToolKind.OTHER)
    line = about if kind is ToolKind.EXECUTE else f"{call.name} {about}"
    return " ".join(line.split())[:LONGEST], kind


def _line(words: list[str]) -> str:
    """`bash -lc LINE` is the line."""
    import shlex

    if len(words) == 3 and words[0].endswith("sh") and words[1] in ("-c", "-lc"):
        return words[2]
    return shlex.join(words)
