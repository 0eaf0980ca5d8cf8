"""What the model is told when a person asks for one tool, or one way to work, in particular: by a slash command."""

from halocline.context.templates import read_template
from halocline.protocol.messages import Note

_ASKED = {
    "new_task": "Write down all that a fresh task has to know to go on with this work, and propose it with new_task.",
    "new_rule": "Make a short, lasting rule of what they say, or of what this task has shown to matter, with new_rule.",
    "report_bug": "Prepare a report of what went wrong in Halocline itself, with report_bug. Ask what you do not know.",
    "load_mcp_documentation": "Make the MCP server that they want. Begin with load_mcp_documentation.",
    "use_subagents": "Have sub-agents look into its parts at once, with use_subagents, and tell what they found.",
    "generate_explanation": (
        "Explain changes with generate_explanation: those that they name, else what differs from HEAD. "
        "Comment where the reason is not plain."
    ),
}


def tool_request(tool: str) -> Note:
    """The note for the prompt."""
    return Note(f"The user asks for {tool}. {_ASKED.get(tool, '')}".rstrip(), source="request")


def prompt_request(name: str) -> Note:
    """One of the longer requests, which stand in `prompts/`."""
    return Note(read_template(name), source="request")
