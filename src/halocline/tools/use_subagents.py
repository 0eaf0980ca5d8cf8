"""use_subagents: runs several read-only agents in parallel, each in its own task, and returns their reports.

The gate keeps them read-only, so permission to read the project covers this tool. Each report shows its cost, because
the model decides whether to ask for more.
"""

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from halocline.context.notes.agents import describe_end
from halocline.context.user_files.agents import LISTED
from halocline.ports.subagents import Report, Wanted
from halocline.ports.tool import Summary, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.errors import WRONG_CALL, ToolFailure
from halocline.protocol.events.subagents import AgentLine, LaneEnd
from halocline.protocol.kinds import ToolKind
from halocline.tools.schema import define_tool

MOST = 5
SHORT = 32


class Asked(msgspec.Struct):
    prompt: Annotated[str, Meta(description="Everything it needs to know, and what to report: it sees nothing else.")]
    name: Annotated[str, Meta(description="Two or three words for the user.", max_length=64)] = ""
    agent: Annotated[str, Meta(description="An agent listed above; omit for a general one.")] = ""


class Input(msgspec.Struct):
    agents: Annotated[list[Asked], Meta(description="One agent for each question.")]


def list_wanted(input: Input) -> tuple[Wanted, ...]:
    """Return the requested sub-agents, each with a unique name."""
    names: list[str] = []
    for number, asked in enumerate(input.agents, 1):
        name = " ".join(asked.name.split()) or asked.agent.strip() or _brief_prompt(asked.prompt)
        names.append(f"{name} {number}" if name in names or not name else name)
    return tuple(
        Wanted(asked.prompt.strip(), name, asked.agent.strip()) for asked, name in zip(input.agents, names, strict=True)
    )


def _brief_prompt(prompt: str) -> str:
    words = " ".join(prompt.split())
    return words if len(words) <= SHORT else words[:SHORT].rpartition(" ")[0] + " …"


def summary(input: Input) -> Summary:
    asked = list_wanted(input)
    names = ", ".join(one.name for one in asked) or "no questions"
    detail = "\n\n".join(f"{one.name}{f' ({one.agent})' if one.agent else ''}: {one.prompt}" for one in asked)
    count = "a sub-agent" if len(asked) == 1 else f"{len(asked)} sub-agents"
    title = f"Ask {count}: {names}"
    return Summary(title=title, kind=ToolKind.READ, paths=(".",), detail=f"{title}\n{detail}")


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    if not 1 <= len(input.agents) <= MOST:
        text = f"Send 1 to {MOST} agents, not {len(input.agents)}. None was started."
        raise ToolFailure(text, person=WRONG_CALL)
    if ctx.host.subagents is None:
        raise ToolFailure("Sub-agents are not available in this task. Investigate it yourself.")
    if empty := [one.name for one in list_wanted(input) if not one.prompt]:
        raise ToolFailure(
            f"These agents have no prompt: {', '.join(empty)}. None was started; send the call again with prompts."
        )
    reports = await ctx.host.subagents.run(list_wanted(input), ctx.call.id, ctx.call.rule)
    if all(report.ended.end in (LaneEnd.FAILED, LaneEnd.STOPPED) and not report.said for report in reports):
        raise ToolFailure(describe_reports(reports))
    return ToolOutput.of(describe_reports(reports))


def describe_reports(reports: Iterable[Report]) -> str:
    """Format the reports, each below its name, with how it ended."""
    described = (describe_end(report.ended, report.said, report.remarks) for report in reports)
    return "\n\n".join(f"## {number}. {text}" for number, text in enumerate(described, 1))


DESCRIPTION = (
    "Run up to 5 sub-agents in parallel on separate questions: each searches and reads on its own, changes nothing, "
    "and reports. Use it for broad searches whose details you do not need; not for what one or two reads can answer."
)


def spec_for(agents: tuple[AgentLine, ...]) -> ToolSpec:
    """Return the spec with a list of the described agents."""
    if not agents:
        return TOOL.spec
    lines = [f"- {agent.name}: {agent.description}" for agent in agents[:LISTED]]
    lines += [f"- {len(agents) - LISTED} more"] if len(agents) > LISTED else []
    return replace(TOOL.spec, description="\n".join([TOOL.spec.description, "Agents:", *lines]))


TOOL = define_tool("use_subagents", DESCRIPTION, ToolKind.READ, Input, summary, run)
