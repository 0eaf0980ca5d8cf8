"""Builds the task of a sub-agent: its tools, its prompt, its folder; or opens it again where it was.

What must stay true: it gets no tool that its parent does not have, and its approval mode is never laxer.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from halocline._version import __version__
from halocline.context.system_prompt.build import subagent_prompt
from halocline.context.user_files.agents import FINISHING, MORE, Agent, tools_of
from halocline.context.user_files.skills import Skill, found_skills, skill_for_model, skills_section
from halocline.files.opening import find_place
from halocline.git.worktree_list import find_main, find_worktree
from halocline.git.worktrees import open_worktree, remove_worktree
from halocline.ports.subagents import Wanted
from halocline.protocol.errors import ToolFailure, UsageError
from halocline.protocol.events import PluginsLoaded, PolicyChanged, TaskStarted, ToolsOffered
from halocline.protocol.events.instructions import Beginning
from halocline.protocol.events.subagents import SubagentStarted, Subtask
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.protocol.state.subagents import SubagentsState
from halocline.protocol.traces.context import header_for_call
from halocline.protocol.values import Value
from halocline.providers.wrappers.per_mode import Chosen
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.prompts.system_prompt import read_prompt_options
from halocline.runtime.start import close_on_failure, known_window
from halocline.runtime.subagents.worktree_setup import set_up_worktree
from halocline.task.log import Log
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.runtime.parts.program_parts import PluginParts

WRITES = ("replace_in_file", "apply_patch", "write_to_file", "job", "update_todos")
"""Tools of an agent that writes, besides those that read."""
TALKS, SPAWNS, TAKES = "send_message", "spawn_agent", "merge_agent_changes"


class Plan(Value, frozen=True):
    """One sub-agent that is about to start as the task `child`, or to continue as it."""

    wanted: Wanted
    agent: Agent | None
    subtask: Subtask
    child: str
    worktree: str = ""
    continues: bool = False


def choose_tools(plan: Plan, state: State, skills: tuple[Skill, ...], most_depth: int) -> tuple[str, ...]:
    """Return the tools of a sub-agent; a list in the call only narrows them. Raises ToolFailure."""
    wanted, usual = plan.wanted, tools_of(plan.agent, skills)
    if not wanted.is_named:
        return usual
    more = [*(WRITES if wanted.writes else ()), TALKS]
    if plan.subtask.depth < most_depth:
        more += [SPAWNS, *([TAKES] if wanted.writes else [])]
    own = state.prompt.tools if state.subagents.subtask else None
    may = [name for name in dict.fromkeys((*usual, *MORE, *more)) if own is None or name in own or name == FINISHING]
    if unknown := [name for name in wanted.tools if name not in may]:
        raise ToolFailure(
            f"It cannot have {', '.join(unknown)}. Of these you can choose: {', '.join(may)}. No agent was started."
        )
    chosen = {*wanted.tools, FINISHING, TALKS} if wanted.tools else {*usual, *more}
    return tuple(name for name in may if name in chosen)


def read_skills(agent: Agent | None, skills: tuple[Skill, ...]) -> tuple[str, tuple[str, ...]]:
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


def find_folder(wanted: Wanted, workspace: Path) -> Path:
    """Return the folder that a sub-agent works in: the workspace, or one in it. Raises ToolFailure."""
    if not wanted.folder:
        return workspace
    folder, top = Path(find_place(workspace / wanted.folder)), Path(find_place(workspace))
    if not folder.is_relative_to(top) or not folder.is_dir():
        raise ToolFailure(f"{wanted.folder} is no folder of the workspace. No agent was started.")
    return workspace / folder.relative_to(top)


async def open_folder_of(plan: Plan, workspace: Path, *, is_new: bool) -> tuple[Path, Path | None]:
    """Return the folder of a sub-agent, and that of its worktree if it was made now, as for one that `is_new`.

    Raises UsageError, and ToolFailure (GitUnusable).
    """
    folder = find_folder(plan.wanted, workspace)
    if not plan.worktree:
        return folder, None
    if is_new:
        with suppress(UsageError):  # what a killed process left half done; no agent has worked in it
            main = await asyncio.to_thread(find_main, workspace)
            await remove_worktree(await asyncio.to_thread(find_worktree, main, plan.worktree))
    opened = await open_worktree(workspace, plan.worktree, from_here=True)
    return opened.folder / folder.relative_to(workspace), opened.folder if opened.is_new else None


class Opened(NamedTuple):
    """The task of a sub-agent; `remark` is what it must know of its new worktree."""

    task: Task
    remark: str = ""


class ChildBuilder:
    """Builds sub-agents of one task."""

    def __init__(self, parent: Task, plugins: "PluginParts | None", *, trusted: bool) -> None:
        self._parent = parent
        self._plugins = plugins
        self._trusted = trusted

    async def open_child(self, plan: Plan, chosen: Chosen, assembly: Assembly) -> Opened:
        """Build the child's task and write its start, or open it again. Raises HaloclineError.

        A new worktree is set up before the log begins: what a killed process left of both is made again.
        """
        workspace, place = Path(self._parent.state.workspace), assembly.home.task(plan.child)
        is_new = not (place / "events.jsonl").exists()
        folder, made = await open_folder_of(plan, workspace, is_new=is_new)
        remark = await set_up_worktree(made, self._parent, assembly, trusted=self._trusted) if made else ""
        with close_on_failure(Log(place, plan.child, goes_on=not is_new)) as log:
            if not is_new and (past := log.load()):
                return Opened(self._reopen(plan, log, fold_events(past), chosen, assembly), remark)
            return Opened(self._begin(plan, log, folder, chosen, assembly), remark)

    def _build(self, plan: Plan, log: Log, state: State, folder: Path, chosen: Chosen, assembly: Assembly) -> Task:
        build = partial(
            assembly.task,
            attended=plan.wanted.is_named and self._parent.inbox.can_ask,
            trusted=self._trusted,
            plugins=self._plugins,
        )
        return build(log, state, folder, chosen, spending=self._parent.governor.spending)

    def _reopen(self, plan: Plan, log: Log, state: State, chosen: Chosen, assembly: Assembly) -> Task:
        task = self._build(plan, log, state, Path(state.workspace), chosen, assembly)
        tighten(task, self._parent.state.permissions.approval_mode)
        return task

    def _begin(self, plan: Plan, log: Log, folder: Path, chosen: Chosen, assembly: Assembly) -> Task:
        parent = self._parent.state
        roots = () if plan.wanted.writes else parent.roots
        skills = found_skills(folder, roots=roots, plugins=parent.prompt.plugins)
        tools = choose_tools(plan, parent, skills.offered, assembly.settings.subagent_depth)
        state = State(roots=roots, subagents=SubagentsState(subtask=plan.subtask))
        task = self._build(plan, log, state, folder, chosen, assembly)
        rules = task.host.sources.instructions.begins() if task.host.sources.instructions else Beginning()
        given, _ = read_skills(plan.agent, skills.skills)
        more = (
            given if plan.agent and plan.agent.skills is not None else skills_section(skills.offered)
        ) + rules.section
        role = plan.wanted.system or (plan.agent.prompt if plan.agent else "")
        options = read_prompt_options(assembly.settings, assembly.home)
        task.emit(
            TaskStarted(
                workspace=str(folder),
                model=chosen.name,
                mode=Mode.ACT,
                approval_mode=parent.permissions.approval_mode,
                system_prompt=subagent_prompt(folder, role, more, options, writes=plan.wanted.writes),
                version=__version__,
                compact=parent.prompt.compact,
                window=known_window(Mode.ACT, chosen.names, assembly),
                roots=roots,
                subtask=plan.subtask,
                limits=parent.budget.limits,
                server=assembly.find_server(chosen.name, parent.model.name),
                trace=header_for_call(parent.task, parent.trace, plan.subtask.call),
            ),
            *([rules.event] if rules.event else []),
            *([PluginsLoaded(plugins=parent.prompt.plugins)] if parent.prompt.plugins else []),
            ToolsOffered(tools=tuple(sorted(tools))),
        )
        return task


_LAXITY: Sequence[ApprovalMode] = (ApprovalMode.ASK, ApprovalMode.ACCEPT_EDITS, ApprovalMode.AUTO, ApprovalMode.YOLO)


def tighten(task: Task, mode: ApprovalMode) -> None:
    """Make an agent ask as often as its parent in this mode."""
    if _LAXITY.index(task.state.permissions.approval_mode) > _LAXITY.index(mode):
        task.emit(PolicyChanged(approval_mode=mode))


def name_worktree(name: str, child: str) -> str:
    """Return the name of an agent's worktree, which no other agent has."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in name)
    return f"{plain.strip('.-_')[:40] or 'agent'}-{child[-6:].lower()}"


def start_event(plan: Plan, model: str, remarks: tuple[str, ...] = ()) -> SubagentStarted:
    """Build the event of a sub-agent that starts."""
    one = plan.wanted
    return SubagentStarted(
        call=plan.subtask.call,
        child=plan.child,
        name=one.name,
        prompt=one.prompt,
        agent=one.agent,
        model=model,
        remarks=remarks,
        worktree=plan.worktree,
        background=one.background,
        is_named=one.is_named,
    )
