"""new_task: hands the work over to a fresh task, which knows nothing but what it is told. The person decides."""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.events import HandedOver, ToolKind
from halocline.protocol.messages import Text
from halocline.tools.schema import schema_of

YES, NO = "Start the new task", "Stay in this one"
NOBODY = "Nobody can accept a new task now. Go on in this one."
STAYS = "The user stays in this task. Go on here."


class Input(msgspec.Struct):
    context: Annotated[
        str,
        Meta(
            description="All that the new task has to know; Markdown. Current work, key concepts, files and code, "
            "problems solved, what is left and the next steps."
        ),
    ]


def summary(input: Input) -> Summary:
    return Summary(title="Hand over to a new task", kind=ToolKind.OTHER)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    answer = await ctx.ask(f"{input.context.rstrip()}\n\n**Go on with this in a new task?**", (YES, NO), ctx.call.id)
    match answer:
        case None:
            return ToolOutput.of(NOBODY)
        case "Start the new task":
            name = ctx.task.new_task_id()
            told = f"Task `{name}` goes on with this; this task ends here."
            return ToolOutput((Text(told),), events=(HandedOver(to=name, context=input.context),), ends_turn=True)
        case "Stay in this one":
            return ToolOutput.of(STAYS)
    return ToolOutput.of(f"Not handed over. The user says: {answer}")


TOOL: Tool[Input] = Tool(
    spec=ToolSpec(
        "new_task",
        "Propose to go on in a fresh task that reads only what you hand over. The user accepts or answers.",
        schema_of(Input),
    ),
    kind=ToolKind.OTHER,
    input=Input,
    summary=summary,
    run=run,
)
