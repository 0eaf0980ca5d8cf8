"""plan_mode_respond: presents the plan in plan mode and waits for the user. It never switches to act mode itself:
the answers that approve the plan do, where an answer arrives (`protocol/plan_approval.py`).

Once a task has been in plan mode, the tool stays offered: switching to act mode then leaves the request's prefix
unchanged, and the provider's cache stays valid.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.messages import Text
from halocline.protocol.plan_approval import APPROVED, CHOICES, TOOL as NAME
from halocline.tools.schema import define_tool

GO_ON = "Shown to the user. Continue exploring."
IN_ACT_MODE = "This is act mode, and no plan is needed. Continue with the work."
NOT_ASKED = (
    "Shown, but nobody can answer here. Choose the option that serves the task best and continue; finish with the "
    "whole plan. You stay in plan mode: only the user can switch to act mode."
)


class Input(msgspec.Struct):
    response: Annotated[str, Meta(description="The plan, or your reply to the user about it; Markdown.")]
    options: Annotated[list[str], Meta(description="Up to 5 next steps for the user to choose from.")] = []
    needs_more_exploration: Annotated[
        bool, Meta(description="True if you must read more first: the text is shown, and you continue without a reply.")
    ] = False


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    if ctx.task.mode is not Mode.PLAN:
        return ToolOutput.of(IN_ACT_MODE)
    if input.needs_more_exploration:
        return ToolOutput.of(GO_ON)
    if not input.options:
        return ToolOutput(content=(Text(input.response),), ends_turn=True)
    asked = ctx.task.approval_mode is not ApprovalMode.YOLO
    options = [*input.options, *CHOICES]
    answer = await ctx.ask(input.response, options, ctx.call.id) if asked else None
    if answer in CHOICES:
        return ToolOutput.of(APPROVED)
    return ToolOutput.of(NOT_ASKED if answer is None else answer)


DESCRIPTION = "Plan mode: present your plan to the user and wait for the reply. Explore first, with other tools."
TOOL = define_tool(NAME, DESCRIPTION, ToolKind.THINK, Input, "Plan", run)
