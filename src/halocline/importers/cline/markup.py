"""Parses Cline's markup in messages: tool calls, results, and tags around the user's text."""

import re
from collections.abc import Iterator

from halocline.importers.transcript import Ground
from halocline.protocol.messages import AssistantPart, Note, Text, Thinking, ToolCall, UserPart

TOOLS = (
    r"execute_command|read_file|write_to_file|replace_in_file|search_files|list_files|list_code_definition_names|"
    r"browser_action|use_mcp_tool|access_mcp_resource|ask_followup_question|attempt_completion|plan_mode_respond|"
    r"new_task|condense|new_rule|load_mcp_documentation|web_fetch|web_search|report_bug|apply_diff|apply_patch|"
    r"use_skill|use_subagents|generate_explanation|summarize_task|focus_chain|plan_mode_response|inspect_site"
)
"""Tools that were called in the text, before native tool calls."""
_CALL = re.compile(rf"<({TOOLS})>(.*)</\1>\s*$", re.DOTALL)
_THINKING = re.compile(r"\s*<(thinking|think)>\s*(.*?)\s*</\1>\s*", re.DOTALL)
_PARAMETER = re.compile(r"<(\w{1,40})>\n?(.*?)\n?</\1>", re.DOTALL)
_RESULT = re.compile(r"\[(\w{1,60})(?: for .*?)?\] Result:\n?", re.DOTALL)
_ENVIRONMENT = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \(([^\n]{1,1000}?)\)")
_SAID = re.compile(r"<(task|feedback|user_message|user_input|answer)(?: [^>\n]{0,200})?>\n?(.*?)\n?</\1>", re.DOTALL)
_OWN_WORDS = ("[ERROR] You did not use a tool", "[TASK RESUMPTION]", "# task_progress", "Respond with your")


def extract_thinking(parts: Iterator[AssistantPart]) -> Iterator[AssistantPart]:
    """Convert thinking at the beginning of a reply's text, where models without thinking of their own wrote it."""
    for part in parts:
        if not isinstance(part, Text) or not (found := _THINKING.match(part.text)):
            yield part
            continue
        if found[2]:
            yield Thinking(found[2])
        if after := part.text[found.end() :]:
            yield Text(after)


def extract_call(parts: Iterator[AssistantPart], number: int, ground: Ground) -> Iterator[AssistantPart]:
    """Convert a call at the end of a reply's text to a tool call."""
    for part in parts:
        if not isinstance(part, Text) or not (found := _CALL.search(part.text)):
            yield part
            continue
        if before := part.text[: found.start()].strip():
            yield Text(before)
        given = {parameter[1]: parameter[2] for parameter in _PARAMETER.finditer(found[2])}
        yield ToolCall(f"{IN_TEXT}{number}", found[1], ground.arguments(given))


IN_TEXT = "in-text-"
"""Prefix for the ids of calls found in the text, which have none."""


def is_result(text: str) -> re.Match[str] | None:
    """Match the head of a result in the text."""
    return _RESULT.match(text)


def without_environment(text: str) -> str:
    """Remove the editor's state, which Cline added to each message."""
    return _ENVIRONMENT.sub("", text).strip()


def folder_in(text: str) -> str:
    """Return the workspace named in the editor's state."""
    return found[1] if (found := _FOLDER.search(text)) else ""


def feedback_in(text: str) -> str:
    """Return the user's feedback on a finished task from inside its result."""
    return found[2] if (found := _SAID.search(text)) and found[1] in ("feedback", "user_message") else ""


def person_words(text: str, ground: Ground) -> UserPart | None:
    """Return the user's text without its tag; Cline's own text as a note; None if it is empty."""
    text = without_environment(text)
    if not text:
        return None
    if text.startswith(_OWN_WORDS):
        return Note(ground.text(text), "cline")
    return Text(ground.text(without_tags(text)))


def without_tags(text: str) -> str:
    """Remove the tags around the user's text."""
    said = [found[2].strip() for found in _SAID.finditer(text)]
    return "\n\n".join(said) or text
