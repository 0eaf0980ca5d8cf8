"""The system prompt: one Markdown template, filled once when a task begins and fixed in its log from then on."""

import sys
from pathlib import Path

NAMES = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}


def system_prompt(workspace: Path, skills: str = "") -> str:
    """The text for a task in this workspace; `skills` is what it says of them."""
    template = Path(__file__).with_name("prompts").joinpath("system.md").read_text(encoding="utf-8")
    return template.format(workspace=workspace, system=NAMES.get(sys.platform, sys.platform)) + skills


def text_tools(tools: str) -> str:
    """What a model without tool calls of its own is told: how to write a call, and which tools there are."""
    template = Path(__file__).with_name("prompts").joinpath("text_tools.md").read_text(encoding="utf-8")
    return template.format(tools=tools)
