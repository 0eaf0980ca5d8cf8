"""One item from its place to its outcome: its task is started or continued and followed, and its result judged."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from pathlib import Path

from msgspec.structs import replace

from halocline.batch.accept_files import bring_files
from halocline.batch.items import LIMITS, Item
from halocline.batch.places import Place, Places
from halocline.batch.purse import Purse
from halocline.batch.queue import LETTERS, Ending, Outcome, Queue, Standing
from halocline.batch.read_outcome import read_outcome
from halocline.batch.results import keep_change
from halocline.batch.waits import Waits
from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import Client, open_client
from halocline.files.durable import tells_full_disk
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.codec import LOG_NAME
from halocline.protocol.errors import HaloclineError, LogDamaged, UsageError
from halocline.protocol.messages import StopReason, Text
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import CARRY_ON, State
from halocline.protocol.values import Value
from halocline.protocol.waiting import end_tasks
from halocline.runtime.parts.program_parts import ProgramParts
from halocline.store.tasks.history import new_task_id
from halocline.task.log import LogUnwritable, has_beginning

_log = logging.getLogger("halocline")
NAME = "batch"
"""The client's name in commands."""
ENDING = 20.0
"""Seconds that what a task left running has to end."""
OUTPUT_SHOWN = 4_000
"""Characters of the acceptance command's output that are kept: the last ones."""
AGAIN = 1.0
"""Seconds until a place that could not be made is tried again, once."""
THREADS = 32
"""Threads of a process that wait for disks; each step of a task has its log synced."""
GARBAGE = 20_000, 10
"""How often a process looks for cycles, as in `halocline.__main__`: a look at 60,000 objects of 200 tasks holds all of
them for 60 ms, one at 20,000 for 20.
"""


class Manner(Value, frozen=True):
    """The manner in which all items run.

    Attributes:
        choices: what overrides the settings; an item's limits come on top.
        options: of each task; an item's model and modes come on top.
        branches: also write each result to a branch of its repository.
        keep: the places to keep: `all`, `failed` or `none`.
    """

    choices: Choices = Choices()
    options: TaskOptions = TaskOptions()
    branches: bool = False
    keep: str = "all"


class Clients:
    """The clients of a batch: one for each set of limits, which belong to a client and not to a task."""

    def __init__(self, manner: Manner, folder: Path, make: Callable[..., Client] = open_client) -> None:
        self._manner = manner
        self._folder = folder
        self._make = make
        self._open: dict[Item, Client] = {}

    def find(self, item: Item) -> Client:
        """Return the client for an item. Raises UsageError and SettingsError."""
        same = Item("", "", **{name: getattr(item, name) for name in LIMITS})
        if same not in self._open:
            choices = item.limit(self._manner.choices)
            self._open[same] = self._make(choices, NAME, lambda: False, self._folder)
            self._open[same].keep_pace_with(next(iter(self._open.values())))
        return self._open[same]

    def closes_network(self, item: Item) -> bool:
        """True if no command of an item may use the network, wherever it works. Raises UsageError and SettingsError."""
        return self.find(item).closes_network()

    async def close(self) -> None:
        """Close all; turns that run are interrupted, and continue with the next run of the batch."""
        while self._open:
            await self._open.popitem()[1].close(leave_questions=True)


Publish = Callable[[Standing, Outcome], Awaitable[Outcome]]
"""Publishes what an item came to, and returns its outcome with where that is, or why it is not."""


