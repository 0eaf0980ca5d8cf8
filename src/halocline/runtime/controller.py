"""The hall: owns the tasks that are open in this process, and passes commands to them.

Commands are answered by events; queries return a value and change nothing. Whatever a person sends arrives here,
whichever window they look through.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.checkpoints.shadow_git import BY_HAND, ShadowGit
from halocline.context.user_files.skills import found_skills
from halocline.ports.model import Model
from halocline.protocol import commands as cmd
from halocline.protocol.errors import TaskNotFound, UsageError
from halocline.protocol.events import DurableEvent, Event, Mode
from halocline.protocol.instructions import Beginning
from halocline.protocol.jobs import JobInfo
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.providers.wrappers.per_mode import Chosen
from halocline.runtime.apply_command import apply_command
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.assembly.optional_parts import TaskRuntime, bind_runtime
from halocline.runtime.attach.registry import Attachments
from halocline.runtime.error_log import ProgramLog
from halocline.runtime.prompts.additions import build_prompt
from halocline.runtime.prompts.expand import (
    Steering,
    check_prompt,
    expand_prompt,
    expand_prompt_in_thread,
    slash_commands_of,
)
from halocline.runtime.resume import edits_cut_short, resume_task
from halocline.runtime.rules.workspace_roots import roots_of, taken_up
from halocline.runtime.start import (
    OpenTask,
    TaskOptions as TaskOptions,
    adjust_task,
    adopt_task,
    close_on_failure,
    model_of,
    offer_tools,
    report_then_run,
    serve_socket,
    start_event,
    switch_mode,
    with_recording,
)
from halocline.store.settings.settings import Settings
from halocline.store.tasks import history
from halocline.task.log import Log, follow_log, read_log
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.ports.mcp import Mcp
    from halocline.protocol.queries.mentions import Mentioned
    from halocline.providers.catalog.refresh import Refreshed
    from halocline.runtime.attach.remote_task import Attached
    from halocline.runtime.history.actions import TaskHistory
    from halocline.runtime.models.efforts import Efforts
    from halocline.runtime.prompts.command_files import Words
    from halocline.runtime.prompts.uploads import Handing
    from halocline.runtime.rules.hooks import FolderHooks
    from halocline.task.stream import Stream


class Controller:
    """Open tasks by id."""

    def __init__(self, assembly: Assembly) -> None:
        self.home = assembly.home
        self.assembly = assembly
        self.without_secrets = assembly.secrets.redact_for_others
        self._open: dict[str, OpenTask] = {}
        self._attached = Attachments(assembly.home, self.send)
        self._program_log = ProgramLog(assembly.home.logs)
        self._errands: set[asyncio.Task[None]] = set()
        self._steering = Steering()

    async def start(self, workspace: Path, options: TaskOptions, name: str = "") -> str:
        """Begin a task and give its id. Nothing is written before the model is known to be usable.

        `name` is the id that another task, which handed over to it, has given it.
        """
        new = State(roots=roots_of(workspace, options.roots, self.assembly.settings))
        model: Model = (chosen := Chosen(await self.assembly.model(options.model or "")))
        recorder = self.assembly.recorder(options.record) if options.record else None
        name = name or history.new_task_id()
        skills = found_skills(workspace)
        with close_on_failure(Log(self.home.task(name), name)) as log:
            model = with_recording(model, recorder, log)
            task = self.assembly.task(log, new, workspace, model, attended=options.attended, trusted=options.trusted)
            rules = task.host.sources.instructions.begins() if task.host.sources.instructions else Beginning()
            started = start_event(self.assembly, workspace, options, chosen.names, skills, rules, new.roots)
            task.emit(started, *([rules.event] if rules.event else []))
            tools = self.assembly.offered(task.state, options.attended, {"use_skill"} if skills.skills else ())
            odd = offer_tools(task, tools)
            said = await task.host.tools.files.mend()
        return self._serve(name, task, chosen, (*skills.skipped, *rules.remarks, *odd), said)

    async def resume(self, name: str, options: TaskOptions) -> str:
        """Open a task again. What a crash left open is closed first; nothing is run again by itself.

        Raises:
            TaskBusy, TaskNotFound, LogDamaged
        """
        name = history.find_task(self.home.tasks, name)
        with close_on_failure(Log(self.home.task(name), name)) as log:
            past = log.load()
            state = fold_events(past)
            if not state.workspace:
                raise TaskNotFound(f"The log of task {name} has no beginning.", "It cannot be resumed.")
            wanted = self.assembly.model(options.model) if options.model else model_of(self.assembly, state)
            model: Model = (chosen := Chosen(await wanted))
            model = with_recording(model, self.assembly.recorder(options.record) if options.record else None, log, past)
            place = Path(state.workspace)
            up = taken_up(state, options.roots)
            task = self.assembly.task(log, up.state, place, model, attended=options.attended, trusted=options.trusted)
            said = await task.host.tools.files.mend(edits_cut_short(past, place))
            resume_task(task, past, asks_again=options.asks_again)
            if not state.system_prompt:  # imported, and opened for the first time
                adopt_task(task, self.assembly, options, chosen.names)
            adjust_task(task, options, chosen.names, self.assembly)
            task.emit(*up.news)
            odd = offer_tools(task, self.assembly.offered(task.state, options.attended, task.state.offered))
        served = self._serve(name, task, chosen, odd, (*up.said, *said))
        self._open[name].left_at = state.last_at
        return served

    async def join(self, name: str, options: TaskOptions, client: str, *, while_asked: bool = False) -> str:
        """Join a task that another process writes. When there is none, or it ends, an attended one is resumed here.

        `while_asked`: only where a person is asked something then; else it stays closed.

        Raises:
            TaskNotFound, LogDamaged
            TaskBusy: its writer lets nobody join.
            UsageError: nobody writes it, and nobody is here to go on with it.
        """
        name = self.find(name)

        async def open_here() -> Log:
            await self.resume(name, options)
            return self._open[name].task.log

        await self._attached.join(name, client, open_here if options.attended else None, while_asked=while_asked)
        return name

    def is_attached(self, name: str) -> bool:
        """Whether a task is joined that another process writes now."""
        return self._elsewhere(name) is not None

    def send(self, command: cmd.AnyCommand) -> bool:
        """Pass a command on. False when nothing waits for that decision or answer any more."""
        if attached := self._elsewhere(command.task):
            return attached.send(command)
        task = self.task(command.task)
        match command:
            case cmd.SubmitPrompt(content=content, verbatim=verbatim):
                said = content if verbatim else expand_prompt(task, content, self._words_of(task), only=True)
                task.inbox.prompt(build_prompt(self._open[command.task], said, command))
            case cmd.Steer(content=content, client=client):
                self._steering.say(task, content, self._words_of(task), client)
            case cmd.AnswerQuestion(answer=answer):
                if not task.inbox.reply(command):
                    return False
                self._steering.say_what_became(task, answer, self._words_of(task))
            case cmd.GoBack() | cmd.EditMessage() | cmd.Fork():
                self._run_errand(self._travel(command))
            case cmd.StopJob(job=job):
                return self._stop_job(task, job)
            case _:
                return apply_command(self._open[command.task], command, self.assembly)
        return True

    async def pass_on(self, command: cmd.AnyCommand) -> bool:
        """The same as `send`; the words of a prompt are read first, in a thread. Raises UsageError."""
        return self.send(await self.prepared(command) if isinstance(command, cmd.SubmitPrompt) else command)

    def words(self, workspace: Path) -> "Words":
        """The slash commands that a workspace has."""
        return slash_commands_of(workspace, self.home, self.assembly.settings)

    def _words_of(self, task: Task) -> "Callable[[], Words]":
        return lambda: self.words(Path(task.state.workspace))

    async def prepared(self, command: cmd.SubmitPrompt) -> cmd.SubmitPrompt:
        """The same with what its words became, for `send`: files are read in a thread. Raises UsageError.

        Where another process writes the task, that one reads them.
        """
        if command.verbatim:
            return command
        if attached := self._elsewhere(command.task):
            await check_prompt(command, lambda: self.words(Path(attached.state.workspace)))
            return command
        task = self.task(command.task)
        said = await expand_prompt_in_thread(task, command.content, self._words_of(task), only=True)
        return replace(command, content=said, verbatim=True)

    def only_model(self, name: str) -> str:
        """The name of an open task's model; empty when each mode has its own."""
        if attached := self._elsewhere(name):
            return attached.state.model
        names = {*self._open[name].model.names.values()}
        return names.pop() if len(names) == 1 else ""

    def efforts(self, model: str, mode: Mode) -> "Efforts":
        """How hard a model can be told to think, and what holds unless a task says otherwise."""
        from halocline.runtime.models.efforts import list_efforts

        return list_efforts(model, mode, self.assembly.settings, self.assembly.catalogue)

    async def change_model(self, name: str, model: str) -> None:
        """Ask another model from now on. Raises UsageError, also while a turn runs."""
        from halocline.runtime.models.switch import change_model

        self.task(name)
        await change_model(self._open[name], self.assembly, model)

    def events(self, name: str, after: int = 0) -> AsyncIterator[Event]:
        """The past of a task, then its live tail; of a task that another process writes, too."""
        stream = self.stream(name)
        return stream.events(after) if stream else follow_log(self.home.log(name), after)

    def stream(self, name: str) -> "Stream | None":
        """Whence the events of a task come that is open here or joined; None for others."""
        if name in self._open:
            return self._open[name].task.log
        attached = self._attached.get(name)
        return attached.stream if attached else None

    def previewed(self, name: str, after: int = 0) -> AsyncIterator[Event]:
        """The same of an open task, with how its edits look while they are written."""
        from halocline.runtime.history.previews import add_previews

        return add_previews(self.events(name, after), lambda: self.state(name), self.home)

    def past(self, name: str) -> list[DurableEvent]:
        """All that was written of a task."""
        return list(read_log(self.home.log(history.find_task(self.home.tasks, name))))

    def state(self, name: str) -> State:
        """What an open task knows now."""
        attached = self._elsewhere(name)
        return attached.state if attached else self.task(name).state

    def jobs(self, name: str) -> tuple[JobInfo, ...]:
        """The commands that an open task let go on."""
        if attached := self._elsewhere(name):
            return attached.jobs
        return self.task(name).host.shell.jobs.list()

    def job_tail(self, name: str, job: str) -> str:
        """The end of what a job printed. Raises ToolFailure when there is no such job."""
        if attached := self._elsewhere(name):
            return f"[what it prints is seen in process {attached.pid}]"
        return self.task(name).host.shell.jobs.tail(job)

    def find(self, name: str) -> str:
        """The whole id for the beginning or end of one. Raises TaskNotFound and UsageError."""
        return history.find_task(self.home.tasks, name)

    @property
    def settings(self) -> Settings:
        """What the person set."""
        return self.assembly.settings

    async def mentioned(self, name: str, text: str) -> "tuple[Mentioned, ...]":
        """What a text for an open task mentions, and how much each is."""
        if self._elsewhere(name):
            return ()
        task = self.task(name)
        return await task.host.sources.mentions.sizes((text,), task.state) if task.host.sources.mentions else ()

    @property
    def handing(self) -> "Handing":
        """What is handed over for prompts."""
        from halocline.runtime.prompts.uploads import Handing

        return Handing(self.assembly, self.task)

    def rewire(self, assembly: Assembly) -> None:
        """Use other settings, for what begins from now on."""
        self.assembly = assembly

    def checkpoints(self, workspace: Path) -> ShadowGit:
        """The saved states of a workspace."""
        return self.assembly.shadow_git(workspace, BY_HAND)

    @property
    def time(self) -> "TaskHistory":
        """The past of tasks: looking at it, going back to it, going on from it."""
        from halocline.runtime.history.actions import TaskHistory

        def switched(name: str) -> None:
            opened = self._open[name]
            switch_mode(opened.task, opened.task.state.mode, opened.model.names, self.assembly)

        return TaskHistory(
            self.home,
            lambda: {name: opened.task for name, opened in self._open.items()},
            self.assembly.shadow_git,
            switched,
        )

    async def _travel(self, command: cmd.GoBack | cmd.EditMessage | cmd.Fork) -> None:
        from halocline.runtime.history.commands import run_history_command

        await run_history_command(command, self.task(command.task), self.time, self.pass_on)

    async def refresh_models(self) -> "Refreshed":
        """Fetch the catalogue of models anew. Raises HaloclineError; then the old one stays."""
        return await self.assembly.refresh_models()

    def remarks(self, name: str) -> tuple[str, ...]:
        """What a person should hear of an open task's model, skills and search engine; mostly nothing."""
        if self._elsewhere(name):
            return ()
        said = (self.assembly.remark(self.task(name).model.name), self.assembly.search_remark)
        return (*filter(None, said), *self._open[name].remarks)

    def mcp(self, name: str) -> "Mcp | None":
        """An open task's MCP servers; None where it has none, or another process writes it."""
        return None if self._elsewhere(name) else self.task(name).host.mcp

    async def let_go(self, name: str) -> Exception | None:
        """Close one task, with its jobs, once its turn has ended; of one that another process writes only this end.

        Gives what broke it.
        """
        broke = await self._attached.let_go(name)
        opened = self._open.pop(name, None)
        return await opened.end() if opened else broke

    @property
    def key_variables(self) -> frozenset[str]:
        """The variables that hold keys: no command is given them."""
        return self.assembly.key_variables()

    def rule_problems(self, workspace: Path) -> tuple[str, ...]:
        """Which files of rules cannot be read in a workspace, and why."""
        return self.assembly.leave(workspace).book().problems

    def hooks_of(self, workspace: Path) -> "FolderHooks":
        """The hooks that are set up for a folder, and whether they may run."""
        return self.assembly.hooks_of(workspace)

    async def close(self) -> None:
        """Interrupt what runs, let every turn end, and let go of everything. Raises what broke a task."""
        lost = await self._attached.close()
        for opened in self._open.values():
            opened.task.inbox.abandon()
        await asyncio.gather(*self._errands, self._steering.close())
        served = await asyncio.gather(*(opened.serving for opened in self._open.values()), return_exceptions=True)
        while self._open:
            await self._open.popitem()[1].close()
        await self.assembly.close()
        self._program_log.close()
        for outcome in (*served, *lost):
            if isinstance(outcome, BaseException):
                raise outcome

    def _stop_job(self, task: Task, job: str) -> bool:
        """Begin to end a job; its end is an event. False when there is no such job."""
        jobs = task.host.tools.shell.jobs
        if job not in (info.name for info in jobs.list()):
            return False
        self._run_errand(jobs.stop(job))
        return True

    def _run_errand(self, errand: Coroutine[None, None, None]) -> None:
        """Begin what takes a while; its end is an event."""
        running = asyncio.create_task(errand)
        self._errands.add(running)
        running.add_done_callback(self._errands.discard)

    def _serve(
        self, name: str, task: Task, model: Chosen, remarks: tuple[str, ...] = (), said: Sequence[str] = ()
    ) -> str:
        self._program_log.attach()
        bind_runtime(task, TaskRuntime(lambda: self.assembly, self._serve, self.let_go))
        serving = asyncio.create_task(report_then_run(task, said), name=f"task {name}")
        serving.add_done_callback(lambda _: task.log.finish())
        door = asyncio.create_task(serve_socket(task, self.pass_on), name=f"door of {name}")
        self._open[name] = OpenTask(task, serving, model, door, remarks)
        return name

    def _elsewhere(self, name: str) -> "Attached | None":
        """The task as another process writes it; None when it is open here, or not at all."""
        return None if name in self._open else self._attached.get(name)

    def task(self, name: str) -> Task:
        if attached := self._elsewhere(name):
            raise UsageError(f"Process {attached.pid} runs task {name}.", "Do this there.")
        if name not in self._open:
            raise TaskNotFound(f"Task {name} is not open here.", "Resume it first.")
        return self._open[name].task
