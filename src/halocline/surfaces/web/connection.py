"""One connected page: answers its requests, and sends the events of watched tasks in batches.

A batch is sent at most every 33 ms, however fast a model writes. A slow or busy page delays only itself: its events
wait in the bounded queue of its subscription, which falls back to the log on overflow, and no more requests are read
than are being answered.
"""

import asyncio
import os
from contextlib import suppress
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from halocline._version import __version__
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.events import Durable, Event, ToolCallDelta
from halocline.runtime.event_batches import MOST, batch_events
from halocline.surfaces.web import wire
from halocline.surfaces.web.handlers.registry import ACTIONS, QUERIES
from halocline.surfaces.web.handlers.route import Row, Rows
from halocline.surfaces.web.idempotency import IdempotencyKeys
from halocline.surfaces.web.open_tasks import LOOK_EVERY, OpenTasks, explain_error

MOST_ERRANDS = 32
"""Concurrent requests of one page."""
MOST_WATCHED = 64
"""Tasks that one page can watch at a time."""


class PageConnection:
    """Serves one WebSocket until it closes. `name` is recorded with decisions made here."""

    def __init__(self, desk: OpenTasks, once: IdempotencyKeys, socket: WebSocket, name: str) -> None:
        self._desk = desk
        self._once = once
        self._client = desk.client.named(name)
        self._socket = socket
        self._name = name
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._errands: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        await self._send(wire.Welcome(__version__, self._name, tuple(map(str, self._desk.workspaces))))
        board = asyncio.create_task(self._tell_board())
        try:
            while True:
                await self._hear(await self._received())
        except (WebSocketDisconnect, RuntimeError):  # the page left; starlette raises either
            pass
        finally:
            running = [board, *self._watching.values(), *self._errands]
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def end(self) -> None:
        """Close the connection of a signed-out browser."""
        with suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.close(4401, "This browser was signed out.")

    async def _received(self) -> str | bytes:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message["code"])
        return message.get("text") or message.get("bytes") or ""

    async def _hear(self, text: str | bytes) -> None:
        try:
            said = wire.decode_frame(text)
        except msgspec.DecodeError as error:
            await self._send(
                wire.Refused(
                    "", "not_understood", f"The server does not understand this message: {error}", "Reload the page."
                )
            )
            return
        match said:
            case wire.Watch(task=task, after=after):
                await self._unwatch(task)
                if len(self._watching) < MOST_WATCHED:
                    self._watching[task] = asyncio.create_task(self._watch(task, after))
                else:
                    too_many = UsageError("This page watches too many tasks.", "Reload the page.")
                    await self._send(wire.Refused.of(f"watch {task}", too_many))
            case wire.Unwatch(task=task):
                await self._unwatch(task)
            case _:
                await self._begin_errand(said)

    async def _unwatch(self, task: str) -> None:
        """Send nothing more of a task, so that a new watch starts clean."""
        if watching := self._watching.pop(task, None):
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _begin_errand(self, said: wire.Wish) -> None:
        if len(self._errands) >= MOST_ERRANDS:
            await asyncio.wait(self._errands, return_when=asyncio.FIRST_COMPLETED)
        errand = asyncio.create_task(self._answer(said))
        self._errands.add(errand)
        errand.add_done_callback(self._errands.discard)

    async def _answer(self, said: wire.Wish) -> None:
        try:
            answer = wire.encode(wire.Answered(said.id, await self._done(said)))
        except Exception as error:
            answer = wire.encode(wire.Refused.of(said.id, _error_for_page(error)))
        await self._put(answer)

    async def _done(self, said: wire.Wish) -> Any:
        match said:
            case wire.Query(name=name, arguments=arguments):
                return await _find_row(QUERIES, name).answered(self._desk, arguments)
            case wire.Do(name=name, arguments=arguments):
                row = _find_row(ACTIONS, name)
                return await self._once.answer(said.id, lambda: row.answered(self._desk, arguments))
            case wire.Begin():
                return await self._once.answer(said.id, lambda: self._begin(said))
            case wire.Command(command=command):
                return await self._once.answer(said.id, lambda: self._pass_on(command))

    async def _begin(self, wish: wire.Begin) -> str:
        task = await self._desk.begin(wish)
        if wish.effort:
            self._client.send(cmd.SetEffort(task=task, effort=wish.effort))
        if wish.content:
            await self._client.pass_on(cmd.SubmitPrompt(task=task, content=wish.content))
        return task

    async def _pass_on(self, command: cmd.AnyCommand) -> bool:
        self._desk.known(command.task)
        if isinstance(command, cmd.Label):
            await self._client.label(command)
            return True
        await self._desk.open(command.task)
        return await self._client.pass_on(command)

    async def _watch(self, task: str, after: int) -> None:
        """Send a task's events until the page unwatches it; also its failure."""
        broke: Exception | None
        try:
            self._desk.known(task)
            with self._desk.watched(task):
                broke = await self._tell_all(task, after)
        except Exception as error:
            broke = error
        if broke:
            await self._send(wire.Refused.of(f"watch {task}", _error_for_page(broke)))

    async def _tell_all(self, task: str, after: int) -> HaloclineError | None:
        """Read a closed task's log until it opens, follow it until it closes, and repeat.

        Returns the error that broke it. Raises HaloclineError if it cannot be read.
        """
        live = False
        while True:
            if not self._client.is_open(task):
                after, live = await self._read(task, after, was_live=live), True
            async for batch, fresh in batch_events(self._client.live(task, after)):
                await self._tell(task, batch, fresh=fresh, was_live=live, live=live or fresh)
                live = live or fresh
                after = max((event.seq for event in batch if isinstance(event, Durable)), default=after)
            if broke := await self._desk.ended(task):
                return broke

    async def _read(self, task: str, after: int, *, was_live: bool) -> int:
        """Send a log and its additions until the task opens; return the last event sent."""
        log, size = self._client.home.log(task), -1
        while True:
            if (now := log.stat().st_size if log.exists() else 0) != size:
                size = now
                past = [event for event in await asyncio.to_thread(self._client.past, task) if event.seq > after]
                for begin in range(0, len(past), MOST) or (0,):
                    part: list[Event] = list(past[begin : begin + MOST])
                    is_all = begin + MOST >= len(past)
                    # What was running when it closed is not running any more.
                    await self._tell(task, part, fresh=was_live and not begin, was_live=was_live, live=is_all)
                after, was_live = past[-1].seq if past else after, True
            # While closing a task, this process holds it a moment longer: do not join it for that.
            if not self._client.is_open(task) and self._client.writer(task) not in ("", str(os.getpid())):
                await self._desk.join(task)
            if self._client.is_open(task):
                return after
            await asyncio.sleep(LOOK_EVERY)

    async def _tell(self, task: str, events: list[Event], *, fresh: bool, was_live: bool, live: bool) -> None:
        events = [event for event in events if not isinstance(event, ToolCallDelta)]  # their previews are sent
        for frame in wire.events_frames(task, events, fresh=fresh, was_live=was_live, live=live or was_live):
            await self._put(frame)

    async def _tell_board(self) -> None:
        changed, told = asyncio.Event(), None
        self._desk.subscribe(changed)
        try:
            while True:
                if (standing := self._desk.standing()) != told:
                    told = standing
                    await self._send(wire.Board(standing))
                await changed.wait()
                changed.clear()
        finally:
            self._desk.unsubscribe(changed)

    async def _send(self, frame: wire.Outgoing) -> None:
        await self._put(wire.encode(frame))

    async def _put(self, frame: bytes) -> None:
        """Send, waiting for a slow page. If it left, drop the frame; the receiver notices too."""
        with suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.send_text(frame.decode())


def _find_row(rows: Rows, name: str) -> Row[Any]:
    """Find a query or action. Raises UsageError."""
    if (row := rows.get(name)) is None:
        raise UsageError(f"Unknown request {name!r}.", "Reload the page; it may be older than the server.")
    return row


def _error_for_page(error: Exception) -> HaloclineError:
    return explain_error(error) or HaloclineError("The request failed.", "Reload the page and try again.")
