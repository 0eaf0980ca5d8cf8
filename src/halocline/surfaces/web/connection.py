"""One connected page: answers its requests, and sends the rows and facts of watched tasks as they change.

Changes are sent at most every 33 ms, however fast a model writes. A slow or busy page delays only itself: it gets what
changed meanwhile at once, and no more requests are read than are being answered.
"""

import asyncio
from contextlib import aclosing, suppress
from typing import Any, Protocol

import msgspec
from starlette.types import Message
from starlette.websockets import WebSocketDisconnect

from halocline._version import __version__
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.web import wire
from halocline.surfaces.web.handlers.registry import ACTIONS, QUERIES, find_handler
from halocline.surfaces.web.idempotency import IdempotencyKeys
from halocline.surfaces.web.open_tasks import OpenTasks, explain_error
from halocline.surfaces.web.task_view.view import PageView
from halocline.surfaces.web.task_view.views import TaskViews

MOST_REQUESTS = 32
"""Concurrent requests of one page."""
MOST_WATCHED = 64
"""Tasks that one page can watch at a time."""


class PageSocket(Protocol):
    """The part of a WebSocket that a page needs. An editor's extension has one too."""

    async def receive(self) -> Message: ...
    async def send_text(self, data: str) -> None: ...
    async def close(self, code: int = 1000, reason: str | None = None) -> None: ...


class PageConnection:
    """Serves one socket until it closes. `name` is recorded with decisions made here."""

    def __init__(
        self, tasks: OpenTasks, views: TaskViews, once: IdempotencyKeys, socket: PageSocket, name: str
    ) -> None:
        self._tasks = tasks
        self._views = views
        self._once = once
        self._client = tasks.client.named(name)
        self._socket = socket
        self._name = name
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._shown: dict[str, PageView] = {}
        self._requests: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        await self._send(wire.Welcome(__version__, self._name, tuple(map(str, self._tasks.workspaces))))
        board = asyncio.create_task(self._send_board())
        try:
            while True:
                await self._receive_frame(await self._next_message())
        except (WebSocketDisconnect, RuntimeError):  # the page left; starlette raises either
            pass
        finally:
            await end_tasks(board, *self._watching.values(), *self._requests)

    async def end(self) -> None:
        """Close the connection of a signed-out browser."""
        with suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.close(4401, "This browser was signed out.")

    async def _next_message(self) -> str | bytes:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message["code"])
        return message.get("text") or message.get("bytes") or ""

    async def _receive_frame(self, text: str | bytes) -> None:
        try:
            frame = wire.decode_frame(text)
        except msgspec.DecodeError as error:
            await self._send(
                wire.Refused(
                    "", "not_understood", f"The server does not understand this message: {error}", "Reload the page."
                )
            )
            return
        match frame:
            case wire.Watch(task=task):
                await self._unwatch(task)
                if len(self._watching) < MOST_WATCHED:
                    self._watching[task] = asyncio.create_task(self._watch(frame))
                    await asyncio.sleep(0)  # it begins before the next message, which may ask for rows
                else:
                    too_many = UsageError("This page watches too many tasks.", "Reload the page.")
                    await self._send(wire.Refused.of(f"watch {task}", too_many))
            case wire.Unwatch(task=task):
                await self._unwatch(task)
            case wire.ShowRows(task=task, first=first, until=until):
                if shown := self._shown.get(task):
                    shown.show_rows(first, until)
            case wire.Ping():
                await self._send(wire.Pong())
            case _:
                await self._start_request(frame)

    async def _unwatch(self, task: str) -> None:
        """Send nothing more of a task, so that a new watch starts clean."""
        await end_tasks(self._watching.pop(task, None))

    async def _start_request(self, frame: wire.Request) -> None:
        if len(self._requests) >= MOST_REQUESTS:
            await asyncio.wait(self._requests, return_when=asyncio.FIRST_COMPLETED)
        request = asyncio.create_task(self._answer(frame))
        self._requests.add(request)
        request.add_done_callback(self._requests.discard)

    async def _answer(self, frame: wire.Request) -> None:
        try:
            answer = wire.encode(wire.Answered(frame.id, await self._carry_out(frame)))
        except Exception as error:
            answer = wire.encode(wire.Refused.of(frame.id, _error_for_page(error)))
        await self._put(answer)

    async def _carry_out(self, frame: wire.Request) -> Any:
        match frame:
            case wire.Query(name=name, arguments=arguments):
                return await find_handler(QUERIES, name).answer(self._tasks, arguments)
            case wire.Do(name=name, arguments=arguments):
                action = find_handler(ACTIONS, name)
                return await self._once.answer(frame.id, lambda: action.answer(self._tasks, arguments))
            case wire.Begin():
                return await self._once.answer(frame.id, lambda: self._begin(frame))
            case wire.Command(command=command):
                return await self._once.answer(frame.id, lambda: self._pass_on(command))

    async def _begin(self, options: wire.Begin) -> str:
        task = await self._tasks.begin(options)
        if options.effort:
            self._client.send(cmd.SetEffort(task=task, effort=options.effort))
        if options.content:
            await self._client.pass_on(cmd.SubmitPrompt(task=task, content=options.content))
        return task

    async def _pass_on(self, command: cmd.AnyCommand) -> bool:
        self._tasks.known(command.task)
        if isinstance(command, cmd.Label):
            await self._client.label(command)
            return True
        await self._tasks.open(command.task)
        return await self._client.pass_on(command)

    async def _watch(self, known: wire.Watch) -> None:
        """Send a task's rows and facts until the page unwatches it; also its failure."""
        try:
            with self._views.watched(self._tasks.known(known.task)) as view:
                shown = self._shown[known.task] = PageView(view, known)
                async with aclosing(shown.frames()) as frames:
                    async for frame in frames:
                        await self._put(frame)
        except Exception as error:
            await self._send(wire.Refused.of(f"watch {known.task}", _error_for_page(error)))
        finally:
            self._shown.pop(known.task, None)

    async def _send_board(self) -> None:
        changed, sent = asyncio.Event(), None
        self._tasks.subscribe(changed)
        try:
            while True:
                if (board := self._tasks.board()) != sent:
                    sent = board
                    await self._send(wire.Board(board))
                await changed.wait()
                changed.clear()
        finally:
            self._tasks.unsubscribe(changed)

    async def _send(self, frame: wire.Outgoing) -> None:
        await self._put(wire.encode(frame))

    async def _put(self, frame: bytes) -> None:
        """Send, waiting for a slow page. If it left, drop the frame; the receiver notices too."""
        with suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.send_text(frame.decode())


def _error_for_page(error: Exception) -> HaloclineError:
    return explain_error(error) or HaloclineError("The request failed.", "Reload the page and try again.")
