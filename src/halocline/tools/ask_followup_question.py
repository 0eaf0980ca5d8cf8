"""ask_followup_question: asks the user what only they can decide."""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.kinds import ToolKind
from halocline.tools.schema import define_tool

NOBODY = (
    "Nobody can answer now. Choose what serves the task best and is easiest to undo, continue, and state your "
    "assumption in the result."
)


class Input(msgspec.Struct):
    question: Annotated[str, Meta(description="One clear question.")]
    options: Annotated[list[str], Meta(description="Up to 5 suggested answers.")] = []


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    answer = await ctx.ask(input.question, input.options, ctx.call.id)
    return ToolOutput.of(NOBODY if answer is None else answer)


DESCRIPTION = "Ask the user something that only they can decide. Find out everything else with other tools."
TOOL = define_tool("ask_followup_question", DESCRIPTION, ToolKind.OTHER, Input, "{0.question}", run)
