"""plan_mode_respond: the plan, said in plan mode. It waits for the person, and never switches to act mode itself.

Once a task has been in plan mode the tool stays offered, so that the switch to act mode leaves the request's beginning
as it was and the provider's cache holds.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.events import ApprovalMode, Mode, ToolKind
from halocline.protocol.messages import Text
from halocline.tools.schema import schema_of

GO_ON = "Shown to the user. Go on exploring."
IN_ACT_MODE = "Nothing waits for a plan: this is act mode. Go on with the work."
NOT_ASKED = (
    "Shown, but nobody is asked here. Choose the option that serves the task best and go on; finish with the whole "
    "plan. Plan mode stays: only the user switches to act mode."
)


class Input(msgspec.Struct):
    response: Annotated[str, Meta(description="The plan, or what you say to the user about it; Markdown.")]
    options: Annotated[list[str], Meta(description="Up to 5 ways to go on, for the user to choose from.")] = []
    needs_more_exploration: Annotated[
        bool, Meta(description="You have to read more first: it is shown, and nobody is waited for.")
    ] = False


def summary(input: Input) -> Summary:
    return Summary(title="Plan", kind=ToolKind.THINK)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    if ctx.task.mode is not Mode.PLAN:
        return ToolOutput.of(IN_ACT_MODE)
    if input.needs_more_exploration:
        return ToolOutput.of(GO_ON)
    if not input.options:
        return ToolOutput(content=(Text(input.response),), ends_turn=True)
    asked = ctx.task.approval_mode is not ApprovalMode.YOLO
    answer = await ctx.ask(input.response, input.options, ctx.call.id) if asked else None
    return ToolOutput.of(NOT_ASKED if answer is None else answer)


TOOL: Tool[Input] = Tool(
    spec=ToolSpec(
        "plan_mode_respond",
        "Plan mode: give the user your plan and wait for what they say to it. Explore first, with other tools.",
        schema_of(Input),
    ),
    kind=ToolKind.THINK,
    input=Input,
    summary=summary,
    run=run,
)