class Worker:
    """Runs items of one queue. `note` is called with an item's id whenever something happens in it."""

    def __init__(
        self,
        queue: Queue,
        places: Places,
        clients: Clients,
        manner: Manner,
        purse: Purse,
        note: Callable[[str], None] = lambda id: None,
        name_task: Callable[[Item], str] = lambda item: new_task_id(LETTERS),
        publish: Publish | None = None,
    ) -> None:
        self._queue = queue
        self._places = places
        self._clients = clients
        self._manner = manner
        self.purse = purse
        self._note = note
        self._name_task = name_task
        self._publish = publish
        self.tasks: dict[str, tuple[Client, str]] = {}
        """The client and the task of each item that runs."""
        self.is_stopping = False
        self._folders: dict[str, asyncio.Lock] = {}
        self._accepting: dict[str, str] = {}
        self._opening = set[asyncio.Future[Place]]()
        self._waits = Waits()
        self.read_wait = self._waits.read

    def stop(self) -> None:
        """Interrupt what runs; each item continues with the next run of the batch."""
        self.is_stopping = True
        for opening in self._opening:
            opening.cancel()
        for id, (client, task) in self.tasks.items():
            if id in self._accepting:
                self._stop_acceptance(id)
            elif client.is_open(task):
                client.send(cmd.Interrupt(task=task))

    async def close(self) -> None:
        await self._clients.close()

    def read_state(self, id: str) -> State | None:
        """Return the state of an item's task while it runs."""
        client, task = self.tasks.get(id, (None, ""))
        return client.state(task) if client and client.is_open(task) else None

    def read_cost(self, standing: Standing) -> float | None:
        """Return what the task of an item has cost, by its log."""
        return read_cost(self._clients.find(standing.item), standing.task)

    async def run(self, standing: Standing) -> None:
        """Run an item, or what is left of it, and write its end into the queue.

        Raises HaloclineError if the queue cannot be written. What stops the batch leaves the item without an end.
        """
        item = standing.item
        try:
            place = await self._open_place(standing)
            client = self._clients.find(item)
        except HaloclineError as error:
            if not self._stays_open(standing, error):
                await self._queue.end(item.id, Outcome(Ending.PLACE, error.code, error.text))
            return
        if place is None:
            return
        shared = f"{item.machine}:{place.folder}"
        async with self._folders.setdefault(shared, asyncio.Lock()) if place.is_shared else nullcontext():
            began = time.monotonic()
            if not (task := standing.task):
                task = self._name_task(item)
                await self._queue.begin(item.id, task)
            self.tasks[item.id] = (client, task)
            try:
                outcome = await self._see_through(client, task, standing, place)
                if outcome and client.is_open(task):
                    client.send(cmd.Label(task=task, name=f"{self._queue.folder.name}: {item.id} ({outcome.ending})"))
            finally:
                self.tasks.pop(item.id, None)
                self.purse.settle(item.id)
                if client.is_open(task) and not self.is_stopping:
                    await client.ended(task)
        await self._places.release(place)
        if outcome:
            seconds = round(time.monotonic() - began, 3)
            outcome = replace(outcome, seconds=seconds, folder=str(place.folder))
            outcome = await self._publish(standing, outcome) if self._publish else outcome
            await self._queue.end(item.id, outcome)
            is_kept = self._manner.keep == "all" or (self._manner.keep == "failed" and not outcome.passed)
            if not is_kept and not outcome.problem:  # what could not be published can be, later
                await self._places.remove(standing, place)

    async def _open_place(self, standing: Standing) -> Place | None:
        """Return the place of an item; None if the batch stops first. Raises HaloclineError.

        It is tried twice: a moment later there may be room on the disk, or the git of a killed process has ended.
        """
        try:
            return await self._try_place(standing)
        except HaloclineError:
            await asyncio.sleep(AGAIN)
            return await self._try_place(standing)

    async def _try_place(self, standing: Standing) -> Place | None:
        if self.is_stopping:
            return None
        opening = asyncio.ensure_future(self._places.open(standing))
        self._opening.add(opening)
        try:
            await asyncio.wait([opening])
            place = None if opening.cancelled() else opening.result()
        finally:
            self._opening.discard(opening)
            await end_tasks(opening)
        if place and place.is_shared and standing.item.accept_files:
            raise UsageError("accept_files need a place of the item's own.", "Choose another place than its folder.")
        return place

    async def _see_through(self, client: Client, task: str, standing: Standing, place: Place) -> Outcome | None:
        """Return the outcome; None if the batch stops first."""
        item, outcome = standing.item, standing.done
        try:
            await self._open_task(client, task, item, place)
        except HaloclineError as error:
            stays = self._stays_open(standing, error)
            return None if stays else Outcome(Ending.ERROR, error.code, error.text, model=item.model or "")
        try:
            if outcome is None:
                state = await self._follow(client, task, item)
                if self._is_cut_short(state) or state.last_end is None:
                    return None
                outcome = read_outcome(state, client.past(task))
                batch, redact, branches = self._queue.folder, client.committing.redact, self._manner.branches
                outcome = await keep_change(batch, outcome, standing, place, redact, branches=branches)
                await self._queue.note_done(item.id, outcome)
            if item.accept and outcome.ending in (Ending.PASSED, Ending.LIMIT, Ending.APPROVAL):
                outcome = await self._accept(outcome, client, task, item, place)
        except LogUnwritable as error:  # once there is room on the disk, it continues
            _log.error("item %s does not continue now: %s %s", item.id, error.text, error.hint)
            return None
        except HaloclineError as error:
            failed = outcome or Outcome(
                Ending.ERROR, model=item.model or "", cost=self.read_cost(replace(standing, task=task))
            )
            return replace(failed, ending=Ending.ERROR, cause=error.code, text=error.text)
        return None if self.is_stopping and item.accept and not outcome.accepted else outcome

    def _stays_open(self, standing: Standing, error: HaloclineError) -> bool:
        """True if an item that cannot be opened now continues later: it began before, or the disk is full.

        An end would let what began begin again in another task, which would do twice what the first one did.
        """
        if stays := standing.task != "" or tells_full_disk(error, self._queue.folder):
            _log.error("item %s does not continue now: %s %s", standing.item.id, error.text, error.hint)
        return stays

    def _is_ending(self) -> bool:
        return self.is_stopping or self.purse.is_spent

    def _is_cut_short(self, state: State) -> bool:
        """True if this process interrupted the turn because the batch stops, or its money is spent."""
        end = state.last_end
        return self._is_ending() and (state.turn is not None or end is None or end.reason is StopReason.CANCELLED)

    async def _open_task(self, client: Client, task: str, item: Item, place: Place) -> None:
        """Start the task, or resume it. Raises HaloclineError."""
        options = self._options_of(item, place)
        if has_beginning(client.home.task(task) / LOG_NAME):
            await client.resume(task, options)
        else:
            await client.start(place.folder, options, task)
            batch = self._queue.folder.name
            client.send(cmd.Label(task=task, name=f"{batch}: {item.id}", tags=(batch,)))

    async def _follow(self, client: Client, task: str, item: Item) -> State:
        """Let the task go on until its turn ends. Raises HaloclineError."""
        after = client.state(task).seq
        self.purse.note(item.id, client.state(task).budget.cost)
        if self._is_ending() or not await self._push(client, task, item):
            return client.state(task)
        async for event in client.events(task, after):
            is_waiting = self._waits.note(item.id, event)
            if isinstance(event, ev.UsageReported):
                self.purse.note(item.id, client.state(task).budget.cost)
            if is_waiting or isinstance(event, ev.Durable):
                self._note(item.id)
            if isinstance(event, ev.TurnEnded):
                return client.state(task)
            if self._is_ending():  # an interrupt before the turn began found none
                client.send(cmd.Interrupt(task=task))
        if self._is_ending():
            return client.state(task)
        raise await client.ended(task) or HaloclineError("The task was closed before its turn ended.", "")

    async def _push(self, client: Client, task: str, item: Item) -> bool:
        """Send what the task waits for, if its turn does not run already. False if it has come to its end."""
        state = client.state(task)
        if state.turn is not None:
            return True
        if state.queue.messages:
            return client.send(cmd.SendQueued(task=task))
        if state.last_end is None:
            prompt = item.prompt
        elif state.last_end.reason is StopReason.CANCELLED:
            prompt = CARRY_ON
        else:
            return False
        command = cmd.SubmitPrompt(task=task, content=(Text(prompt),), after_stop=True)
        return await client.pass_on(command)

    def _options_of(self, item: Item, place: Place) -> TaskOptions:
        given = self._manner.options
        return replace(
            given,
            model=item.model or given.model,
            mode=item.mode or given.mode,
            approval_mode=item.approval_mode or given.approval_mode,
            until=item.until,
            asks_again=given.attended,
            program=ProgramParts(host=place.host) if place.host else None,
        )

    async def _accept(self, outcome: Outcome, client: Client, task: str, item: Item, place: Place) -> Outcome:
        """Run the acceptance command where the task's commands run, in their sandbox. Raises HaloclineError."""
        await _end_jobs(client, task)
        if item.accept_files:
            await bring_files(Path(item.accept_files), place)
        after = client.state(task).seq
        client.send(cmd.RunCommand(task=task, command=item.accept, as_task=True))
        self._accepting[item.id] = f"!{client.state(task).user_commands.started}"
        try:
            async with asyncio.timeout(item.accept_seconds):
                end = await _wait_for_end(client, task, after)
        except TimeoutError:
            self._stop_acceptance(item.id)
            end = await _wait_for_end(client, task, after)
        finally:
            del self._accepting[item.id]
        output = (end.output or end.said)[-OUTPUT_SHOWN:]
        is_good = end.exit_code == 0
        cause = f"exit code {end.exit_code}" if end.exit_code is not None else end.said
        if is_good or outcome.ending is not Ending.PASSED:
            ending = Ending.PASSED if is_good else outcome.ending
            return replace(outcome, ending=ending, accepted=is_good, accept_output=output)
        return replace(outcome, ending=Ending.REJECTED, cause=cause, accepted=False, accept_output=output)

    def _stop_acceptance(self, id: str) -> None:
        client, task = self.tasks[id]
        client.send(cmd.StopCommand(task=task, run=self._accepting[id]))


