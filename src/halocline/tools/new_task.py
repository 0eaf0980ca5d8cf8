"""new_task: hands the work over to a new task, which knows only what it is given. The user decides."""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.events import HandedOver
from halocline.protocol.kinds import ToolKind
from halocline.protocol.messages import Text
from halocline.tools.schema import define_tool

YES, NO = "Start the new task", "Stay in this one"
NOBODY = "Nobody can accept a new task now. Continue in this one."
STAYS = "The user stays in this task. Continue here."


class Input(msgspec.Struct):
    context: Annotated[
        str,
        Meta(
            description="Everything the new task needs to know, in Markdown: current work, key concepts, files and "
            "code, problems solved, remaining work and next steps."
        ),
    ]


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    answer = await ctx.ask(f"{input.context.rstrip()}\n\n**Continue this in a new task?**", (YES, NO), ctx.call.id)
    match answer:
        case None:
            return ToolOutput.of(NOBODY)
        case "Start the new task":
            name = ctx.task.new_task_id()
            text = f"Task `{name}` continues this work; this task ends here."
            return ToolOutput((Text(text),), events=(HandedOver(to=name, context=input.context),), ends_turn=True)
        case "Stay in this one":
            return ToolOutput.of(STAYS)
    return ToolOutput.of(f"Not handed over. The user says: {answer}")


DESCRIPTION = "Propose to continue in a new task that sees only what you hand over. The user accepts or replies."
TOOL = define_tool("new_task", DESCRIPTION, ToolKind.OTHER, Input, "Hand over to a new task", run)
