"""Sub-agents: tasks that a task starts, each with its own log and budget, which work and report.

What must stay true: all end with the call that started them, or in the background with the turn; their parent's limits
hold for it and them together (`task/spending`).
"""

import asyncio
import logging
import math
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec.structs import replace

from halocline.context.notes.agents import note_conversation
from halocline.context.system_prompt.environment import environment_note
from halocline.context.user_files.agents import Agent, Found, found_agents
from halocline.context.user_files.skills import found_skills
from halocline.git.repository import find_repository
from halocline.ports.subagents import Merged, Report, Wanted
from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError, ToolFailure
from halocline.protocol.events.subagents import AgentMessaged, LaneEnd, SubagentEnded, SubagentStarted, Subtask
from halocline.protocol.kinds import ToolKind
from halocline.protocol.messages import Note, Text
from halocline.protocol.state.evidence.findings import find_evidence
from halocline.protocol.state.state import State
from halocline.protocol.waiting import end_tasks
from halocline.providers.wrappers.per_mode import Chosen
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.models.subagent_model import chosen_model
from halocline.runtime.parts.hidden_names import make_name_hider
from halocline.runtime.subagents.changes import (
    UNCHANGED,
    AgentChanges,
    describe_changes,
    merge_changes,
    note_merged,
    read_agent_changes,
    remove_unchanged,
)
from halocline.runtime.subagents.child import (
    ChildBuilder,
    Opened,
    Plan,
    choose_tools,
    find_folder,
    name_worktree,
    read_skills,
    start_event,
    tighten,
)
from halocline.runtime.subagents.monitor import Lane, Took, end_event, report_of
from halocline.runtime.subagents.relay import Relay
from halocline.store.tasks.history import new_task_id
from halocline.task.inbox import Prompt
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.runtime.parts.program_parts import PluginParts

READING = (ToolKind.READ, ToolKind.SEARCH)
PARENT = "parent"
"""Name of the task that started an agent, for messages."""
UNREAD = 20
"""Messages that may wait in an agent."""
NO_REPOSITORY = (
    "An agent that writes needs a git repository, for a worktree of its own: {why} No agent was started. Do the work "
    "yourself, start an agent that only reads, or make a repository here with a first commit."
)
ONLY_HIDDEN = "[It changed only files that are hidden here. They are in the worktree {worktree}.]"
T = TypeVar("T")
_LOGGER = logging.getLogger("halocline")


class TaskRuntime(NamedTuple):
    """The parts of the controller that a task needs to start tasks of its own. `find` returns an open task."""

    assembly: Callable[[], Assembly]
    serve: Callable[[str, Task, Chosen], str]
    let_go: Callable[[str], Awaitable[Exception | None]]
    find: Callable[[str], Task | None]


class Begun(NamedTuple):
    """A sub-agent whose start is in its parent's log."""

    plan: Plan
    started: SubagentStarted
    chosen: Chosen


