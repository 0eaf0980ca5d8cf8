"""`/agents`: the agents that files define, and what each may use."""

import os
from collections.abc import Sequence
from pathlib import Path

from halocline.client.instructions import Agent
from halocline.client.tasks import Client
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.context import SlashAnswer, SlashContext

NONE = "No agents here. An agent is a file such as .claude/agents/NAME.md with a name and a description."


async def answer_agents(context: SlashContext, rest: str) -> SlashAnswer:
    found = context.client.agents_of(context.workspace, context.client.state(context.task).roots)
    if rest:
        agent = found.named(rest)
        return _show_agent(agent) if agent else f"No agent {rest!r}. Agents: {_list_names(found.agents) or 'none'}."
    inside = f"{context.workspace}{os.sep}"
    lines = [
        f"{clean(agent.name)}: {clean(agent.line.description)}\n    {clean(agent.file.removeprefix(inside))}"
        for agent in found.agents
    ]
    return "\n".join([*(lines or [NONE]), *map(clean, found.remarks)])


async def complete_agents(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    state = client.state(task)
    found = client.agents_of(Path(state.workspace), state.roots)
    return {} if given else {agent.name: agent.line.description for agent in found.agents}


def _list_names(agents: Sequence[Agent]) -> str:
    return ", ".join(clean(agent.name) for agent in agents)


def _show_agent(agent: Agent) -> str:
    facts = [
        clean(agent.name),
        f"  {clean(' '.join(agent.description.split()))}",
        f"  file    {clean(agent.file)}",
        f"  model   {clean(agent.model) or 'as the task'}",
        f"  tools   {', '.join(agent.tools) if agent.tools is not None else 'those that read'}",
    ]
    if agent.skills is not None:
        facts.append(f"  skills  {clean(', '.join(agent.skills)) or 'none'}")
    if agent.steps is not None:
        facts.append(f"  steps   at most {agent.steps}")
    return "\n".join([*facts, *(f"  note    {clean(remark)}" for remark in agent.remarks)])
