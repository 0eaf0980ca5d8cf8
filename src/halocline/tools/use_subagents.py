"""use_subagents: several agents look into things at once, each in a task of its own, and each gives a report.

They only read (the gate holds them to that), so leave to read the project is leave for this. What they took is told
beside each report, because the model decides whether to ask for more.
"""

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from halocline.context.user_files.agents import LISTED
from halocline.ports.subagents import Report, Wanted
from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import ToolKind
from halocline.protocol.subtasks import AgentLine, LaneEnd
from halocline.tools.schema import schema_of

MOST = 5
LONGEST = 40_000
"""Characters of one report; the rest is in the sub-agent's own log."""
SHORT = 32


class Asked(msgspec.Struct):
    prompt: Annotated[str, Meta(description="All it has to know, and what to report: it sees nothing else.")]
    name: Annotated[str, Meta(description="Two or three words for the person.", max_length=64)] = ""
    agent: Annotated[str, Meta(description="An agent listed above; else an ordinary one.")] = ""


class Input(msgspec.Struct):
    agents: Annotated[list[Asked], Meta(description="One for each question.")]


def list_wanted(input: Input) -> tuple[Wanted, ...]:
    """The sub-agents, each with a name that no other has."""
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
    return Summary(title=f"Ask {count}: {names}", kind=ToolKind.READ, paths=(".",), detail=detail)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    if not 1 <= len(input.agents) <= MOST:
        raise ToolFailure(f"Name from 1 to {MOST} agents, not {len(input.agents)}. None was begun; send it again.")
    if ctx.host.subagents is None:
        raise ToolFailure("There are no sub-agents in this task. Look into it yourself.")
    if empty := [one.name for one in list_wanted(input) if not one.prompt]:
        raise ToolFailure(f"These have no prompt: {', '.join(empty)}. None was begun; send it again.")
    reports = await ctx.host.subagents.run(list_wanted(input), ctx.call.id, ctx.call.rule)
    if all(report.ended.end in (LaneEnd.FAILED, LaneEnd.STOPPED) and not report.said for report in reports):
        raise ToolFailure(describe_reports(reports))
    return ToolOutput.of(describe_reports(reports))


def describe_reports(reports: Iterable[Report]) -> str:
    """The reports, each below its name, and how it ended."""
    return "\n\n".join(_describe_report(number, report) for number, report in enumerate(reports, 1))


_ENDS = {
    LaneEnd.DONE: "",
    LaneEnd.LIMIT: "It reached a limit before it was done",
    LaneEnd.STOPPED: "It was stopped before it was done",
    LaneEnd.FAILED: "It failed",
}


def _describe_report(number: int, report: Report) -> str:
    ended = report.ended
    took = f"{ended.steps} step{'s' * (ended.steps != 1)}, {ended.usage.total:,} tokens"
    took += f", ${ended.cost:.4f}" if ended.cost else ""
    said = report.said
    if len(said) > LONGEST:
        said = f"{said[:LONGEST]}\n[{len(said) - LONGEST:,} more characters stand in task {ended.child}]"
    lines = [f"## {number}. {ended.name} ({took})"]
    lines += [f"[{remark}]" for remark in report.remarks]
    if how := _ENDS[ended.end]:
        lines.append(f"[{how}{f': {ended.problem}' if ended.problem else '.'}]")
    return "\n".join([*lines, said or "[It said nothing.]"])


DESCRIPTION = (
    "Have up to 5 agents look into separate questions at once: each searches and reads on its own, changes nothing, "
    "and reports. Use it for wide searches whose details you do not need; not for what one or two reads would tell."
)


def spec_for(agents: tuple[AgentLine, ...]) -> ToolSpec:
    """What the model is told of it, with the agents that are described here."""
    if not agents:
        return TOOL.spec
    lines = [f"- {agent.name}: {agent.description}" for agent in agents[:LISTED]]
    lines += [f"- {len(agents) - LISTED} more"] if len(agents) > LISTED else []
    return replace(TOOL.spec, description="\n".join([TOOL.spec.description, "Agents:", *lines]))


TOOL: Tool[Input] = Tool(
    spec=ToolSpec("use_subagents", DESCRIPTION, schema_of(Input)),
    kind=ToolKind.READ,
    input=Input,
    summary=summary,
    run=run,
)
