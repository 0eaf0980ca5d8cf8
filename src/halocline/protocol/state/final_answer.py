"""The final answer of a turn. Pure."""

from halocline.protocol.kinds import FINISHES
from halocline.protocol.messages import AssistantMessage, Text, ToolResult, UserMessage
from halocline.protocol.state.state import State

REPORTS = (FINISHES, "plan_mode_respond")
"""Tools whose result is the answer when it ends a turn."""


def final_text(state: State) -> str:
    """Return the answer to the last prompt: the result of a tool in `REPORTS`, or the text of the last reply."""
    reports: dict[str, str] = {}
    for message in reversed(state.messages):
        match message:
            case UserMessage():
                return ""
            case ToolResult():
                said = next((part.text for part in message.content if isinstance(part, Text)), "")
                reports[message.call] = "" if message.is_error else said
            case AssistantMessage():
                calls = [call for call in message.tool_calls if call.name in REPORTS]
                return reports.get(calls[-1].id, "") if calls else message.answer
    return ""
