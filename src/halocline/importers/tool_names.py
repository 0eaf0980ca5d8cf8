"""Titles and to-do lists of calls of our tools, into which other programs' calls are translated."""

from halocline.context.other_tools import todo_status
from halocline.importers.transcript import as_rows, as_text
from halocline.protocol.kinds import Todo, ToolKind
from halocline.protocol.messages import ToolCall
from halocline.protocol.values import Value


class Ours(Value, frozen=True):
    """Title of a call of one of our tools: its kind, a verb, and the parameter to show after it."""

    kind: ToolKind
    verb: str
    subject: str = ""


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


def todos_in(call: ToolCall) -> tuple[Todo, ...] | None:
    """Return the to-do list that a call set; None if it set none."""
    if call.name != "update_todos":
        return None
    return tuple(
        Todo(as_text(row.get("text")), todo_status(row.get("status"))) for row in as_rows(call.arguments.get("todos"))
    )
