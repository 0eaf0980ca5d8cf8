"""`halo background`: run tasks that other terminals hand over, until the last one has ended.

`halo run --bg` starts it. What its tasks ask waits for a client that attaches; when a person is needed, the desktop is
told.
"""

import argparse
import asyncio
import logging
import os
import signal
import time
from pathlib import Path

from msgspec.structs import replace

from halocline.client.background import BackgroundService, StartRequest, bound_output
from halocline.client.options import Choices
from halocline.client.storage import print_json_log
from halocline.client.tasks import Client, open_client
from halocline.protocol import events as ev
from halocline.protocol.commands import Label, SubmitPrompt
from halocline.protocol.errors import HaloclineError, TaskBusy
from halocline.protocol.waiting import end_tasks, wait_at_most
from halocline.surfaces import event_loop
from halocline.surfaces.cli.background.desktop import notify_desktop
from halocline.surfaces.cli.session import piped_input
from halocline.surfaces.cli.session.closing import CLOSING_TIME
from halocline.surfaces.cli.stderr import print_message

LOOK_EVERY = 0.25
"""Seconds between two looks at the tasks."""
PATIENCE = 10.0
"""Seconds to wait for the first task."""
_LOGGER = logging.getLogger("halocline")
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices(), "background")
    service = client.background
    if client.logs_json:
        print_json_log()
    try:
        held = service.take_lock()
    except TaskBusy:  # another process was faster, and takes what was meant for this one
        return 0
    event_loop.run_loop(BackgroundProcess(service).run())
    service.give_back(held)
    return 0


class BackgroundProcess:
    """The open tasks, each with a client of its own: its environment is that of the terminal that started it."""

    def __init__(self, service: BackgroundService) -> None:
        self._service = service
        self._running: dict[str, asyncio.Task[None]] = {}
        self._stopped = asyncio.Event()
        self._taking_up: asyncio.Task[None]

    async def run(self) -> None:
        """Take requests and run their tasks until there is none left, or a signal ends the process."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._stopped.set)
        self._taking_up = asyncio.create_task(self._take_up_waits())
        await self._serve_socket(time.monotonic() + PATIENCE)
        while self._running and not self._stopped.is_set():  # one came as the socket was closed
            await self._serve_socket(0.0)
        await end_tasks(self._taking_up, *self._running.values())

    async def _serve_socket(self, first_until: float) -> None:
        """Take requests while a task runs or is handed over, and wait for the first one until then."""
        async with self._service.open_socket(self._start) as socket:
            while self._is_busy or socket.is_serving or (not socket.was_asked and time.monotonic() < first_until):
                bound_output()
                if await wait_at_most(LOOK_EVERY, self._stopped.wait()):
                    break

    @property
    def _is_busy(self) -> bool:
        return bool(self._running) or not self._taking_up.done()

    async def _take_up_waits(self) -> None:
        """Open the tasks whose prompts wait for others since an earlier process was killed or stopped."""
        for request in await asyncio.to_thread(self._service.list_left_waiting):
            try:
                await self._start(request)
            except HaloclineError as error:  # the board says that no process runs it
                _report(request.task, f"cannot be taken up: {error.text}")

    async def _start(self, request: StartRequest) -> None:
        """Open the task of a request and send its prompt. Raises HaloclineError."""
        if asyncio.current_task() is not self._taking_up:
            await asyncio.wait([self._taking_up])
        if request.task in self._running and not request.content:  # it was taken up
            return
        client = open_client(
            request.all_choices, "background", lambda: False, Path(request.folder), environment=request.variables
        )
        try:
            task, after = await _open_task(client, request)
        except BaseException:
            await client.close()
            raise
        _report(task, f"runs in {request.folder}")
        self._running[task] = asyncio.create_task(self._serve(client, request, after), name=f"background: {task}")

    async def _serve(self, client: Client, request: StartRequest, after: int) -> None:
        """Serve a task until it neither works nor waits, and no client takes part in it."""
        task = request.task
        following = asyncio.create_task(_follow(client, task, after, request.variables))
        try:
            looks = 0
            while client.is_open(task) and not _has_ended(following) and looks < 2:
                await asyncio.sleep(LOOK_EVERY)
                looks = looks + 1 if client.is_open(task) and client.is_at_rest(task) else 0
            if broke := await client.ended(task):  # what came just now is still done
                _LOGGER.error("task %s broke: %s", task, broke, exc_info=broke)
        finally:
            for broke in await end_tasks(following):
                if isinstance(broke, Exception):
                    _LOGGER.error("what task %s does cannot be said: %s", task, broke, exc_info=broke)
            is_empty = client.is_open(task) and client.state(task).is_empty  # its prompt was withdrawn
            await wait_at_most(CLOSING_TIME, client.close(leave_questions=True))
            if is_empty:
                client.tasks.forget(task)
            self._running.pop(task, None)
            _report(task, "is closed")


async def _open_task(client: Client, request: StartRequest) -> tuple[str, int]:
    """Start or resume the task, and send its prompt; return the number of its last event before that.

    One in which nothing happened is deleted. Raises HaloclineError.
    """
    options, folder = replace(request.options, attended=True), Path(request.folder)
    if request.resumes:
        task = await client.resume(request.task, replace(options, asks_again=not request.content))
    else:
        task = await client.start(folder, options, request.task)
    after = client.state(task).seq
    for remark in client.remarks(task):
        _report(task, remark)
    if request.name is not None:
        client.send(Label(task=task, name=request.name))
    content = piped_input.keep_large_input(client, task, request.content)
    if not content:  # it continues with what it asked
        return task, after
    try:
        client.send(await client.prepared(SubmitPrompt(task=task, content=content, after=request.after)))
    except HaloclineError:
        if client.state(task).is_empty:
            await client.let_go(task)
            client.tasks.forget(task)
        raise
    return task, after


def _has_ended(following: "asyncio.Task[None]") -> bool:
    """Return True if there is nothing more to follow; what could not be said ends no task."""
    return following.done() and not following.cancelled() and following.exception() is None


async def _follow(client: Client, task: str, after: int, environment: dict[str, str]) -> None:
    """Tell the person when a task waits, and when its turn ends."""
    async for event in client.events(task, after):
        match event:
            case ev.QueueHeld(reason=""):
                pass
            case ev.ApprovalRequested(request=request) if client.is_open(task) and client.is_judging(task, request):
                pass  # its verdict comes
            case ev.ApprovalRequested() | ev.ApprovalJudged(allows=False) | ev.QuestionAsked() | ev.QueueHeld():
                _report(task, "waits for you")
                await notify_desktop(client, task, "needs you", environment)
            case ev.TurnEnded(reason=reason):
                _report(task, f"ended: {reason}")
                await notify_desktop(client, task, "has ended its turn", environment)


def _report(task: str, text: str) -> None:
    if _LOGGER.isEnabledFor(logging.INFO):  # as lines of JSON
        _LOGGER.info(text, extra={"task": task})
        return
    print_message(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {os.getpid()} task {task} {text}")
