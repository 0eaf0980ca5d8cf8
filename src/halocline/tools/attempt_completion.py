"""attempt_completion: reports that the task is done and ends the turn."""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.kinds import ToolKind
from halocline.protocol.messages import Text
from halocline.tools.schema import define_tool


class Input(msgspec.Struct):
    """The report. A model that learned another agent's tool may add a `command` that shows the work."""

    result: Annotated[str, Meta(description="What was done and how it was verified; Markdown.")]
    command: str = ""


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    """End the turn. The command is only shown: running it would need its own approval, and perhaps no one is there."""
    shown = (
        f"{input.result.rstrip()}\n\nTo see it: `{input.command.strip()}`" if input.command.strip() else input.result
    )
    return ToolOutput(content=(Text(shown),), ends_turn=True)


DESCRIPTION = (
    "Report that the task is finished. Call it alone, after you verified your changes; never end with a question."
)
TOOL = define_tool("attempt_completion", DESCRIPTION, ToolKind.OTHER, Input, "Finish", run, unsaid=("command",))
