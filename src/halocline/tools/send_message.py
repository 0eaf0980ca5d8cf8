"""send_message: a message to another agent of the same tree, which reads it before its next request."""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ToolKind
from halocline.tools.schema import define_tool
from halocline.tools.spawn_agent import agents_of

LONGEST = 4_000
"""Characters of a message."""


class Input(msgspec.Struct):
    to: Annotated[str, Meta(description='An agent that you started or that runs beside you, or "parent".')]
    text: Annotated[str, Meta(description="The message.")]


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    if len(input.text) > LONGEST:
        raise ToolFailure(f"Not sent: a message has at most {LONGEST:,} characters. Put the rest into a file.")
    agents_of(ctx).send(input.to.strip(), input.text)
    return ToolOutput.of(f"Sent to {input.to.strip()}, which reads it before its next request.")


DESCRIPTION = "Send a message to an agent that runs now: your parent, one that you started, or one beside you."
TOOL = define_tool("send_message", DESCRIPTION, ToolKind.THINK, Input, "Send a message to {0.to}", run)
