"""The loop. One conversation: prompts go in, events come out, the log is the only memory.

What must stay true: state changes only in `emit`; every call has one end; every turn has one end with a reason.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import cached_property

from halocline.protocol.events import Durable, Event, TurnEnded, TurnStarted
from halocline.protocol.messages import StopReason, ToolCall
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import loose_ends
from halocline.protocol.waiting import wait_at_most
from halocline.task import calls
from halocline.task.compactor import Compactor
from halocline.task.context_updates import collect_updates
from halocline.task.end_checks import check_end, end_by_model
from halocline.task.held_turns import is_held
from halocline.task.inbox import InboxRequest, Prompt, Wake
from halocline.task.parts import TaskParts
from halocline.task.turn_ends import end_of, hooks_after
from halocline.task.updates.jobs import tell_of_ends

CLOSING_GRACE = 1.0
"""Seconds to wait, on close, for the checkpoint of an interrupted turn."""


class Task:
    """One conversation."""

    def __init__(self, parts: TaskParts) -> None:
        self._parts = parts
        self.log = parts.log
        self.state = parts.state
        self.inbox = parts.inbox
        self.model = parts.model
        self.context = parts.context
        self.toolset = parts.toolset
        self.checkpoints = parts.checkpoints
        self.governor = parts.governor
        self.host = parts.host
        self.home = parts.home
        self.compactor = Compactor(
            model=self.model,
            context=self.context,
            toolset=self.toolset,
            state=lambda: self.state,
            spending=self.governor.spending,
            automatic=parts.automatic_compaction,
            hooks=self.host.hooks,
        )
        self.inbox.queue.bind(self.emit, lambda: self.state.queue)
        self.governor.spending.bind(self.emit, lambda: self.state)
        if hooks := self.host.hooks:
            hooks.attach(self.emit, lambda: self.state)

    @cached_property
    def tool_calls(self) -> "calls.tool_calls.ToolCalls":
        return calls.tool_calls.ToolCalls(self._parts, self.emit, lambda: self.state)

    async def run(self) -> None:
        """Serve prompts, one turn each, until the inbox closes."""
        self.checkpoints.begin(self.emit)
        tell_of_ends(self.host.tools.shell.jobs, self.emit)
        async for asked in self.inbox.prompts():
            if not isinstance(asked, Wake):
                await (self.turn(asked) if isinstance(asked, Prompt) else self.grant(asked))
            while due := await self.inbox.queue.take_next():
                await self.turn(due)
            while request := self.inbox.take_request():
                await self.grant(request)
        self.emit(*await hooks_after(self.host.hooks, None))

    async def turn(self, prompt: Prompt) -> None:
        """Answer one prompt, or continue where another process died; always record why the turn ended."""
        hooks, is_new = self.host.hooks, self.state.turn is None
        if is_new:
            self.emit(TurnStarted(prompt.content, prompt.output_schema, prompt.turn, prompt.messages))
        try:
            async with self.inbox.interruptible(self.deadline()):
                end = (is_new and hooks and await hooks.begins()) or await self.steps()
                await self.checkpoints.settle()
        except Exception as error:
            raised, end = end_of(error, self.state)
            self.inbox.queue.end_turn()
            self.emit(*raised)
        self.emit(*loose_ends(self.state), *(await hooks_after(hooks, end)), end)
        await self.log.sync()

    async def steps(self) -> TurnEnded:
        """Ask and act until the model stops or a limit is reached."""
        while not (verdict := self.governor.verdict(self.state)) or await self.tool_calls.asking.ask_to_go_on(verdict):
            if not self.state.pending.calls and not await self.ask():
                continue  # it does not fit into a limit
            message = self.state.last_message
            await self.act([waiting.call for waiting in self.state.pending.calls])
            if await self.inbox.queue.deliver_steering():
                continue
            if self.state.turn_is_over or not message.tool_calls:
                self.emit(*check_end(self.state, self.toolset))
                if not await is_held(self._parts, self.emit, lambda: self.state, lambda: self.tool_calls.goal.check()):
                    return end_by_model(self.state, self.toolset)
        return TurnEnded(reason=StopReason.MAX_TURN_REQUESTS, limit=verdict.limit, text=verdict.text)

    async def ask(self) -> bool:
        """Make one request, and emit the reply as it streams. Return False if it does not fit into a limit."""
        self.emit(*await collect_updates(self.state, self.host, self.context))
        async for event in self.compactor.reply(self.inbox.take_request()):
            self.emit(event)
        return self.governor.spending.refused is None

    async def act(self, wanted: Sequence[ToolCall]) -> None:
        """Run the calls, read-only ones in parallel and others one by one; every call gets a result."""
        for batch in self.toolset.batches(wanted, self.state):
            ready = [run for call in batch if (run := await self.tool_calls.prepare(call))]
            try:
                async with asyncio.TaskGroup() as group:
                    for run in ready:
                        group.create_task(self.tool_calls.perform(run))
            finally:  # an interrupted call may have changed files, too
                for run in [run for run in ready if run.tool.edits][:1]:
                    self.checkpoints.take(run.summary.title, run.may_change)

    async def grant(self, request: InboxRequest) -> None:
        """Compact the conversation, or undo that, between two turns."""
        try:
            async with self.inbox.interruptible():
                async for event in self.compactor.grant(request):
                    self.emit(event)
        except Exception as error:
            self.inbox.queue.hold()
            self.emit(*end_of(error, self.state)[0])
        self.emit(*loose_ends(self.state))

    async def close(self) -> None:
        """Close all parts, even if one fails, then drop them: only the log and the state stay.

        They hold `emit`, and so the task: a garbage collection of many ended tasks would stop the event loop.
        """
        async with AsyncExitStack() as parts:
            parts.callback(self._drop_parts)
            parts.callback(self.log.close)
            for part in (self.model, self.host, self.checkpoints):
                parts.push_async_callback(part.close)
            await wait_at_most(CLOSING_GRACE, self.checkpoints.settle())

    def _drop_parts(self) -> None:
        for part in vars(self).keys() - {"log", "state"}:
            delattr(self, part)

    def deadline(self) -> float | None:
        """Return the seconds until the turn is cut off; None if the user can be asked instead, between steps."""
        return None if self.inbox.may_extend else self.governor.seconds_left(self.state)

    def emit(self, *events: Event) -> None:
        """Write events to the log, then apply them: the only place where state changes."""
        for event in events:
            event = self.log.append(event) if isinstance(event, Durable) else self.log.show(event)
            self.state = reduce_event(self.state, event)
