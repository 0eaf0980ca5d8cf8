"""Start or resume a task: what is fixed for its lifetime, and what another process left."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from halocline._version import __version__
from halocline.context.system_prompt.build import system_prompt
from halocline.context.user_files.skills import Found, found_skills, skills_section
from halocline.files.folder_mark import read_mark
from halocline.ports.model import Model
from halocline.protocol import events as ev
from halocline.protocol.commands import AnyCommand, SetGoal
from halocline.protocol.errors import UsageError
from halocline.protocol.events.instructions import Beginning
from halocline.protocol.kinds import ApprovalMode, Mode, bound_mode
from halocline.protocol.state.state import State
from halocline.protocol.traces.context import begin_trace
from halocline.providers.wrappers.per_mode import name_in
from halocline.runtime import attach, rules
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.models.resolve import require_its_server
from halocline.runtime.models.vendors import find_model_facts
from halocline.runtime.open_task import offer_tools
from halocline.runtime.prompts.system_prompt import is_compact, read_prompt_options
from halocline.runtime.task_options import TaskOptions
from halocline.store.settings.load import with_overrides
from halocline.task.log import Log
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.runtime.parts.program_parts import PluginParts
    from halocline.store.tasks.recording import Recorder

EFFORTS = ("effort", "thinking_budget")
"""Settings of how much a model thinks."""
SOCKET_DELAY = 0.1
"""Seconds until other processes can attach to an opened task: by then its first request is sent."""


def start_event(
    assembly: Assembly,
    workspace: Path,
    options: TaskOptions,
    names: Mapping[Mode, str],
    skills: Found,
    rules: Beginning,
    roots: tuple[str, ...] = (),
    task: str = "",
) -> ev.TaskStarted:
    """Build a task's first event; `names` are its models. Raises SettingsError."""
    settings = assembly.settings
    mode = options.mode or Mode.ACT
    require_mode(options.approval_mode, assembly)
    sections = skills_section(skills.offered) + _describe_memory(assembly, workspace) + rules.section
    compact = is_compact(names.values(), settings, assembly.catalogue)
    return ev.TaskStarted(
        workspace=str(workspace),
        model=names[mode],
        mode=mode,
        approval_mode=options.approval_mode or settings.approval_mode,
        system_prompt=system_prompt(
            workspace,
            sections,
            models=names.values(),
            compact=compact,
            wishes=read_prompt_options(settings, assembly.home),
        ),
        version=__version__,
        compact=compact,
        window=known_window(mode, names, assembly),
        roots=roots,
        limits=assembly.limits(),
        server=assembly.find_server(names[mode], names[Mode.ACT]),
        folder_mark=read_mark(workspace),
        trace=begin_trace(task, assembly.shared.environment) if settings.traces else "",
    )


def build_task(
    assembly: Assembly,
    log: Log,
    state: State,
    workspace: Path,
    model: Model,
    options: TaskOptions,
    plugins: "PluginParts | None" = None,
) -> Task:
    """Build a task with the options that it was opened with, and its plug-ins."""
    return assembly.task(
        log,
        state,
        workspace,
        model,
        attended=options.attended,
        trusted=options.trusted,
        editor=options.editor,
        program=options.program,
        plugins=plugins,
    )


async def model_of(assembly: Assembly, state: State) -> Model:
    """Open the model of a resumed task, or one for each mode as chosen before. Raises UsageError."""
    if state.model.server:
        require_its_server(state.model, state.task, assembly.find_server(state.model.name))
    if chosen_before := state.model.by_mode:
        with suppress(UsageError):
            return await assembly.model_pair(chosen_before[Mode.ACT], chosen_before[Mode.PLAN])
    if assembly.settings.plan.model:
        with suppress(UsageError):
            chosen = await assembly.model("")
            if state.model.name in (name_in(mode, chosen) for mode in Mode):
                return chosen
    return await assembly.model(state.model.name)


def adopt_task(task: Task, assembly: Assembly, options: TaskOptions, names: Mapping[Mode, str]) -> None:
    """Prepare an imported task that is resumed for the first time."""
    place = Path(task.state.workspace)
    rules = task.host.sources.instructions.begins() if task.host.sources.instructions else Beginning()
    skills = found_skills(place, roots=task.state.roots, plugins=task.state.prompt.plugins)
    begins = start_event(assembly, place, options, names, skills, rules)
    task.emit(adopt_event(begins), *([rules.event] if rules.event else []))
    if skills.offered:
        offer_tools(task, task.state.prompt.tools | {"use_skill"})


def report_plugins(task: Task, plugins: "PluginParts | None") -> None:
    """Write down which plug-ins the task has now, if they are others than before."""
    now = plugins.plugins if plugins else ()
    if now != task.state.prompt.plugins:
        task.emit(ev.PluginsLoaded(plugins=now))


def offer_custom_tools(task: Task, options: TaskOptions, plugins: "PluginParts | None") -> None:
    """Offer the tools of the program that opens the task and of plug-ins; those of another one are offered no more."""
    functions = (*(options.program.tools if options.program else ()), *(plugins.tools if plugins else ()))
    tools = tuple({tool.definition.name: tool.definition for tool in reversed(functions)}.values())[::-1]
    if tools != task.state.prompt.custom_tools:
        task.emit(ev.CustomToolsOffered(tools=tools))