class Subtasks:
    """Implements `ports.subagents.Subagents` for one task, with its `plugins`.

    `trusted` lets the folder's hooks run, as for the task.
    """

    def __init__(
        self, parent: Task, runtime: TaskRuntime, plugins: "PluginParts | None" = None, *, trusted: bool
    ) -> None:
        self._parent = parent
        self._runtime = runtime
        self._builder = ChildBuilder(parent, plugins, trusted=trusted)
        self._background: set[asyncio.Task[Report]] = set()
        parent.log.attach(_Follower(self._follow))

    async def run(self, wanted: Sequence[Wanted], call: str, rule: str) -> tuple[Report, ...]:
        plans = await self._plans(wanted, call, rule)
        async with asyncio.TaskGroup() as group:
            lanes = [group.create_task(self._run_plan(plan), name=f"sub-agent {plan.child}") for plan in plans]
        return tuple(lane.result() for lane in lanes)

    async def start(self, wanted: Wanted, call: str, rule: str) -> SubagentStarted:
        (plan,) = await self._plans((wanted,), call, rule)
        lane = asyncio.create_task(self._run_plan(plan, begins := asyncio.Event()), name=f"sub-agent {plan.child}")
        self._background.add(lane)
        lane.add_done_callback(self._background.discard)
        await begins.wait()
        return start_event(plan, "")

    async def close(self) -> None:
        await end_tasks(*self._background)

    def send(self, to: str, text: str) -> None:
        near = self._list_near()
        receiver = self._runtime.find(near[to]) if to in near else None
        if receiver is None:
            raise ToolFailure(
                f"No agent {to!r} runs now. You can reach: {', '.join(near) or 'none'}. Nothing was sent."
            )
        if sum(isinstance(one, AgentMessaged) for one in receiver.state.subagents.unreported) >= UNREAD:
            raise ToolFailure(f"{to} has not read {UNREAD} messages yet. Nothing was sent; continue without.")
        subtask = self._parent.state.subagents.subtask
        is_below = to != PARENT and near[to] in {lane.child for lane in self._parent.state.subagents.running}
        receiver.emit(AgentMessaged(PARENT if is_below or subtask is None else subtask.name, text))

    def _list_near(self) -> dict[str, str]:
        """Return the tasks that can get a message, by name: the parent, agents beside this one, and its own."""
        state = self._parent.state.subagents
        near = {lane.name: lane.child for lane in state.running if lane.is_named}
        if state.subtask and (above := self._runtime.find(state.subtask.parent)):
            beside = {lane.name: lane.child for lane in above.state.subagents.running if lane.is_named}
            near = {PARENT: state.subtask.parent, **beside, **near}
        return {name: child for name, child in near.items() if child != self._parent.log.task}

    async def merge(self, agent: str, files: dict[str, bytes | None]) -> dict[str, Merged]:
        changes = await self._read_changes(agent)
        workspace = Path(self._parent.state.workspace)
        places = {path: _place_in(workspace, path) for path in files}
        if apart := [path for path, place in places.items() if place in changes.apart]:
            raise ToolFailure(f"{', '.join(apart)}: no merge takes over links and very large files. Copy them.")
        found = await merge_changes(changes, {places[path]: data for path, data in files.items()})
        return {path: found[place] for path, place in places.items()}

    async def note_merged(self, agent: str, taken: dict[str, bytes | None]) -> None:
        workspace = Path(self._parent.state.workspace)
        with suppress(HaloclineError):  # without it, the next merge starts from the commit
            changes = await self._read_changes(agent)
            await note_merged(changes, {_place_in(workspace, path): data for path, data in taken.items()})

    async def _read_changes(self, agent: str) -> AgentChanges:
        """Return what an agent that wrote has changed. Raises ToolFailure."""
        lane = self._parent.state.subagents.named.get(agent)
        if lane is None or not lane.worktree:
            raise ToolFailure(f"There is no agent {agent!r} that writes. Nothing was changed.")
        try:
            return await read_agent_changes(Path(self._parent.state.workspace), self._stores, lane.worktree)
        except HaloclineError as error:
            raise ToolFailure(f"{error.text} Nothing was changed.") from error

    @property
    def _stores(self) -> Path:
        return self._runtime.assembly().home.checkpoints

    def _follow(self, event: ev.Event) -> None:
        """End what runs in the background with the turn; keep agents as strict as their parent."""
        match event:
            case ev.TurnEnded():
                for lane in self._background:
                    lane.cancel()
            case ev.PolicyChanged(approval_mode=mode):
                for one in self._parent.state.subagents.running:
                    if child := self._runtime.find(one.child):
                        tighten(child, mode)

    async def _plans(self, wanted: Sequence[Wanted], call: str, rule: str) -> list[Plan]:
        """Check the request and plan each sub-agent. Raises ToolFailure."""
        state, settings = self._parent.state, self._runtime.assembly().settings
        agents, left = self._agents(wanted), self._parent.governor.seconds_left(state)
        above = state.subagents.subtask
        budget = Subtask(
            parent=state.task,
            call=call,
            name="",
            steps=settings.subagent_steps,
            seconds=min(settings.subagent_seconds, math.inf if left is None else left),
            refusals=tuple(state.permissions.refusals),
            switches=state.permissions.switches,
            answered=rule,
            depth=above.depth + 1 if above else 1,
        )
        if budget.depth > settings.subagent_depth:
            raise ToolFailure(f"Agents may start agents down to level {settings.subagent_depth} only. Do it yourself.")
        plans = [self._plan(one, agent, budget) for one, agent in zip(wanted, agents, strict=True)]
        for plan in plans:
            await self._require_possible(plan)
        most = settings.subagents_at_once
        if not self._parent.governor.spending.take_places(len(plans), most):
            raise ToolFailure(f"At most {most} agents may run at once. None was started: wait until some have ended.")
        return plans

    def _plan(self, one: Wanted, agent: Agent | None, budget: Subtask) -> Plan:
        state = self._parent.state
        subtask = _make_subtask(budget, one, agent, state)
        if one.is_named and (known := state.subagents.named.get(one.name)):
            if any(lane.child == known.child for lane in state.subagents.running):
                raise ToolFailure(f"The agent {one.name} still runs. Send it a message, or choose another name.")
            one = replace(one, writes=bool(known.worktree), forked=False)
            return Plan(one, agent, subtask, known.child, known.worktree, continues=True)
        child = new_task_id()
        return Plan(one, agent, subtask, child, name_worktree(one.name, child) if one.writes else "")

    async def _require_possible(self, plan: Plan) -> None:
        """Raise ToolFailure if the agent cannot have its tools, its folder or its worktree."""
        state, settings = self._parent.state, self._runtime.assembly().settings
        workspace = Path(state.workspace)
        choose_tools(plan, state, (), settings.subagent_depth)
        find_folder(plan.wanted, workspace)
        if plan.wanted.writes:
            try:
                await asyncio.to_thread(find_repository, workspace, self._runtime.assembly().env)
            except HaloclineError as error:
                raise ToolFailure(NO_REPOSITORY.format(why=error.text)) from error

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

    async def _run_plan(self, plan: Plan, begins: asyncio.Event | None = None) -> Report:
        try:
            try:
                begun = await self._begin(plan)
            finally:
                if begins:
                    begins.set()
            return begun if isinstance(begun, Report) else await self._run_begun(begun)
        finally:
            self._parent.governor.spending.give_back_place()

    async def _begin(self, plan: Plan) -> Begun | Report:
        """Write that a sub-agent starts, before anything is made for it. Return a report if it has no model."""
        found = await _attempt(self._model(plan))
        if isinstance(found, str):
            self._parent.emit(started := start_event(plan, ""))
            return self._report_failure(started, found)
        chosen, remarks = found
        if plan.agent and plan.agent.skills is not None:
            state = self._parent.state
            skills = found_skills(Path(state.workspace), roots=state.roots, plugins=state.prompt.plugins)
            remarks += read_skills(plan.agent, skills.skills)[1]
        own = plan.agent.remarks if plan.agent else ()
        started = start_event(plan, chosen.name, (*own, *remarks))
        self._parent.emit(started)
        return Begun(plan, started, chosen)

    async def _run_begun(self, begun: Begun) -> Report:
        began, started = time.monotonic(), begun.started
        try:
            opened = await _attempt(self._builder.open_child(begun.plan, begun.chosen, self._runtime.assembly()))
        except asyncio.CancelledError:
            self._parent.emit(replace(end_event(started, State(), Took()), end=LaneEnd.STOPPED, problem=""))
            raise
        if isinstance(opened, str):
            return self._report_failure(started, opened)
        end = await self._run_lane(opened, begun)
        return Report(report_of(opened.task.state), end, time.monotonic() - began, started.remarks)

    async def _run_lane(self, opened: Opened, begun: Begun) -> SubagentEnded:
        """Run a sub-agent from its prompt to its end; cancelling this ends it."""
        started, plan, task, spending = begun.started, begun.plan, opened.task, opened.task.governor.spending
        lane = Lane(started, task, self._parent.emit)
        relay = Relay(self._parent, task, started.name) if plan.wanted.is_named else None
        broke: Exception | None = None
        review, is_unchanged = "", False
        try:
            if relay:
                task.log.attach(relay)
            lane.begin()
            self._runtime.serve(started.child, task, begun.chosen)
            task.inbox.prompt(Prompt(self._first_content(opened, plan)))
            await lane.over.wait()
            review, is_unchanged = await self._review(task, started)
        finally:
            task.inbox.abandon()
            broke = await self._runtime.let_go(started.child)
            lane.close()
            if relay:
                await relay.end()
            end = end_event(started, task.state, lane.took, broke, review)
            self._parent.emit(end)
            spending.end()
        if end.end is LaneEnd.DONE and is_unchanged:
            await remove_unchanged(Path(self._parent.state.workspace), started.worktree)
        return end

    def _first_content(self, opened: Opened, plan: Plan) -> tuple[Text | Note, ...]:
        task, remark = opened
        hides = make_name_hider(task.state, task.home, task.host.permissions.book())
        note = environment_note(task.state, Path(task.state.workspace), datetime.now().astimezone(), hides=hides)
        known = [note_conversation(self._parent.context.visible(self._parent.state))] if plan.wanted.forked else []
        told = [Note(remark, "environment")] if remark else []
        return (Text(plan.wanted.prompt), *known, *told, *([note] if note else []))

    async def _review(self, task: Task, started: SubagentStarted) -> tuple[str, bool]:
        """Describe what an agent changed, and say if that is nothing, hidden files too; empty if it only reads."""
        if not started.worktree:
            return "", False
        workspace = Path(self._parent.state.workspace)
        try:
            changes = await read_agent_changes(workspace, self._stores, started.worktree)
        except HaloclineError as error:
            return f"[Its changes cannot be read: {error.text} They are in the worktree {started.worktree}.]", False
        hides = make_name_hider(self._parent.state, self._parent.home, self._parent.host.permissions.book())
        shown = {path: side for path, side in changes.sides.items() if not hides(str(workspace / path))}
        evidence = find_evidence(task.state.evidence, whole=True).text
        text = describe_changes(started.name, replace(changes, sides=shown), evidence, started.worktree)
        is_unchanged = not (changes.sides or changes.apart)
        if text == UNCHANGED and not is_unchanged:
            text = ONLY_HIDDEN.format(worktree=started.worktree)
        return self._parent.host.secrets.redact(text), is_unchanged

    def _report_failure(self, started: SubagentStarted, why: str) -> Report:
        """Report a sub-agent that could not start, for example without a model; the others continue."""
        end = replace(end_event(started, State(), Took()), end=LaneEnd.FAILED, problem=why)
        self._parent.emit(end)
        return Report("", end, 0.0)

    async def _model(self, plan: Plan) -> tuple[Chosen, tuple[str, ...]]:
        """Return the agent's model or the task's, with remarks on the choice. Raises UsageError."""
        assembly, now = self._runtime.assembly(), self._parent.state.model.name
        agent = plan.agent
        if plan.wanted.model:  # as a project's file: it may not choose another provider
            agent = Agent("", "", "", "", model=plan.wanted.model)
        name, why = chosen_model(agent, now, assembly.settings, assembly.catalogue)
        remarks = (f"its model was not used ({why}); it ran on {now}",) if why else ()
        return Chosen(await assembly.model(name)), remarks


async def _attempt(work: Awaitable[T]) -> T | str:
    """Return the result of what a sub-agent needs to start, or why it cannot."""
    try:
        return await work
    except HaloclineError as error:
        return f"{error.text} {error.hint}".strip()
    except Exception as bug:
        _LOGGER.error("a sub-agent could not start", exc_info=bug)
        return f"{type(bug).__name__}: {bug}"


def _place_in(workspace: Path, path: str) -> str:
    return os.path.relpath(workspace / path, workspace)


class _Follower:
    """A subscriber of a log."""

    def __init__(self, push: Callable[[ev.Event], None]) -> None:
        self.push = push

    def close(self) -> None:
        """Do nothing: no more events will come."""


def _make_subtask(budget: Subtask, one: Wanted, agent: Agent | None, state: State) -> Subtask:
    steps = min(filter(None, (budget.steps, agent.steps if agent else None)))
    grants = tuple(grant for grant in state.permissions.grants if one.writes or grant.kind in READING)
    return replace(budget, name=one.name, agent=one.agent, steps=steps, grants=grants, writes=one.writes)
