"""A task that a program controls over standard input: lines in, events out, one result object per turn.

The program that holds the pipe decides approvals and answers questions. When its input ends, no one can any more, and
the session ends after the turns that it started.
"""

import asyncio
import time
from uuid import uuid4

from msgspec.structs import replace

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev, json_output
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.messages import Text, UserPart
from halocline.protocol.values import JsonObject
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.cli.exit_codes import ExitCode, of_state
from halocline.surfaces.cli.plain.json_results import StreamJson, write_line
from halocline.surfaces.cli.session.closing import CLOSING_TIME
from halocline.surfaces.cli.session.signals import handle_signals
from halocline.surfaces.cli.stream_input.lines import InputError, Line, SetModel, TextBlock, User, parse_line
from halocline.surfaces.cli.stream_input.reader import read_lines

TOO_LATE = "Too late: nothing waits for this any more."


class StreamSession:
    """One task; its prompts must be answered according to `schema`, if there is one."""

    def __init__(self, client: Client, task: str, view: StreamJson, schema: JsonObject | None) -> None:
        self._client = client
        self._task = task
        self._view = view
        self._schema = schema
        self._shown = 0
        self._sent: set[str] = set()
        self._turn = ""
        self._began = time.monotonic()
        self._code = ExitCode.FINISHED
        self._moved = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._stopped = False

    async def run(self, after: int) -> int:
        """Serve the input to its end and print the events after the given one.

        Return the exit code of the last turn.
        """
        self._shown = after
        self._client.offer_answers(self._task)
        self._reading = asyncio.create_task(self._read_commands())
        showing = asyncio.create_task(self._show_events(after))
        try:
            with handle_signals(lambda _: self._stop()):
                await asyncio.wait([self._reading, showing], return_when=asyncio.FIRST_COMPLETED)
                self._client.withdraw_answers(self._task)
                await self._settle(showing)
        finally:
            ends = await end_tasks(self._reading, showing)
        for end in ends:
            if isinstance(end, Exception):
                raise end
        return ExitCode.INTERRUPTED if self._stopped else self._code

    async def _settle(self, showing: "asyncio.Task[None]") -> None:
        """Wait until every turn has ended and all events are shown; after a signal, for a bounded time."""
        while not (showing.done() or self._is_idle()):
            self._moved.clear()
            moved = asyncio.create_task(self._moved.wait())
            limit = CLOSING_TIME if self._stopped else None
            try:
                done, _ = await asyncio.wait([moved, showing], timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await end_tasks(moved)
            if not done and self._stopped:
                return

    def _is_idle(self) -> bool:
        state = self._client.state(self._task)
        return state.turn is None and not self._sent and self._shown >= state.seq

    def _stop(self) -> None:
        """End the turn and the session because of a signal."""
        self._stopped = True
        self._client.abandon(self._task)
        if self._reading:
            self._reading.cancel()
        self._moved.set()

    async def _show_events(self, after: int) -> None:
        async for event in self._client.events(self._task, after):
            self._view.show(event)
            match event:
                case ev.TurnStarted(name=name):
                    self._turn, self._began = name, time.monotonic()
                case ev.TurnEnded():
                    self._end_turn()
            if isinstance(event, ev.Durable):
                self._shown = event.seq
            self._moved.set()

    def _end_turn(self) -> None:
        state = self._client.state(self._task)
        self._sent.discard(self._turn)
        if held := tuple(one.id for one in state.queue.held if one.turn in self._sent) if not self._stopped else ():
            self._client.send(cmd.SendQueued(task=self._task, messages=held))  # the program wrote each of its lines
        self._turn, self._code = "", of_state(state)
        self._view.result(state, time.monotonic() - self._began)
        self._view.begin_turn()

    async def _read_commands(self) -> None:
        """Carry out each line in order. One that cannot be is reported, and the next ones are read."""
        number = 0
        async for line in read_lines():
            number += 1
            try:
                await self._carry_out(parse_line(line, self._task))
            except HaloclineError as error:
                write_line(json_output.encode(InputError(number, error.text, error.hint)))

    async def _carry_out(self, line: Line) -> None:
        """Send a line to the task. Raises HaloclineError."""
        match line:
            case SetModel(model=model):
                await self._client.change_model(self._task, model)
            case User():
                await self._submit(cmd.SubmitPrompt(task=self._task, content=await self._read_content(line)))
            case cmd.SubmitPrompt(task=self._task):
                await self._submit(line)
            case _:
                if not await self._client.pass_on(line):
                    raise UsageError(TOO_LATE)

    async def _submit(self, command: cmd.SubmitPrompt) -> None:
        name = command.turn or uuid4().hex
        prepared = await self._client.prepared(
            replace(command, turn=name, output_schema=command.output_schema or self._schema)
        )
        self._client.send(prepared)
        self._sent.add(name)

    async def _read_content(self, line: User) -> tuple[UserPart, ...]:
        parts: list[UserPart] = []
        for block in line.message.blocks:
            if isinstance(block, TextBlock):
                parts.append(Text(block.text))
            else:
                parts += await self._client.attach(self._task, "image", block.decode())
        return tuple(parts)
