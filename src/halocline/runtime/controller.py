"""The controller: owns the tasks open in this process, and passes commands to them.

Commands are answered by events; queries return a value and change nothing. Everything that a person sends arrives here,
from any surface.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline import runtime
from halocline.context.user_files.skills import found_skills
from halocline.ports.model import Model
from halocline.protocol import commands as cmd
from halocline.protocol.errors import TaskNotFound, UsageError
from halocline.protocol.events.instructions import Beginning
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.providers.wrappers.per_mode import Chosen
from halocline.runtime import history, prompts
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.assembly.in_force import AssembliesInForce
from halocline.runtime.assembly.optional_parts import LazySubagents
from halocline.runtime.attach.registry import Attachments
from halocline.runtime.error_log import ProgramLog
from halocline.runtime.open_task import OpenTask, offer_tools
from halocline.runtime.prompts.expand import AnswerNotes, check_prompt, expand_prompt, expand_prompt_in_thread
from halocline.runtime.prompts.queued_messages import change_queue, queue_message, serve_queue, take_prompt
from halocline.runtime.rules.workspace_roots import resume_folders, roots_of
from halocline.runtime.start import (
    adjust_limits,
    adjust_task,
    adopt_task,
    build_task,
    close_on_failure,
    model_of,
    offer_custom_tools,
    report_plugins,
    report_then_run,
    serve_socket,
    set_goal,
    start_event,
    switch_mode,
    with_recording,
)
from halocline.runtime.task_options import TaskOptions as TaskOptions
from halocline.store.tasks.history import find_task, new_task_id
from halocline.store.tasks.renamed import FoldersHere
from halocline.task.log import Log
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.ports.subagents import Subagents
    from halocline.runtime.attach.remote_task import Attached
    from halocline.runtime.prompts.command_files import SlashEntries
    from halocline.runtime.traces import TraceSender
    from halocline.task.stream import Stream


class Controller:
    """Open tasks by id. Those whose folder was renamed to one of the `folders` of the person continue there."""

    def __init__(self, assembly: Assembly, folders: Sequence[Path] = ()) -> None:
        self.home = assembly.home
        self.assemblies = AssembliesInForce(assembly)
        self._open: dict[str, OpenTask] = {}
        self._attached = Attachments(assembly.home, self.pass_on)
        self._program_log = ProgramLog(assembly.home.logs, as_json=assembly.settings.log_format == "json")
        self._traces: TraceSender | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._answer_notes = AnswerNotes()
        self.here = FoldersHere(folders)
        self.editor: Callable[[], cmd.EditorState | None] = lambda: None
        """The editor that this process serves: prompts tell the model what is open in it."""

    async def start(self, workspace: Path, options: TaskOptions, name: str = "") -> str:
        """Start a task and return its id. Nothing is written before the model is known to be usable.

        `name` sets the id when another task hands over to this one.
        """
        new = State(roots=roots_of(workspace, options.roots, self.assemblies.own.settings))
        assembly = self.assemblies.of(workspace, new.roots, trusted=options.trusted)
        model: Model = (chosen := Chosen(await assembly.model(options.model or "")))
        recorder = assembly.recorder(options.record) if options.record else None
        name = name or new_task_id()
        plugins = assembly.load_plugins(workspace, new.roots, trusted=options.trusted)
        skills = found_skills(workspace, roots=new.roots, plugins=plugins.plugins if plugins else ())
        with close_on_failure(Log(self.home.task(name), name)) as log:
            model = with_recording(model, recorder, log)
            task = build_task(assembly, log, new, workspace, model, options, plugins)
            rules = task.host.sources.instructions.begins() if task.host.sources.instructions else Beginning()
            started = start_event(assembly, workspace, options, chosen.names, skills, rules, new.roots, name)
            task.emit(started, *([rules.event] if rules.event else []))
            report_plugins(task, plugins)
            tools = assembly.offered(task.state, options.attended, {"use_skill"} if skills.offered else ())
            odd = offer_tools(task, tools)
            offer_custom_tools(task, options, plugins)
            if options.until:
                set_goal(task, cmd.SetGoal(task=name, command=options.until))
            repairs = await task.host.tools.files.mend()
        left_out = (*options.remarks, *(plugins.remarks if plugins else ()))
        remarks = (*self.assemblies.remarks(assembly), *skills.skipped, *rules.remarks, *odd, *left_out)
        return self._serve(name, task, chosen, remarks, repairs)

    async def resume(self, name: str, options: TaskOptions) -> str:
        """Resume a task: close what a crash left open, and rerun nothing. Raises TaskBusy, TaskNotFound, LogDamaged."""
        name = find_task(self.home.tasks, name)
        with close_on_failure(Log(self.home.task(name), name, goes_on=True)) as log:
            past = log.load()
            state = fold_events(past)
            if not state.workspace:
                raise TaskNotFound(
                    f"Task {name} cannot be resumed: its log has no beginning.", "See the damage: halo doctor"
                )
            resumed = resume_folders(past, state, options.roots, self.here.adding())
            assembly = self.assemblies.of_task(resumed.state, trusted=options.trusted)
            wanted = assembly.model(options.model) if options.model else model_of(assembly, state)
            model: Model = (chosen := Chosen(await wanted))
            model = with_recording(model, assembly.recorder(options.record) if options.record else None, log, past)
            plugins = assembly.load_plugins(resumed.workspace, resumed.state.roots, trusted=options.trusted)
            task = build_task(assembly, log, resumed.state, resumed.workspace, model, options, plugins)
            lanes, tasks = state.subagents.running, self.home.tasks
            cut = runtime.resume.list_cut_edits(tasks, past, resumed.workspace, lanes)
            repairs = await task.host.tools.files.mend(cut)
            runtime.resume.resume_task(task, past, asks_again=options.asks_again)
            report_plugins(task, plugins)
            if not state.prompt.system:  # imported, and opened for the first time
                adopt_task(task, assembly, options, chosen.names)
            adjust_task(task, options, chosen.names, assembly)
            task.emit(*resumed.events)
            odd = offer_tools(task, assembly.offered(task.state, options.attended, task.state.prompt.tools))
            offer_custom_tools(task, options, plugins)
        left_out = (*options.remarks, *(plugins.remarks if plugins else ()))
        remarks = (*self.assemblies.remarks(assembly), *odd, *left_out)
        served = self._serve(name, task, chosen, remarks, (*resumed.notices, *repairs))
        self._open[name].left_at = state.last_at
        return served

    async def join(self, name: str, options: TaskOptions, client: str, *, while_asked: bool = False) -> str:
        """Attach to a task that another process runs. If there is none, or it ends, an attended task is resumed here.

        With `while_asked` it is resumed only if it waits for a person, or has unsent commands.

        Raises:
            TaskNotFound, LogDamaged
            TaskBusy: the other process refuses peers.
            UsageError: no process runs the task, and it is not attended here.
        """
        name = find_task(self.home.tasks, name)

        async def open_here() -> Log:
            await self.resume(name, options)
            return self._open[name].task.log

        await self._attached.join(name, client, open_here if options.attended else None, while_asked=while_asked)
        return name

    def send(self, command: cmd.AnyCommand) -> bool:
        """Apply or pass on a command. Return False if nothing waits for that decision or answer any more."""
        if attached := self.attached(command.task):
            return attached.send(command)
        task = self.task(command.task)
        match command:
            case cmd.SubmitPrompt(content=content, verbatim=verbatim):
                adjust_limits(task, self.assemblies.of_task(task.state))
                expanded = content if verbatim else expand_prompt(task, content, self._words_of(task), only=True)
                take_prompt(self._open[command.task], replace(command, content=expanded, verbatim=True))
            case cmd.Steer(content=content, client=client) if task.inbox.is_idle:
                return self.send(cmd.SubmitPrompt(task=command.task, content=content, client=client))
            case cmd.Steer():
                queue_message(task, command)
            case cmd.SendQueued() | cmd.EditQueued() | cmd.WithdrawQueued():
                return change_queue(task, command)
            case cmd.AnswerQuestion(answer=answer):
                assembly = self.assemblies.of_task(task.state)
                if not runtime.apply_command.apply_command(self._open[command.task], command, assembly):
                    return False
                self._answer_notes.add(task, answer, self._words_of(task))
            case cmd.GoBack() | cmd.EditMessage() | cmd.Fork():
                self._run_in_background(self._run_history_command(command))
            case cmd.StopJob(job=job):
                return self._stop_job(task, job)
            case _:
                assembly = self.assemblies.of_task(task.state)
                return runtime.apply_command.apply_command(self._open[command.task], command, assembly)
        return True

    async def pass_on(self, command: cmd.AnyCommand) -> bool:
        """Prepare a command (see `prepared`), then send it. Raises UsageError."""
        return self.send(await self.prepared(command) if isinstance(command, cmd.SubmitPrompt) else command)

    def words(
        self, workspace: Path, roots: Sequence[str] = (), plugins: tuple[Plugin, ...] | None = None
    ) -> "SlashEntries":
        """Return the slash commands of a workspace, and of a task's other folders and plug-ins; None: of a new task."""
        assembly = self.assemblies.of(workspace)
        if plugins is None:
            plugins = assembly.list_plugins(workspace, tuple(roots))
        return prompts.command_files.slash_commands_of(workspace, self.home, assembly.settings, roots, plugins)

    def _words_of(self, task: Task) -> "Callable[[], SlashEntries]":
        return lambda: self._words_at(task.state)

    def _words_at(self, state: State) -> "SlashEntries":
        return self.words(Path(state.workspace), state.roots, state.prompt.plugins)

    async def prepared(self, command: cmd.SubmitPrompt) -> cmd.SubmitPrompt:
        """Expand the slash commands of a prompt, ready for `send`; files are read in a thread. Raises UsageError.

        If another process runs the task, that process expands them.
        """
        if command.editor is None and (editor := self.editor()):
            command = replace(command, editor=editor)
        if command.verbatim:
            return command
        if attached := self.attached(command.task):
            await check_prompt(command, lambda: self._words_at(attached.state))
            return command
        task = self.task(command.task)
        expanded = await expand_prompt_in_thread(task, command.content, self._words_of(task), only=True)
        return replace(command, content=expanded, verbatim=True)

    def stream(self, name: str) -> "Stream | None":
        """Return the event stream of a task that is open here or attached; None for others."""
        if name in self._open:
            return self._open[name].task.log
        return attached.stream if (attached := self._attached.get(name)) else None

    @property
    def time(self) -> "history.actions.TaskHistory":
        """History of tasks: inspect, rewind, fork."""

        def settle(name: str) -> None:
            opened, assembly = self._open[name], self.assemblies.of_task(self.task(name).state)
            switch_mode(opened.task, opened.task.state.plan.mode, opened.model.names, assembly)

        return history.actions.TaskHistory(
            self.home,
            lambda: {name: opened.task for name, opened in self._open.items()},
            self.assemblies.own.shadow_git,
            settle,
            self.here.adding(),
        )

    async def _run_history_command(self, command: cmd.GoBack | cmd.EditMessage | cmd.Fork) -> None:
        await history.actions.run_history_command(command, self.task(command.task), self.time, self.pass_on)

    async def let_go(self, name: str) -> Exception | None:
        """Close a task and its jobs once its turn has ended; detach from one that another process runs.

        Return the error that broke it, or None.
        """
        broke = await self._attached.let_go(name)
        opened = self._open.pop(name, None)
        return await opened.end() if opened else broke

    async def close(self, *, leave_questions: bool = False) -> None:
        """Interrupt what runs (`Inbox.abandon`), end all turns and close all tasks. Raises the error that broke one."""
        lost = await self._attached.close()
        for opened in self._open.values():
            opened.task.inbox.abandon(leave_questions=leave_questions)
        last = await asyncio.gather(*self._background, self._answer_notes.close(), return_exceptions=True)
        served = await asyncio.gather(*(opened.serving for opened in self._open.values()), return_exceptions=True)
        async with AsyncExitStack() as parts:  # closes all, also if one fails
            parts.callback(self._program_log.close)
            parts.push_async_callback(self.assemblies.own.close)
            if self._traces:
                parts.push_async_callback(asyncio.to_thread, self._traces.close)
            while self._open:
                parts.push_async_callback(self._open.popitem()[1].close)
        for outcome in (*served, *lost, *last):
            if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
                raise outcome

    def _stop_job(self, task: Task, job: str) -> bool:
        """Start to stop a job; its end is an event. Return False if there is no such job."""
        jobs = task.host.tools.shell.jobs
        if is_known := job in (info.name for info in jobs.list()):
            self._run_in_background(jobs.stop(job))
        return is_known

    def _run_in_background(self, work: Coroutine[None, None, None]) -> None:
        """Start slow work; its end is an event."""
        running = asyncio.create_task(work)
        self._background.add(running)
        running.add_done_callback(self._background.discard)

    def _serve(
        self, name: str, task: Task, model: Chosen, remarks: tuple[str, ...] = (), repairs: Sequence[str] = ()
    ) -> str:
        self._program_log.attach()
        remarks += self._follow_in_trace(task)
        if isinstance(subagents := task.host.tools.subagents, LazySubagents):
            subagents.bind(lambda: self._build_subagents(task, subagents))
        serving = asyncio.create_task(report_then_run(task, repairs), name=f"task {name}")
        serving.add_done_callback(lambda _: task.log.finish())
        sweep = None if self._open else lambda task: runtime.litter.sweep_quietly(task)  # the first open task sweeps
        socket = serve_socket(task, self.pass_on, sweep)
        self._open[name] = opened = OpenTask(task, serving, model, asyncio.create_task(socket), remarks)
        serve_queue(opened, self._words_of(task), lambda: self.editor())
        return name

    def _follow_in_trace(self, task: Task) -> tuple[str, ...]:
        """Send the spans of a task, if the person wants them. Return why they cannot be sent, if so."""
        settings = self.assemblies.own.settings
        if not settings.traces:
            return ()
        if self._traces is None:
            self._traces = runtime.traces.TraceSender(lambda text: self.assemblies.own.secrets.redact_for_others(text))
        return self._traces.follow(task.log, task.state, contents=settings.trace_contents)

    def _build_subagents(self, task: Task, lazy: LazySubagents) -> "Subagents":
        from halocline.runtime.subagents.runner import Subtasks, TaskRuntime

        runtime = TaskRuntime(lambda: self.assemblies.of_task(task.state), self._serve, self.let_go, self._find_open)
        return Subtasks(task, runtime, lazy.plugins, trusted=lazy.trusted)

    def _find_open(self, name: str) -> Task | None:
        return self._open[name].task if name in self._open else None

    def attached(self, name: str) -> "Attached | None":
        """Return the attached task that another process runs; None if it is open here, or not at all."""
        return None if name in self._open else self._attached.get(name)

    def task(self, name: str) -> Task:
        """Return a task that is open here. Raises TaskNotFound, and UsageError if another process runs it."""
        return self.opened(name).task

    def opened(self, name: str) -> OpenTask:
        """Return an open task with its model and remarks. Raises as `task` does."""
        if attached := self.attached(name):
            raise UsageError(f"Task {name} runs in another process (pid {attached.pid}).", "Do this there.")
        if name not in self._open:
            raise TaskNotFound(f"Task {name} is not open here.", "Resume it first.")
        return self._open[name]
