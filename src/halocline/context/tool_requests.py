"""What the model is told when a person asks for one tool in particular, as by a slash command."""

from halocline.protocol.messages import Note

_ASKED = {
    "new_task": "Write down all that a fresh task has to know to go on with this work, and propose it with new_task.",
    "new_rule": "Make a short, lasting rule of what they say, or of what this task has shown to matter, with new_rule.",
    "report_bug": "Prepare a report of what went wrong in Halocline itself, with report_bug. Ask what you do not know.",
    "generate_explanation": (
        "Explain changes with generate_explanation: those that they name, else what differs from HEAD. "
        "Comment where the reason is not plain."
    ),
}


def tool_request(tool: str) -> Note:
    """The note for the prompt."""
    return Note(f"The user asks for {tool}. {_ASKED.get(tool, '')}".rstrip(), source="request")