def read_cost(client: Client, task: str) -> float | None:
    """Return what a task has cost, by its log, in US dollars; None if it is unknown."""
    if not (client.home.task(task) / LOG_NAME).exists():
        return 0.0
    try:
        return fold_events(client.past(task)).budget.cost
    except LogDamaged:
        return None


async def _wait_for_end(client: Client, task: str, after: int) -> ev.OwnCommandEnded:
    """Return the end of the acceptance command: the first end of a command of ours behind `after`."""
    run = ""
    async for event in client.events(task, after):
        if isinstance(event, ev.OwnCommandStarted) and event.client == NAME:
            run = event.run
        if isinstance(event, ev.OwnCommandEnded) and event.run == run:
            return event
    raise await client.ended(task) or HaloclineError(
        "The task was closed before its result was accepted.", "Start the same batch again."
    )


async def _end_jobs(client: Client, task: str) -> None:
    """End what the task left running, which could change what accepts it. Raises HaloclineError if it does not end."""
    after = client.state(task).seq
    for job in (running := client.state(task).jobs.running):
        client.send(cmd.StopJob(task=task, job=job.job))
    if not running:
        return
    try:
        async with asyncio.timeout(ENDING):
            async for _ in client.events(task, after):
                if not client.state(task).jobs.running:
                    return
    except TimeoutError:
        raise HaloclineError("What the task left running does not end.", "Look at its jobs.") from None
