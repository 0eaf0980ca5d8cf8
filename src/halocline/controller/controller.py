"""The hall: owns the tasks that are open in this process, and passes commands to them.

Commands are answered by events; queries return a value and change nothing. Whatever a person sends arrives here,
whichever window they look through.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from halocline._version import __version__
from halocline.checkpoints.restore import Restored
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.context.environment import environment
from halocline.context.skills import found_skills, listed
from halocline.context.system_prompt import system_prompt
from halocline.controller.assembly import Assembly
from halocline.controller.attachments import Attachments
from halocline.controller.model_list import OfferedModel
from halocline.controller.open_task import OpenTask, given_back_on_failure, kept_open, mended_then_run
from halocline.controller.program_log import ProgramLog
from halocline.ports.model import Model
from halocline.protocol import commands as cmd
from halocline.protocol.errors import TaskBusy, TaskNotFound, UsageError
from halocline.protocol.events import (
    ApprovalMode,
    CheckpointRestored,
    DurableEvent,
    Event,
    JobEnded,
    JobsReported,
    Mode,
    ModeChanged,
    ModelChanged,
    PageShown,
    PolicyChanged,
    ShellMoved,
    TaskLabelled,
    TaskStarted,
    ToolsOffered,
    TurnEnded,
)
from halocline.protocol.instructions import Beginning
from halocline.protocol.jobs import JobInfo
from halocline.protocol.messages import Note, StopReason
from halocline.protocol.state import PROCESS_ENDED, State, fold, loose_ends
from halocline.protocol.values import JsonObject, Value
from halocline.providers.switching import name_in
from halocline.store import history
from halocline.task import lock
from halocline.task.inbox import Prompt, Wish
from halocline.task.judging import posture
from halocline.task.log import Log, follow, read
from halocline.task.task import Task

if TYPE_CHECKING:
    from halocline.controller.accounts import Accounts
    from halocline.controller.attached import Attached
    from halocline.controller.connection_test import Connection
    from halocline.controller.hooks import FolderHooks
    from halocline.controller.replay import Replay
    from halocline.controller.task_desk import TaskDesk
    from halocline.providers.catalogue_refresh import Refreshed
    from halocline.store.recording import Recording

GONE = "its process was killed"
"""Why a job ended that a task had when it was opened again."""
BY_HAND = "by-hand"
"""Whose a checkpoint is when no task took it."""


class TaskOptions(Value, frozen=True):
    """What a person chose for a task. None takes the settings' value, or leaves a resumed task as it was.

    `record` names a new file for a recording; `trusted` lets the folder's hooks run this time.
    """

    model: str | None = None
    mode: Mode | None = None
    approval_mode: ApprovalMode | None = None
    attended: bool = False
    trusted: bool = False
    record: Path | None = None


class Controller:
    """Open tasks by id."""

    def __init__(self, assembly: Assembly) -> None:
        self.home = assembly.home
        self._assembly = assembly
        self._open: dict[str, OpenTask] = {}
        self._attached = Attachments(assembly.home, self.send)
        self._program_log = ProgramLog(assembly.home.logs)
        self._errands: set[asyncio.Task[None]] = set()

    async def start(self, workspace: Path, options: TaskOptions, name: str = "") -> str:
        """Begin a task and give its id. Nothing is written before the model is known to be usable.

        `name` is the id that another task, which handed over to it, has given it.
        """
        model = await self._assembly.model(options.model or "")
        names = {mode: name_in(mode, model) for mode in Mode}
        recorder = self._assembly.recorder(options.record) if options.record else None
        name = name or history.new_task_id()
        skills = found_skills(workspace)
        mode = options.mode or Mode.ACT
        with given_back_on_failure(Log(self.home.task(name), name)) as log:
            if recorder:
                model = self._assembly.recorded(model, recorder, log, ())
            task = self._assembly.task(
                log, State(), workspace, model, attended=options.attended, trusted=options.trusted
            )
            rules = task.machine.instructions.begins() if task.machine.instructions else Beginning()
            started = TaskStarted(
                workspace=str(workspace),
                model=names[mode],
                mode=mode,
                approval_mode=options.approval_mode or self._assembly.settings.approval_mode,
                system_prompt=system_prompt(workspace, listed(skills.skills)) + rules.section,
                version=__version__,
            )
            task.emit(started, *([rules.event] if rules.event else []))
            _offer(task, self._assembly.offered(task.state, options.attended, {"use_skill"} if skills.skills else ()))
        return self._serve(name, task, names, (*skills.skipped, *rules.remarks))

    async def resume(self, name: str, options: TaskOptions) -> str:
        """Open a task again. What a crash left open is closed first; nothing is run again by itself.

        Raises:
            TaskBusy, TaskNotFound, LogDamaged
        """
        name = history.find(self.home.tasks, name)
        with given_back_on_failure(Log(self.home.task(name), name)) as log:
            past = log.load()
            state = fold(past)
            if not state.workspace:
                raise TaskNotFound(f"The log of task {name} has no beginning.", "It cannot be resumed.")
            model = await (self._assembly.model(options.model) if options.model else self._model_of(state))
            names = {mode: name_in(mode, model) for mode in Mode}
            if options.record:
                model = self._assembly.recorded(model, self._assembly.recorder(options.record), log, past)
            place = Path(state.workspace)
            task = self._assembly.task(log, state, place, model, attended=options.attended, trusted=options.trusted)
            task.emit(*loose_ends(state))
            if state.turn is not None:
                task.emit(TurnEnded(reason=StopReason.CANCELLED, text=PROCESS_ENDED))
            _begin_anew(task)
            self._adjust(task, options, names)
            _offer(task, self._assembly.offered(task.state, options.attended, task.state.offered))
        return self._serve(name, task, names)

    async def attach(self, name: str, options: TaskOptions, client: str) -> str:
        """Join a task that another process writes. When there is none, or it ends, an attended one is resumed here.

        Raises:
            TaskNotFound, LogDamaged
            TaskBusy: its writer lets nobody join.
            UsageError: nobody writes it, and nobody is here to go on with it.
        """
        name = self.find(name)

        async def open_here() -> Log:
            await self.resume(name, options)
            return self._open[name].task.log

        await self._attached.join(name, client, open_here if options.attended else None)
        return name

    def is_attached(self, name: str) -> bool:
        """Whether a task is joined that another process writes now."""
        return self._elsewhere(name) is not None

    def writer(self, name: str) -> str:
        """The pid of another process that has a task open; empty when none has."""
        owner = lock.owner(self.home.task(name)) if name not in self._open else None
        return (owner or "").partition(" ")[0]

    def send(self, command: cmd.AnyCommand) -> bool:
        """Pass a command on. False when nothing waits for that decision or answer any more."""
        if attached := self._elsewhere(command.task):
            return attached.send(command)
        task = self._task(command.task)
        match command:
            case cmd.SubmitPrompt(content=content, output_schema=schema, tool=tool):
                now = datetime.now().astimezone()
                note = environment(task.state, Path(task.state.workspace), now)
                task.inbox.prompt(Prompt((*content, note, *_wanted(task, tool), *_form(schema)), schema))
            case cmd.Steer(content=content):
                task.inbox.steer(content)
            case cmd.Interrupt():
                task.inbox.interrupt()
            case cmd.ResolveApproval():
                return task.inbox.resolve(command)
            case cmd.AnswerQuestion():
                return task.inbox.reply(command)
            case cmd.SetMode(mode=mode):
                _switch(task, mode, self._open[command.task].models)
            case cmd.SetPolicy(approval_mode=approval_mode):
                task.emit(PolicyChanged(approval_mode=approval_mode))
            case cmd.Compact(focus=focus, undo=undo):
                task.inbox.wish(Wish(focus, undo))
            case cmd.LeaveRunning():
                return task.machine.shell.leave()
            case cmd.StopJob(job=job):
                return self._stop_job(task, job)
            case cmd.Label(name=name, tags=tags, favourite=favourite):
                task.emit(TaskLabelled(name=name, tags=tags, favourite=favourite))
            case cmd.CloseTask():
                task.inbox.close()
        return True

    def events(self, name: str, after: int = 0) -> AsyncIterator[Event]:
        """The past of a task, then its live tail; of a task that another process writes, too."""
        if attached := self._elsewhere(name):
            return attached.stream.events(after)
        if name in self._open:
            return self._open[name].task.log.events(after)
        return follow(self.home.log(name), after)

    def previewed(self, name: str, after: int = 0) -> AsyncIterator[Event]:
        """The same of an open task, with how its edits look while they are written."""
        from halocline.controller.grounds import looking
        from halocline.controller.previews import readable_text, with_previews

        files = looking()
        return with_previews(
            self.events(name, after),
            lambda path: readable_text(path, posture(self.state(name), self.home.root), files),
        )

    def past(self, name: str) -> list[DurableEvent]:
        """All that was written of a task."""
        return list(read(self.home.log(history.find(self.home.tasks, name))))

    def state(self, name: str) -> State:
        """What an open task knows now."""
        attached = self._elsewhere(name)
        return attached.state if attached else self._task(name).state

    def jobs(self, name: str) -> tuple[JobInfo, ...]:
        """The commands that an open task let go on."""
        if attached := self._elsewhere(name):
            return attached.jobs
        return self._task(name).machine.shell.jobs.list()

    def job_tail(self, name: str, job: str) -> str:
        """The end of what a job printed. Raises ToolFailure when there is no such job."""
        if attached := self._elsewhere(name):
            return f"[what it prints is seen in process {attached.pid}]"
        return self._task(name).machine.shell.jobs.tail(job)

    def find(self, name: str) -> str:
        """The whole id for the beginning or end of one. Raises TaskNotFound and UsageError."""
        return history.find(self.home.tasks, name)

    async def label(self, command: cmd.Label, client: str) -> None:
        """Name or mark a task, whoever writes it. Raises HaloclineError when its writer cannot be reached."""
        if command.task in self._open:
            self.send(command)
        else:
            await self.desk.label(command, client)

    @property
    def desk(self) -> "TaskDesk":
        """Labels and the trash: what is done with tasks that nobody has open here."""
        from halocline.controller.task_desk import TaskDesk

        return TaskDesk(self.home, self._assembly.settings.keep_deleted)

    def checkpoints(self, workspace: Path) -> ShadowGit:
        """The saved states of a workspace."""
        return self._assembly.shadow_git(workspace, BY_HAND)

    async def restore(self, workspace: Path, target: str) -> Restored:
        """Put files back to a checkpoint; the log of its task says so, unless it is gone or open elsewhere."""
        found = [info for info in await self.checkpoints(workspace).list() if info.is_named(target)]
        task = found[0].task if found else BY_HAND
        restored = await self._assembly.shadow_git(workspace, task).restore(target)
        with suppress(TaskNotFound, TaskBusy):
            self._note(self.find(task), restored)
        return restored

    def _note(self, name: str, restored: Restored) -> None:
        note = CheckpointRestored(checkpoint=restored.checkpoint, undo=restored.undo, changed=restored.changed)
        if name in self._open:
            self._open[name].task.emit(note)
            return
        with closing(Log(self.home.task(name), name)) as log:
            log.load()
            log.append(note)

    async def replay(self, what: str, *, strict: bool, folder: Path | None) -> "Replay":
        """Run a recording, or a task of this home, again. Raises UsageError, TaskNotFound and RecordingDamaged."""
        from halocline.controller.replay import replay

        return await replay(self._recording(what), self._assembly, strict=strict, folder=folder)

    def _recording(self, what: str) -> "Recording":
        from halocline.store.recording import Recording, read_recording

        return read_recording(Path(what)) if Path(what).is_file() else Recording(tuple(self.past(what)))

    async def models(self) -> list[OfferedModel]:
        """The models that could be used here. Local servers are asked."""
        return await self._assembly.models()

    async def refresh_models(self) -> "Refreshed":
        """Fetch the catalogue of models anew. Raises HaloclineError; then the old one stays."""
        return await self._assembly.refresh_models()

    def remarks(self, name: str) -> tuple[str, ...]:
        """What a person should hear of an open task's model, skills and search engine; mostly nothing."""
        if self._elsewhere(name):
            return ()
        said = (self._assembly.remark(self._task(name).model.name), self._assembly.search_remark)
        return (*filter(None, said), *self._open[name].remarks)

    async def connection(self, model: str) -> "Connection":
        """How far the way to a model goes. Raises UsageError and SecretsError."""
        return await self._assembly.connection(model)

    @property
    def accounts(self) -> "Accounts":
        """The providers' keys."""
        return self._assembly.accounts

    async def let_go(self, name: str) -> None:
        """Close one task, with its jobs, once its turn has ended; of one that another process writes only this end."""
        await self._attached.let_go(name)
        if opened := self._open.pop(name, None):
            opened.task.inbox.close()
            await opened.serving
            await opened.close()

    def may_run_code(self, workspace: Path) -> bool:
        """Whether a folder might have hooks of its own; quickly told."""
        return self._assembly.may_run_code(workspace)

    def hooks_of(self, workspace: Path) -> "FolderHooks":
        """The hooks that are set up for a folder, and whether they may run."""
        return self._assembly.hooks_of(workspace)

    async def close(self) -> None:
        """Interrupt what runs, let every turn end, and let go of everything. Raises what broke a task."""
        lost = await self._attached.close()
        for opened in self._open.values():
            opened.task.inbox.abandon()
        await asyncio.gather(*self._errands)
        served = await asyncio.gather(*(opened.serving for opened in self._open.values()), return_exceptions=True)
        for opened in self._open.values():
            await opened.close()
        self._open.clear()
        self._program_log.close()
        for outcome in (*served, *lost):
            if isinstance(outcome, BaseException):
                raise outcome

    def _stop_job(self, task: Task, job: str) -> bool:
        """Begin to end a job; its end is an event. False when there is no such job."""
        jobs = task.machine.shell.jobs
        if job not in (info.name for info in jobs.list()):
            return False
        errand = asyncio.create_task(jobs.stop(job))
        self._errands.add(errand)
        errand.add_done_callback(self._errands.discard)
        return True

    async def _model_of(self, state: State) -> Model:
        """The model that a resumed task goes on with. Raises UsageError."""
        if self._assembly.settings.plan.model:
            with suppress(UsageError):
                chosen = await self._assembly.model("")
                if state.model in (name_in(mode, chosen) for mode in Mode):
                    return chosen
        return await self._assembly.model(state.model)

    def _serve(self, name: str, task: Task, models: Mapping[Mode, str], remarks: tuple[str, ...] = ()) -> str:
        self._program_log.attach()
        serving = asyncio.create_task(mended_then_run(task), name=f"task {name}")
        serving.add_done_callback(lambda _: task.log.finish())
        door = asyncio.create_task(kept_open(task, self.send), name=f"door of {name}")
        self._open[name] = OpenTask(task, serving, models, door, remarks)
        return name

    def _adjust(self, task: Task, options: TaskOptions, models: Mapping[Mode, str]) -> None:
        _switch(task, options.mode or task.state.mode, models)
        if options.approval_mode not in (None, task.state.approval_mode):
            task.emit(PolicyChanged(approval_mode=options.approval_mode))

    def _elsewhere(self, name: str) -> "Attached | None":
        """The task as another process writes it; None when it is open here, or not at all."""
        return None if name in self._open else self._attached.get(name)

    def _task(self, name: str) -> Task:
        if name not in self._open:
            raise TaskNotFound(f"Task {name} is not open here.", "Resume it first.")
        return self._open[name].task


