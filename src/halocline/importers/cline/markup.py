"""What Cline wrote into messages: tool calls in markup, results in words, tags around what a person said."""

import re
from collections.abc import Iterator

from halocline.importers.transcript import Ground
from halocline.protocol.messages import AssistantPart, Note, Text, ToolCall, UserPart

TOOLS = (
    r"execute_command|read_file|write_to_file|replace_in_file|search_files|list_files|list_code_definition_names|"
    r"browser_action|use_mcp_tool|access_mcp_resource|ask_followup_question|attempt_completion|plan_mode_respond|"
    r"new_task|condense|new_rule|load_mcp_documentation|web_fetch|report_bug|apply_diff"
)
"""Tools whose calls stood in the text, before models had calls of their own."""
_CALL = re.compile(rf"<({TOOLS})>(.*)</\1>\s*$", re.DOTALL)
_PARAMETER = re.compile(r"<(\w{1,40})>\n?(.*?)\n?</\1>", re.DOTALL)
_RESULT = re.compile(r"\[(\w{1,60})(?: for .*?)?\] Result:\n?", re.DOTALL)
_ENVIRONMENT = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \(([^\n]{1,1000}?)\)")
_SAID = re.compile(r"<(task|feedback|user_message|user_input|answer)(?: [^>\n]{0,200})?>\n?(.*?)\n?</\1>", re.DOTALL)
_OWN_WORDS = ("[ERROR] You did not use a tool", "[TASK RESUMPTION]", "# task_progress", "Respond with your")


def extract_call(parts: Iterator[AssistantPart], number: int, ground: Ground) -> Iterator[AssistantPart]:
    """The reply with the call in its last words as a call."""
    for part in parts:
        if not isinstance(part, Text) or not (found := _CALL.search(part.text)):
            yield part
            continue
        if before := part.text[: found.start()].strip():
            yield Text(before)
        given = {parameter[1]: parameter[2] for parameter in _PARAMETER.finditer(found[2])}
        yield ToolCall(f"{IN_TEXT}{number}", found[1], ground.arguments(given))


IN_TEXT = "in-text-"
"""Begins the ids of calls that stood in the text and had none."""


def is_result(text: str) -> re.Match[str] | None:
    """The head of a result that came as words."""
    return _RESULT.match(text)


def without_environment(text: str) -> str:
    """What is left without the state of the editor, which Cline added to each message."""
    return _ENVIRONMENT.sub("", text).strip()


def folder_in(text: str) -> str:
    """The workspace that the state of the editor names."""
    return found[1] if (found := _FOLDER.search(text)) else ""


def feedback_in(text: str) -> str:
    """What a person said to a finished task, inside of its result."""
    return found[2] if (found := _SAID.search(text)) and found[1] in ("feedback", "user_message") else ""


def person_words(text: str, ground: Ground) -> UserPart | None:
    """A person's words without their tag; Cline's own as a note; None for nothing."""
    text = without_environment(text)
    if not text:
        return None
    if text.startswith(_OWN_WORDS):
        return Note(ground.text(text), "cline")
    return Text(ground.text(without_tags(text)))


def without_tags(text: str) -> str:
    """A person's words without the tags around them."""
    said = [found[2].strip() for found in _SAID.finditer(text)]
    return "\n\n".join(said) or text