def adjust_task(task: Task, options: TaskOptions, models: Mapping[Mode, str], assembly: Assembly) -> None:
    """Apply the chosen mode, approval mode and effort, and the limits of the settings, to a resumed task."""
    if task.state.budget.limits != assembly.limits():
        task.emit(ev.LimitsChanged(limits=assembly.limits()))
    switch_mode(task, options.mode or task.state.plan.mode, models, assembly)
    require_mode(options.approval_mode, assembly)
    now = task.state.permissions.approval_mode
    approves = options.approval_mode or bound_mode(now, assembly.managed.modes_off(assembly.settings))
    if approves is not now:
        task.emit(ev.PolicyChanged(approval_mode=approves))
    chosen, own = (options.effort, options.thinking_budget), (task.state.model.effort, task.state.model.thinking_budget)
    if not assembly.managed.rows.keys().isdisjoint(EFFORTS):
        chosen = assembly.settings.effort, assembly.settings.thinking_budget
    if chosen != (None, None) and own not in ((None, None), chosen):
        task.emit(ev.EffortChanged(effort=chosen[0], budget=chosen[1]))
    if options.until:
        set_goal(task, SetGoal(task=task.state.task, command=options.until))


def require_mode(mode: ApprovalMode | None, assembly: Assembly) -> None:
    """Raise UsageError if no task may have an approval mode."""
    if mode not in assembly.managed.modes_off(assembly.settings):
        return
    name = "approval_mode" if "approval_mode" in assembly.managed.rows else "modes_off"
    raise UsageError(
        f"The approval mode {mode} is off: {name} is {assembly.managed.explain(name)}.", "Choose a stricter one."
    )


def adjust_limits(task: Task, assembly: Assembly) -> None:
    """Apply the limits of the settings as they are now to an open task, but those that its tool descriptions show."""
    now, before = assembly.limits(), task.state.budget.limits or assembly.limits()
    limits = msgspec.structs.replace(now, sandbox=before.sandbox)
    if limits != before:
        task.emit(ev.LimitsChanged(limits=limits))


def adopt_event(begins: ev.TaskStarted) -> ev.TaskAdopted:
    """Build the event with which an imported task continues, like one that started here now."""
    return ev.TaskAdopted(
        model=begins.model,
        mode=begins.mode,
        approval_mode=begins.approval_mode,
        system_prompt=begins.system_prompt,
        version=begins.version,
        compact=begins.compact,
        window=begins.window,
        server=begins.server,
    )


def _describe_memory(assembly: Assembly, workspace: Path) -> str:
    """Return the memory section of the system prompt; empty, and nothing is read, if memory is off."""
    if not assembly.settings.memory:
        return ""
    return rules.memory.Memory(workspace, assembly.home.memory, on=True).given


async def report_then_run(task: Task, repairs: Sequence[str]) -> None:
    """Run the task; first notify the person of `repairs` after a killed process."""
    if task.host.tools.mcp:
        task.host.tools.mcp.begin()
    for sentence in repairs:
        task.emit(ev.Noticed(sentence))
    await task.run()


async def serve_socket(
    task: Task, send: Callable[[AnyCommand], Awaitable[bool]], sweep: Callable[[Task], Awaitable[None]] | None
) -> None:
    """Let other processes attach until this is cancelled. If no socket can be made, they can only read the log.

    The first request is sent by now, so this also removes what killed processes left behind, by `sweep`.
    """
    await asyncio.sleep(SOCKET_DELAY)
    with suppress(OSError):
        async with attach.server.TaskSocket(task, send):
            if sweep:
                await sweep(task)
            await asyncio.Event().wait()


def set_goal(task: Task, command: SetGoal) -> None:
    """Set a goal, or take it back. Raises UsageError if its command holds a secret, which the log would keep."""
    goal = task.state.goal
    if task.host.secrets.redact(command.command) != command.command:
        raise UsageError(
            "The command of a goal may hold no secret.", "Let it read the value from a variable or a file."
        )
    if (command.text, command.command) != (goal.text, goal.command) or goal.is_met:
        text = task.host.secrets.redact(command.text)
        task.emit(ev.GoalSet(text=text, command=command.command, client=command.client))


def switch_mode(task: Task, mode: Mode, models: Mapping[Mode, str], assembly: Assembly) -> None:
    """Switch to a mode and its model, and to the server that it has now."""
    server = assembly.find_server(models[mode], models[Mode.ACT])
    if (models[mode], server) != (task.state.model.name, task.state.model.server):
        task.emit(model_change(mode, models, assembly))
    if mode is not task.state.plan.mode:
        task.emit(ev.ModeChanged(mode=mode))


def model_change(mode: Mode, models: Mapping[Mode, str], assembly: Assembly) -> ev.ModelChanged:
    """Build the event that switches to the model of a mode."""
    return ev.ModelChanged(
        model=models[mode],
        window=known_window(mode, models, assembly),
        by_mode=dict(models) if len({*models.values()}) > 1 else {},
        server=assembly.find_server(models[mode], models[Mode.ACT]),
    )


def known_window(mode: Mode, models: Mapping[Mode, str], assembly: Assembly) -> int | None:
    """Return the context window of a mode's model, if known without asking. A configured one applies to act mode's."""
    settings = assembly.settings
    if models[mode] != models[Mode.ACT]:
        settings = with_overrides(settings, {"context_window": None})
    return find_model_facts(models[mode], settings, assembly.catalogue).window


def with_recording(model: Model, recorder: "Recorder | None", log: Log, past: Iterable[ev.DurableEvent] = ()) -> Model:
    """Return the model, with its requests and the log's events also sent to the recorder, if there is one."""
    if recorder is None:
        return model
    from halocline.runtime.recording_model import RecordingModel

    recorder.tell = lambda text: log.show(ev.Noticed(text))
    for event in past:
        recorder.push(event)
    log.attach(recorder)
    return RecordingModel(model, recorder)


@contextmanager
def close_on_failure(log: Log) -> Iterator[Log]:
    """Close a log that is not served yet if something fails, so that its lock is released."""
    try:
        yield log
    except BaseException:
        log.close()
        raise
