"""Sub-agents: tasks that a task starts, each with its own log and budget, which investigate and report.

What must stay true: none starts another; all end with the call that started them; their parent's limits hold for it
and them together (`task/spending`).
"""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from halocline._version import __version__
from halocline.context.system_prompt.build import subagent_prompt
from halocline.context.system_prompt.environment import environment_note
from halocline.context.user_files.agents import Agent, Found, found_agents, tools_of
from halocline.context.user_files.skills import Skill, found_skills, skill_for_model, skills_section
from halocline.ports.subagents import Report, Wanted
from halocline.protocol.errors import HaloclineError, ToolFailure
from halocline.protocol.events import PluginsLoaded, TaskStarted, ToolsOffered
from halocline.protocol.events.instructions import Beginning
from halocline.protocol.events.subagents import LaneEnd, SubagentEnded, SubagentStarted, Subtask
from halocline.protocol.kinds import Mode, ToolKind
from halocline.protocol.messages import Text
from halocline.protocol.state.state import State
from halocline.protocol.state.subagents import SubagentsState
from halocline.protocol.values import Value
from halocline.providers.wrappers.per_mode import Chosen
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.models.subagent_model import chosen_model
from halocline.runtime.parts.hidden_names import make_name_hider
from halocline.runtime.prompts.system_prompt import read_prompt_options
from halocline.runtime.start import close_on_failure, known_window
from halocline.runtime.subagents.monitor import Lane, Took, end_event, report_of
from halocline.store.tasks.history import new_task_id
from halocline.task.inbox import Prompt
from halocline.task.log import Log
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.runtime.parts.program_parts import PluginParts

READING = (ToolKind.READ, ToolKind.SEARCH)
_LOGGER = logging.getLogger("halocline")


class TaskRuntime(NamedTuple):
    """The parts of the controller that a task needs to start tasks of its own."""

    assembly: Callable[[], Assembly]
    serve: Callable[[str, Task, Chosen], str]
    let_go: Callable[[str], Awaitable[Exception | None]]


class Plan(Value, frozen=True):
    """One sub-agent that is about to start."""

    wanted: Wanted
    agent: Agent | None
    subtask: Subtask
    child: str


