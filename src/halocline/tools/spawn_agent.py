"""spawn_agent: runs one agent for a task, or continues it; one that writes works in a worktree of its own.

Its approval shows whatever it will do. What it changed comes back for a review; `merge_agent_changes` takes it.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.context.notes.agents import describe_end
from halocline.ports.subagents import Subagents, Wanted
from halocline.ports.tool import Summary, ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.subagents import LaneEnd
from halocline.protocol.kinds import ToolKind
from halocline.tools.schema import define_tool

BEGUN = (
    "The agent {name} works in the background (task {child}){place}. You are told when it has ended. Do something else "
    "meanwhile, or end your reply: the turn waits."
)


LONGEST_NAME = 64
"""Characters of an agent's name."""


class Input(msgspec.Struct):
    name: Annotated[str, Meta(description="One to three words. The name of an agent that has ended continues it.")]
    prompt: Annotated[str, Meta(description="Everything it needs to know, and what to report.")]
    writes: Annotated[
        bool, Meta(description="It may edit and run commands, in a git worktree of its own, from the last commit.")
    ] = False
    background: Annotated[bool, Meta(description="Return at once; you are told of its end.")] = False
    forked: Annotated[bool, Meta(description="It also reads this conversation, as far as that fits.")] = False
    system: Annotated[str, Meta(description="Its system prompt, instead of the usual one.")] = ""
    tools: Annotated[list[str], Meta(description="Names of the only tools that it gets.")] = []
    model: Annotated[str, Meta(description="provider/model; omit for yours.")] = ""
    agent: Annotated[str, Meta(description="An agent that use_subagents lists.")] = ""
    folder: Annotated[str, Meta(description="Folder of the workspace that it works in.")] = ""


def summary(input: Input) -> Summary:
    name = " ".join(input.name.split())
    facts = {
        "Works in": ("a git worktree of its own, " * input.writes) + (input.folder or "the whole workspace"),
        "May": "edit files, and run commands as this task may" if input.writes else "only read",
        "Tools": ", ".join(input.tools) or "the usual ones",
        "Model": input.model,
        "Agent": input.agent,
        "Knows": "this conversation" if input.forked else "",
        "System prompt": input.system,
    }
    detail = "\n".join(f"{what}: {text}" for what, text in facts.items() if text)
    where = " in the background" if input.background else ""
    title = f"Start the agent {name}{', which writes' if input.writes else ''}{where}"
    return Summary(
        title=title,
        kind=ToolKind.EDIT if input.writes else ToolKind.READ,
        paths=(input.folder or ".",),
        detail=f"{title}\nPrompt: {input.prompt}\n{detail}",
    )


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    name, prompt, agents = " ".join(input.name.split()), input.prompt.strip(), agents_of(ctx)
    if not 0 < len(name) <= LONGEST_NAME or not prompt:
        raise ToolFailure(f"An agent needs a name of at most {LONGEST_NAME} characters and a prompt. None was started.")
    wanted = Wanted(
        prompt=prompt,
        name=name,
        agent=input.agent.strip(),
        is_named=True,
        system=input.system,
        tools=tuple(input.tools),
        model=input.model.strip(),
        folder=input.folder,
        writes=input.writes,
        background=input.background,
        forked=input.forked,
    )
    if input.background:
        begun = await agents.start(wanted, ctx.call.id, ctx.call.rule)
        place = f", in the worktree {begun.worktree}" if begun.worktree else ""
        return ToolOutput.of(BEGUN.format(name=name, child=begun.child, place=place))
    (report,) = await agents.run((wanted,), ctx.call.id, ctx.call.rule)
    text = describe_end(report.ended, report.said, report.remarks)
    if report.ended.end is LaneEnd.FAILED and not report.said:
        raise ToolFailure(text)
    return ToolOutput.of(text)


def agents_of(ctx: ToolContext) -> Subagents:
    """Return the agents of the task. Raises ToolFailure."""
    if ctx.host.subagents is None:
        raise ToolFailure("Agents are not available in this task. Do it yourself.")
    return ctx.host.subagents


DESCRIPTION = (
    "Start an agent for a part of the work. It only reads, unless it writes in a worktree of its own: then you get its "
    "changes for a review, and take them with merge_agent_changes. Several calls in one reply run at the same time."
)
TOOL = define_tool("spawn_agent", DESCRIPTION, ToolKind.READ, Input, summary, run)
