"""`halo board`: all tasks in a list. Each opens on the live screen, and continues while the list is shown again."""

import argparse
import asyncio
import signal
from contextlib import suppress

from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import Client, open_client
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.plan_approval import needs_person
from halocline.protocol.waiting import end_tasks, wait_at_most
from halocline.surfaces import event_loop
from halocline.surfaces.board.tasks import LOOK_EVERY, BoardTasks
from halocline.surfaces.cli import background, live
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.board.line_field import LineField
from halocline.surfaces.cli.board.list_card import ListCard
from halocline.surfaces.cli.board.task_asker import TaskAsker
from halocline.surfaces.cli.board.task_list import TaskList
from halocline.surfaces.cli.exit_codes import ExitCode
from halocline.surfaces.cli.plain.questions import can_draw, on_terminal
from halocline.surfaces.cli.session.closing import CLOSING_TIME
from halocline.surfaces.cli.session.conversation import Conversation
from halocline.surfaces.cli.session.following_tasks import follow_switches
from halocline.surfaces.cli.session.signals import handle_signals
from halocline.surfaces.cli.session.task_opening import require_folder
from halocline.surfaces.cli.session.task_switch import let_go, open_past_task

STOPPED = "The task was not opened."
INSTEAD = "List the tasks: halo tasks list --all. Answer one: halo attach"


def command(arguments: argparse.Namespace) -> int:
    """Show the board. Raises UsageError where it cannot be drawn."""
    if not on_terminal():
        raise UsageError("halo board needs a terminal.", INSTEAD)
    if not can_draw():
        raise UsageError("This terminal cannot show a full screen (TERM is dumb).", INSTEAD)
    folder = str(workspace_of(".")) if arguments.here else ""
    return event_loop.run_loop(Board(open_client(Choices()), folder).run())


class Board:
    """The list and the tasks that were opened from it, which stay open while they work or wait for the person."""

    def __init__(self, client: Client, folder: str = "") -> None:
        self._client = client
        self._visited: set[str] = set()
        self._shown = False
        """True while a task is shown in place of the list."""
        self._opening = asyncio.Lock()
        self._tasks = BoardTasks(client, lambda: self._list.request_frame(), self._tell, folder)
        field = LineField()
        card = ListCard(client.own_theme, field, lambda: self._list.request_frame())
        self._asker = TaskAsker(client, card, self._tell, self._tasks.look_again)
        self._list = TaskList(client.own_theme, self._tasks.list_entries, self._count_working, self._asker, card, field)

    async def run(self) -> int:
        """Serve the list and its tasks until the person leaves. Returns the exit code."""
        if cut := background.cut_short.find_cut_short(self._client):
            self._list.notice = " ".join(background.cut_short.describe_cut_short(cut))
        jobs = [asyncio.create_task(self._tasks.watch()), asyncio.create_task(self._tidy())]
        try:
            while not self._list.signal and (task := await self._list.pick_task()):
                if self._list.take_interrupt():
                    self._list.notice = STOPPED
                    continue
                try:
                    if not await self._show_task(task):
                        return ExitCode.INTERRUPTED
                except HaloclineError as error:
                    self._list.notice = f"{error.text} {error.hint}".rstrip()
        finally:
            await end_tasks(*jobs)
            await self._asker.end()
            await wait_at_most(CLOSING_TIME, self._client.close(leave_questions=True))
        return ExitCode.INTERRUPTED if self._list.signal else ExitCode.FINISHED

    async def _show_task(self, task: str) -> bool:
        """Open a task until the person goes back. False when a signal ended the board.

        Ctrl-C before the task is shown ends only the opening.
        """
        opening = asyncio.create_task(self._open_task(task))

        def stop(number: int) -> None:
            self._list.signal = number if number != signal.SIGINT else 0
            opening.cancel()

        with handle_signals(stop):
            await asyncio.wait([opening])
        if opening.cancelled():
            self._list.notice = STOPPED
            return True
        return opening.result()

    async def _open_task(self, task: str) -> bool:
        """Open a task on the live screen until the person goes back. False when a signal ended it."""
        client, options = self._client, TaskOptions(attended=True)
        async with self._opening:
            if not client.is_open(task):
                require_folder(client, task, client.past(task))
            opened = await open_past_task(client, task, options)
            self._shown = True
        self._visited.add(task)
        try:
            async with live.live_mode.LiveMode() as view:
                view.recall(opened.past)
                conversation = Conversation(client, task, view, stays=True, on_board=True)
                code = await conversation.run("", opened.after)
                _, conversation = await follow_switches(conversation, code, client, options, view)
                self._visited.add(conversation.task)
        finally:
            self._shown = False
        return not conversation.is_leaving

    def _count_working(self) -> int:
        """Count the tasks that work in this process. What only waits is asked again by the next one."""
        return sum(map(self._is_working, self._list_own()))

    def _is_working(self, task: str) -> bool:
        """True if closing the task would stop something that runs here."""
        client = self._client
        if client.is_attached(task):
            return False
        state = client.state(task)
        has_turn = state.turn is not None and not state.is_asking
        return has_turn or state.compaction.running is not None or bool(client.running(task))

    def _list_own(self) -> list[str]:
        self._visited = {task for task in self._visited if self._client.is_open(task)}
        return [*self._visited]

    def _tell(self, text: str) -> None:
        self._list.notice = text
        self._list.request_frame()

    async def _tidy(self) -> None:
        """While the list is shown, close the visited tasks that neither work nor wait for the person."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            for task in self._list_own():
                async with self._opening:
                    if not self._shown and self._is_spare(task):
                        with suppress(HaloclineError, OSError):  # it broke, and its log says why
                            await let_go(self._client, task)

    def _is_spare(self, task: str) -> bool:
        client = self._client
        if not client.is_open(task) or client.is_attached(task):
            return client.is_open(task)
        return not (self._is_working(task) or needs_person(client.state(task), is_open=True))
