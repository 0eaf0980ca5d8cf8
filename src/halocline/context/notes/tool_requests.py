"""Notes on slash commands that ask for a particular tool or workflow."""

from halocline.context.templates import read_template
from halocline.protocol.messages import Note

_ASKED = {
    "new_task": "Write down everything a new task needs to know to continue this work, and propose it with new_task.",
    "new_rule": "Turn their request, or what this task has shown to matter, into a short, lasting rule with new_rule.",
    "report_bug": "Prepare a report on what went wrong in Halocline itself with report_bug. Ask for missing details.",
    "load_mcp_documentation": "Build the MCP server they want. Start with load_mcp_documentation.",
    "use_subagents": "Investigate the parts in parallel with use_subagents, and summarize the findings.",
    "generate_explanation": (
        "Explain changes with generate_explanation: the ones they name, otherwise the differences from HEAD. "
        "Comment where the reason is not obvious."
    ),
}


def tool_request(tool: str) -> Note:
    """Build the note that asks for a tool."""
    return Note(f"The user asks for {tool}. {_ASKED.get(tool, '')}".rstrip(), source="request")


def prompt_request(name: str) -> Note:
    """Build the note for one of the longer requests in `prompts/`."""
    return Note(read_template(name), source="request")
