"""Queries on tasks: everything that surfaces read of them. Nothing here changes a task.

Most tasks are open in this process. Of one that another process runs, what only that process knows is left out.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from halocline.protocol.errors import TaskNotFound
from halocline.protocol.events import DurableEvent, Event
from halocline.protocol.events.jobs import JobInfo
from halocline.protocol.plan_approval import needs_person
from halocline.protocol.state.state import State
from halocline.runtime import history, parts, prompts
from halocline.runtime.controller import Controller
from halocline.store.tasks.history import find_task
from halocline.task.log import follow_log, read_past, settle_log

if TYPE_CHECKING:
    from halocline.edits.proposals import ProposedText
    from halocline.ports.host import Files
    from halocline.ports.mcp import Mcp, McpPrompt, McpStanding
    from halocline.protocol.events import ApprovalRequested, EditPreviewed
    from halocline.protocol.events.mentions import Mentioned
    from halocline.protocol.messages import UserPart
    from halocline.protocol.values import JsonObject
    from halocline.runtime.history.edits_in_progress import EditProgress
    from halocline.task.stream import Caught

E = TypeVar("E")


class TaskQueries:
    """Queries on the tasks of a controller."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self.home = controller.home

    def work_in(self, *folders: Path) -> None:
        """Name folders in which the person works. Tasks whose folder was renamed to one of them belong there."""
        self._controller.here = self._controller.here.adding(*folders)

    def find(self, name: str) -> str:
        """Return the full id for the start or end of one. Raises TaskNotFound and UsageError."""
        return find_task(self.home.tasks, name)

    def is_open(self, task: str) -> bool:
        """True if the task is open in this process, or attached."""
        return self._controller.stream(task) is not None

    def is_attached(self, task: str) -> bool:
        """True if another process runs the task now. It turns False when this process takes over."""
        return self._controller.attached(task) is not None

    def is_at_rest(self, task: str) -> bool:
        """True if a task that is open here does nothing, waits for nothing, and no other client takes part in it."""
        opened = self._controller.task(task)
        state, inbox = opened.state, opened.inbox
        is_idle = inbox.is_idle and not inbox.has_peers and state.turn is None and state.compaction.running is None
        is_idle = is_idle and not state.queue.waits
        return is_idle and not needs_person(state, is_open=True)

    def is_judging(self, task: str, request: str) -> bool:
        """True if the judge of a task that is open here looks at an approval first, or gave it."""
        return self._controller.task(task).inbox.is_judging(request)

    def state(self, task: str) -> State:
        """Return the current state of an open task."""
        attached = self._controller.attached(task)
        return attached.state if attached else self._controller.task(task).state

    def past(self, task: str) -> list[DurableEvent]:
        """Return all durable events of a task, open or not."""
        return list(self.read_past(task))

    def read_past(self, task: str) -> Iterator[DurableEvent]:
        """Yield the same events as they are read: a task may be large."""
        whole = self.find(task)
        return read_past(self.home.task(whole), whole)

    def events(self, task: str, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events after sequence number `after`, then live ones, without a gap."""
        stream = self._controller.stream(task)
        if stream is None:
            settle_log(self.home.task(task), task)
        return stream.events(after) if stream else follow_log(self.home.log(task), after)

    def previewed(self, task: str, after: int = 0) -> AsyncIterator[Event]:
        """Yield events as `events` does, plus an `EditPreviewed` for each line of an edit while it is written."""
        return self._with_previews(task, self.events(task, after))

    def live(self, task: str, after: int = 0) -> "AsyncIterator[Event | Caught]":
        """Yield the events of an open task. Where the past ends, yield a tuple that repeats what is in progress.

        Raises TaskNotFound.
        """
        if (stream := self._controller.stream(task)) is None:
            raise TaskNotFound(f"Task {task} is not open here.", "Resume it first.")
        return self._with_previews(task, stream.with_catching_up(after))

    def jobs(self, task: str) -> tuple[JobInfo, ...]:
        """Return an open task's background commands, including those that ended recently."""
        if attached := self._controller.attached(task):
            return attached.jobs
        return self._controller.task(task).host.tools.shell.jobs.list()

    def job_tail(self, task: str, job: str) -> str:
        """Return the end of a job's output. Raises ToolFailure if there is no such job."""
        if attached := self._controller.attached(task):
            return f"[its output is only visible in process {attached.pid}]"
        return self._controller.task(task).host.tools.shell.jobs.tail(job)

    def job_screen(self, task: str, job: str) -> str:
        """Return more of the end of a job's output with its colors. Raises ToolFailure if there is no such job."""
        if attached := self._controller.attached(task):
            return f"[its output is only visible in process {attached.pid}]"
        return self._controller.task(task).host.tools.shell.jobs.screen(job)

    def running(self, task: str) -> tuple[str, ...]:
        """Return an open task's commands that still run. They end with the task."""
        if self.is_attached(task):
            return ()
        own = (running.command for running in self.state(task).user_commands.running)
        return (*own, *(job.command for job in self.jobs(task) if job.state != "ended"))

    def only_model(self, task: str) -> str:
        """Return the name of an open task's model; empty if each mode has its own."""
        if attached := self._controller.attached(task):
            return attached.state.model.name
        names = {*self._controller.opened(task).model.names.values()}
        return names.pop() if len(names) == 1 else ""

    def remarks(self, task: str) -> tuple[str, ...]:
        """Return notices about an open task's model, skills and search engine; usually none."""
        if self.is_attached(task):
            return ()
        opened = self._controller.opened(task)
        assembly = self._controller.assemblies.of_task(opened.task.state)
        notices = (assembly.remark(opened.task.model.name), assembly.search_remark)
        return (*filter(None, notices), *opened.remarks)

    async def mentioned(self, task: str, text: str) -> "tuple[Mentioned, ...]":
        """Return the `@` mentions in a text for an open task, each with its approximate token count."""
        if self.is_attached(task):
            return ()
        here = self._controller.task(task)
        return await here.host.sources.mentions.sizes((text,), here.state) if here.host.sources.mentions else ()

    async def check_edit_conflict(self, task: str, request: str) -> "history.edit_conflicts.PendingEdit":
        """Check whether files of an edit changed since it was shown for approval. Works only where the task runs."""
        if self.is_attached(task) or not self.is_open(task):
            return history.edit_conflicts.PendingEdit()
        return await history.edit_conflicts.inspect_edit(self._controller.task(task), request)

    async def list_edits_ahead(self, task: str, request: str) -> "tuple[ApprovalRequested, ...]":
        """Return the edits that will be asked about after this one in its reply. Works only where the task runs."""
        if self.is_attached(task) or not self.is_open(task):
            return ()
        return await history.edits_ahead.list_edits_ahead(self._controller.task(task), request)

    def edits(self, task: str) -> "AsyncIterator[EditProgress]":
        """Yield the edits of an open task as whole texts while they are written and wait, until the task closes."""
        return history.edits_in_progress.follow_edits(
            self.events(task, self.state(task).seq), lambda: self.state(task), self.home, self._files(task)
        )

    async def read_edit(self, task: str, request: str) -> "tuple[ProposedText, ...]":
        """Return the files of a waiting edit before and after it; empty if one of them cannot be shown exactly."""
        return await history.proposed_edits.read_proposed_texts(self.state(task), request, self._files(task))

    async def rewrite_edit(self, task: str, request: str, wanted: "Mapping[str, str | None]") -> "JsonObject | None":
        """Return arguments that make a waiting edit write these texts by path; None if no exact ones exist."""
        return await history.proposed_edits.rewrite_edit(self.state(task), request, wanted, self._files(task))

    def _with_previews(self, task: str, events: AsyncIterator[E]) -> "AsyncIterator[E | EditPreviewed]":
        return history.previews.add_previews(events, lambda: self.state(task), self.home, self._files(task))

    def _files(self, task: str) -> "Files":
        """Return the files as a task reads them that is open here, with unsaved text; for others, those on disk."""
        is_here = self.is_open(task) and not self.is_attached(task)
        return self._controller.task(task).host.tools.files if is_here else parts.files.build_reading_files()

    def mcp_prompts(self, task: str) -> "list[McpPrompt]":
        """Return the prompts of an open task's MCP servers. `command` has no leading slash."""
        mcp = self._mcp_of(task)
        return mcp.prompts() if mcp else []

    def mcp_standings(self, task: str) -> "list[McpStanding]":
        """Return the status of an open task's MCP servers."""
        mcp = self._mcp_of(task)
        return mcp.standings() if mcp else []

    async def mcp_prompt(self, task: str, typed: str) -> "tuple[UserPart, ...]":
        """Return the parts that `/mcp:server:prompt values` inserts before itself; send that prompt `verbatim`.

        Raises:
            UsageError
        """
        return await prompts.mcp_prompts.expand_mcp_prompt(self._mcp_of(task), typed)

    def _mcp_of(self, task: str) -> "Mcp | None":
        """Return an open task's MCP servers; None if it has none, or another process runs it."""
        return None if self.is_attached(task) else self._controller.task(task).host.tools.mcp
