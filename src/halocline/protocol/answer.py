"""What a turn came to, in the model's own words. Pure."""

from halocline.protocol.messages import AssistantMessage, UserMessage
from halocline.protocol.state import State


def final_text(state: State) -> str:
    """The answer to the last prompt: the report of attempt_completion, or the words of the last reply."""
    for message in reversed(state.messages):
        match message:
            case UserMessage():
                return ""
            case AssistantMessage():
                calls = [call for call in message.tool_calls if call.name == "attempt_completion"]
                return str(calls[-1].arguments.get("result", "")) if calls else message.text
    return ""