class Subtasks:
    """Implements `ports.subagents.Subagents` for one task, with its `plugins`.

    `trusted` lets the folder's hooks run, as for the task.
    """

    def __init__(
        self, parent: Task, runtime: TaskRuntime, plugins: "PluginParts | None" = None, *, trusted: bool
    ) -> None:
        self._parent = parent
        self._runtime = runtime
        self._plugins = plugins
        self._trusted = trusted

    async def run(self, wanted: Sequence[Wanted], call: str, rule: str) -> tuple[Report, ...]:
        plans = self._plans(wanted, call, rule)
        async with asyncio.TaskGroup() as group:
            lanes = [group.create_task(self._run_plan(plan), name=f"sub-agent {plan.child}") for plan in plans]
        return tuple(lane.result() for lane in lanes)

    def _plans(self, wanted: Sequence[Wanted], call: str, rule: str) -> list[Plan]:
        """Check the request and plan each sub-agent. Raises ToolFailure."""
        state, settings = self._parent.state, self._runtime.assembly().settings
        agents, left = self._agents(wanted), self._parent.governor.seconds_left(state)
        budget = Subtask(
            parent=state.task,
            call=call,
            name="",
            steps=settings.subagent_steps,
            seconds=min(settings.subagent_seconds, math.inf if left is None else left),
            grants=tuple(grant for grant in state.permissions.grants if grant.kind in READING),
            refusals=tuple(state.permissions.refusals),
            switches=state.permissions.switches,
            answered=rule,
        )
        return [
            Plan(one, agent, _make_subtask(budget, one, agent), new_task_id())
            for one, agent in zip(wanted, agents, strict=True)
        ]

    def _agents(self, wanted: Sequence[Wanted]) -> list[Agent | None]:
        if not any(one.agent for one in wanted):
            return [None] * len(wanted)
        home = self._runtime.assembly().home
        found: Found = found_agents(
            Path(self._parent.state.workspace),
            home.agents,
            roots=self._parent.state.roots,
            plugins=self._parent.state.prompt.plugins,
        )
        if unknown := [one.agent for one in wanted if one.agent and not found.named(one.agent)]:
            names = ", ".join(agent.name for agent in found.agents) or "none"
            raise ToolFailure(
                f"There is no agent {', '.join(map(repr, unknown))}. Available agents: {names}. "
                "No sub-agent was started."
            )
        return [found.named(one.agent) for one in wanted]

    async def _run_plan(self, plan: Plan) -> Report:
        began = time.monotonic()
        try:
            task, chosen, remarks = await self._open_child(plan)
        except HaloclineError as error:
            return self._report_failure(plan, f"{error.text} {error.hint}".strip())
        except Exception as bug:
            _LOGGER.error("a sub-agent could not start", exc_info=bug)
            return self._report_failure(plan, f"{type(bug).__name__}: {bug}")
        started = self._start_event(plan, chosen.name, remarks)
        end = await self._run_lane(task, chosen, started)
        return Report(report_of(task.state), end, time.monotonic() - began, remarks)

    async def _run_lane(self, task: Task, chosen: Chosen, started: SubagentStarted) -> SubagentEnded:
        """Run a sub-agent from its prompt to its end; cancelling this ends it."""
        lane = Lane(started, task, self._parent.emit)
        broke: Exception | None = None
        self._parent.emit(started)
        try:
            lane.begin()
            self._runtime.serve(started.child, task, chosen)
            hides = make_name_hider(task.state, task.home, task.host.permissions.book())
            note = environment_note(task.state, Path(task.state.workspace), datetime.now().astimezone(), hides=hides)
            task.inbox.prompt(Prompt((Text(started.prompt), *([note] if note else []))))
            await lane.over.wait()
        finally:
            task.inbox.abandon()
            broke = await self._runtime.let_go(started.child)
            lane.close()
            end = end_event(started, task.state, lane.took, broke)
            self._parent.emit(end)
            task.governor.spending.end()
        return end

    def _start_event(self, plan: Plan, model: str, remarks: tuple[str, ...] = ()) -> SubagentStarted:
        one = plan.wanted
        return SubagentStarted(plan.subtask.call, plan.child, one.name, one.prompt, one.agent, model, remarks)

    def _report_failure(self, plan: Plan, why: str) -> Report:
        """Report a sub-agent that could not start, for example without a model; the others continue."""
        started = self._start_event(plan, "")
        end = replace(end_event(started, State(), Took()), end=LaneEnd.FAILED, problem=why)
        self._parent.emit(started, end)
        return Report("", end, 0.0)

    async def _open_child(self, plan: Plan) -> tuple[Task, Chosen, tuple[str, ...]]:
        """Build the child's task and write its start. Raises HaloclineError."""
        assembly, parent = self._runtime.assembly(), self._parent.state
        chosen, remarks = await self._model(plan.agent)
        workspace = Path(parent.workspace)
        skills = found_skills(workspace, roots=parent.roots, plugins=parent.prompt.plugins)
        given, unknown = _read_skills(plan.agent, skills.skills)
        with close_on_failure(Log(assembly.home.task(plan.child), plan.child)) as log:
            state = State(roots=parent.roots, subagents=SubagentsState(subtask=plan.subtask))
            build = partial(assembly.task, attended=False, trusted=self._trusted, plugins=self._plugins)
            task = build(log, state, workspace, chosen, spending=self._parent.governor.spending)
            rules = task.host.sources.instructions.begins() if task.host.sources.instructions else Beginning()
            more = (
                given if plan.agent and plan.agent.skills is not None else skills_section(skills.offered)
            ) + rules.section
            options = read_prompt_options(assembly.settings, assembly.home)
            prompt = subagent_prompt(workspace, plan.agent.prompt if plan.agent else "", more, options)
            task.emit(
                TaskStarted(
                    workspace=parent.workspace,
                    model=chosen.name,
                    mode=Mode.ACT,
                    approval_mode=parent.permissions.approval_mode,
                    system_prompt=prompt,
                    version=__version__,
                    compact=parent.prompt.compact,
                    window=known_window(Mode.ACT, chosen.names, assembly),
                    roots=parent.roots,
                    subtask=plan.subtask,
                    limits=parent.budget.limits,
                    server=assembly.find_server(chosen.name, parent.model.name),
                ),
                *([rules.event] if rules.event else []),
                *([PluginsLoaded(plugins=parent.prompt.plugins)] if parent.prompt.plugins else []),
                ToolsOffered(tools=tuple(sorted(tools_of(plan.agent, skills.offered)))),
            )
        own = plan.agent.remarks if plan.agent else ()
        return task, chosen, (*own, *remarks, *unknown)

    async def _model(self, agent: Agent | None) -> tuple[Chosen, tuple[str, ...]]:
        """Return the agent's model or the task's, with remarks on the choice. Raises UsageError."""
        assembly, now = self._runtime.assembly(), self._parent.state.model.name
        name, why = chosen_model(agent, now, assembly.settings, assembly.catalogue)
        remarks = (f"its model was not used ({why}); it ran on {now}",) if why else ()
        return Chosen(await assembly.model(name)), remarks


def _make_subtask(budget: Subtask, one: Wanted, agent: Agent | None) -> Subtask:
    steps = min(filter(None, (budget.steps, agent.steps if agent else None)))
    return replace(budget, name=one.name, agent=one.agent, steps=steps)


def _read_skills(agent: Agent | None, skills: tuple[Skill, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the texts of the skills that an agent starts with, and a remark on missing ones."""
    if agent is None or agent.skills is None:
        return "", ()
    known = {skill.name: skill for skill in skills}
    given, missing = [], []
    for name in agent.skills:
        try:
            given.append(skill_for_model(known[name]))
        except (KeyError, OSError):
            missing.append(name)
    remark = f"it ran without these skills, which are missing here: {', '.join(missing)}"
    return "".join(f"\n{text}\n" for text in given), (remark,) if missing else ()