def _switch(task: Task, mode: Mode, models: Mapping[Mode, str]) -> None:
    """Go on in a mode, with its model."""
    if models[mode] != task.state.model:
        task.emit(ModelChanged(model=models[mode]))
    if mode is not task.state.mode:
        task.emit(ModeChanged(mode=mode))


def _offer(task: Task, tools: Iterable[str]) -> None:
    """Let the model have these tools from now on, beside those of every task."""
    if (names := frozenset(tools)) != task.state.offered:
        task.emit(ToolsOffered(tools=tuple(sorted(names))))


def _wanted(task: Task, tool: str) -> tuple[Note, ...]:
    """Offer the tool that a person asks for, and say so to the model."""
    if not tool:
        return ()
    from halocline.context.tool_requests import tool_request

    _offer(task, task.state.offered | {tool})
    return (tool_request(tool),)


def _begin_anew(task: Task) -> None:
    """The process that ran the task is gone, and with it its jobs and what its shell had changed."""
    from halocline.context.job_notes import begun_anew

    if note := begun_anew(task.state):
        gone = (JobEnded(job=job.job, command=job.command, stopped=GONE) for job in task.state.jobs)
        moved = task.state.shell.cwd or task.state.shell.exported
        if task.state.page:
            task.emit(PageShown())
        task.emit(*gone, *([ShellMoved()] if moved else []), JobsReported(content=(note,)))


def _form(schema: JsonObject | None) -> tuple[Note, ...]:
    """What is said of the form of an answer, when it has to have one."""
    if schema is None:
        return ()
    from halocline.context.answer_form import answer_form

    return (answer_form(schema),)
