"""One opened task: its events as they happen, folded into rows and state, and what a person sends to it.

The task is read while no process runs it, and joined while one does; it is opened here only when a person acts on it.
"""

from collections.abc import Callable
from functools import reduce

from msgspec.structs import replace

from halocline.client import MCP_PREFIX, Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Text
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.surfaces.rows import fold_event, transcript_of
from halocline.surfaces.slash.queue import withdraw_message
from halocline.surfaces.transcript import Transcript, drop_transient
from halocline.surfaces.web.open_tasks import OpenTasks
from halocline.surfaces.web.task_watch import EventBatch, watch_task


class TaskFeed:
    """The rows and the state of a task. `on_change` is called after each batch of events."""

    def __init__(self, tasks: OpenTasks, task: str, on_change: Callable[[], None]) -> None:
        self.task = task
        self.transcript = Transcript()
        self.state = State()
        self.is_read = False
        self._tasks = tasks
        self._on_change = on_change
        self._past: list[ev.Event] = []

    @property
    def client(self) -> Client:
        return self._tasks.client

    @property
    def is_subagent(self) -> bool:
        """True for a task that another one started."""
        return self.state.subagents.subtask is not None

    @property
    def is_open(self) -> bool:
        """True while some process runs the task."""
        return self.client.is_open(self.task)

    @property
    def is_running(self) -> bool:
        """True while a turn runs."""
        return self.is_open and self.state.turn is not None and not self.state.turn_is_over

    async def follow(self) -> None:
        """Take in events until canceled. Raises HaloclineError when the task cannot be read."""
        async for batch in watch_task(self._tasks, self.task, 0):
            self._take(batch)
            if self.is_read:
                self._on_change()

    def _take(self, batch: EventBatch) -> None:
        """Fold a batch; all of the past at once, which is faster."""
        if batch.fresh:
            self._drop_transient()
        if not self.is_read:
            self._past += batch.events
            if batch.live:
                self.transcript = transcript_of(self._past)
                self.state = reduce(reduce_event, self._past, State())
                self.is_read, self._past = True, []
            return
        for event in batch.events:
            self.transcript = fold_event(self.transcript, event)
            self.state = reduce_event(self.state, event)

    def _drop_transient(self) -> None:
        """Forget what is sent again: the unfinished reply, and the output of calls that run."""
        self.transcript = drop_transient(self.transcript)
        self.state = replace(self.state, draft=None)

    async def open(self) -> None:
        """Open the task here, or join the process that runs it. Raises HaloclineError."""
        if not self.is_open:
            await self._tasks.open(self.task)

    async def send_prompt(self, text: str) -> None:
        """Send a prompt: during a turn before its next step, else as the next turn. Raises HaloclineError."""
        await self.open()
        ahead = await self.client.mcp_prompt(self.task, text) if text.startswith(f"/{MCP_PREFIX}") else ()
        content = (*ahead, Text(text))
        if self.is_running:
            await self.client.deliver(cmd.Steer(task=self.task, content=content))
        else:
            prompt = cmd.SubmitPrompt(task=self.task, content=content, verbatim=bool(ahead))
            await self.client.pass_on(prompt)

    async def send_waiting(self) -> None:
        """Send the next message that waits for the end of the turn or for a person. Raises HaloclineError."""
        if first := self.state.queue.next_for_person:
            await self.open()
            self.client.send(cmd.SendQueued(task=self.task, messages=(first.id,), steer=self.is_running))

    async def take_waiting(self) -> str:
        """Take the last message that waits out of the queue. Returns its words; empty if it was sent before.

        Raises HaloclineError, also for a message with attachments, which this composer cannot hold.
        """
        last = next(iter(self.state.queue.messages[::-1]), None)
        if last is None:
            return ""
        if last.attachments:
            raise UsageError("This message has attachments.", f"Edit it there: halo attach {self.task}")
        await self.open()
        return last.text if await withdraw_message(self.client, self.task, last) else ""

    def interrupt(self) -> bool:
        """Interrupt the turn; False if none runs."""
        turn = self.state.turn
        if not self.is_open or turn is None or self.state.turn_is_over:
            return False
        self.client.send(cmd.Interrupt(task=self.task, turn=turn.seq))
        return True
