"""Rides the story in processes that are killed: `python -m tests.crashes.rider` forks one for each line it reads.

Imports are paid for once. Each rider is a whole halo of its own, with a person who answers whatever is asked; it writes
every event that it was shown to a file before it goes on, and that is what must not be lost.
"""

import asyncio
import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace
from tests.crashes.faults import Fault, Points
from tests.crashes.story import ACTS, RESTS, TURNS

from halocline.client.tasks import Client
from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol import codec, commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import Choice
from halocline.protocol.messages import AssistantMessage, Message, Text
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.providers.scripted.model import Scripted, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.runtime.history.forks import Fork
from halocline.store.paths import Home
from halocline.store.settings.sections import LanguageServerSettings
from halocline.store.settings.settings import Settings

LONGEST = 180.0
HANGS = 90.0
"""Seconds after which a ride says what its coroutines and threads wait for: most rides take two, thirty under load."""
SETTINGS = Settings(language_servers=LanguageServerSettings(enabled=False))


class Ride(Value, frozen=True):
    """What one process does. `seconds` after its start it is killed; it goes on with `task`, or begins one."""

    folder: str
    shown: str
    task: str = ""
    fault: Fault = Fault()
    seconds: float | None = None


class Ridden(Value, frozen=True):
    """How a process ended (as `waitpid` says), after how long, and what it said: points, or its error."""

    status: int
    seconds: float
    said: str = ""

    @property
    def points(self) -> int:
        """How many points the process had; 0 if it did not come to the story's end."""
        return int(self.said.rpartition("\n")[2]) if self.status == 0 else 0


class Story:
    """A model that goes on after its last whole reply: one that was cut short is given again."""

    name = "scripted/story"

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        said = [message for message in request.messages if isinstance(message, AssistantMessage)]
        last = next((message for message in reversed(said) if not message.interrupted), None)
        done = RESTS if request.replies_left_out else 0
        if last:
            done = 1 + next(at for at, turn in enumerate(TURNS) if _is_of_turn(last, turn))
        asked: list[Message] = [message for message in request.messages if message not in said]
        async for event in Scripted(TURNS[done:], self.name).stream(
            replace(request, messages=asked, replies_left_out=0)
        ):
            yield event

    async def close(self) -> None:
        pass


def _is_of_turn(message: AssistantMessage, turn: Turn) -> bool:
    calls = [call.id for call in message.tool_calls]
    return (message.text, calls) == (turn.text, [call.id for call in turn.calls])


class Storied(Assembly):
    async def model(self, named: str) -> Model:
        return Story()


class Person:
    """Answers what is asked, says what comes next, and keeps what was shown, also of replies that are not complete."""

    def __init__(self, client: Client, workspace: Path, shown: int) -> None:
        self._client = client
        self._workspace = workspace
        self._shown = shown
        self._task = ""
        self._ends = asyncio.Queue[ev.Event]()
        self._keep = os.write

    async def ride(self, task: str) -> None:
        """To the end of the story."""
        options = TaskOptions(attended=True, asks_again=True)
        resumed = bool(task)
        self._task = await (
            self._client.resume(task, options) if task else self._client.start(self._workspace, options)
        )
        opened = self._client.state(self._task).seq if resumed else 0
        watching = asyncio.create_task(self._watch(opened))
        try:
            await self._through_all(watching)
        finally:
            watching.cancel()

    async def _through_all(self, watching: "asyncio.Task[None]") -> None:
        while True:
            if self._state.turn is not None:
                await self._until(watching, ev.TurnEnded)
            said = [message for message in self._state.messages if isinstance(message, AssistantMessage)]
            replies = sum(not message.interrupted for message in said)
            if replies >= RESTS and not self._state.compaction.applied:
                self._client.send(cmd.Compact(task=self._task))
                await self._until(watching, ev.Compacted, ev.ErrorRaised)
            if replies == RESTS and (first := next(iter(self._state.files.checkpoints), None)):
                await self._put_back(first.checkpoint)
                await self._fork()
            if replies == len(TURNS):
                return
            self._client.send(cmd.SubmitPrompt(task=self._task, content=(Text(ACTS.get(replies, "Go on.")),)))
            await self._until(watching, ev.TurnEnded)

    async def _put_back(self, checkpoint: str) -> None:
        self._keep(self._shown, b"restoring\n")
        await self._client.time.restore(self._workspace, checkpoint)

    async def _fork(self) -> None:
        if not any(isinstance(event, ev.TaskForked) for event in self._client.past(self._task)):
            await self._client.time.fork(Fork("", self._task))

    async def before(self, event: ev.Event) -> None:
        """Do something before the person acts on an event."""

    @property
    def _state(self) -> State:
        return self._client.state(self._task)

    async def _until(self, watching: "asyncio.Task[None]", *kinds: type[ev.Event]) -> None:
        while True:
            waiting = asyncio.create_task(self._ends.get())
            await asyncio.wait([waiting, watching], return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                waiting.cancel()
                raise RuntimeError("the task broke")  # closing the client raises what broke it
            if isinstance(waiting.result(), kinds):
                return

    async def _watch(self, after: int) -> None:
        async for event in self._client.events(self._task, after):
            if isinstance(event, ev.Durable | ev.TextDelta | ev.ThinkingDelta | ev.StepRetried):
                self._keep(self._shown, codec.encode(event) + b"\n")
            await self.before(event)
            match event:
                case ev.ApprovalRequested(request=request):
                    decision = Choice.ALLOW_ONCE
                    self._client.send(cmd.ResolveApproval(task=self._task, request=request, decision=decision))
                case ev.QuestionAsked(request=request):
                    self._client.send(cmd.AnswerQuestion(task=self._task, request=request, answer="this"))
                case ev.TurnEnded() | ev.Compacted() | ev.ErrorRaised():
                    self._ends.put_nowait(event)


async def _ride(ride: Ride) -> None:
    folder = Path(ride.folder)
    home = Home.of({"HALOCLINE_HOME": str(folder / "home")})
    client = Client(Controller(Storied(home, SETTINGS, {})), "person")
    shown = os.open(ride.shown, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    person = Person(client, folder / "project", shown)
    points = Points(ride.fault)
    points.install()
    _say_what_waits_after(HANGS)
    try:
        async with asyncio.timeout(LONGEST):
            await person.ride(ride.task)
    finally:
        await client.close()
    sys.stdout.write(str(points.count))
    sys.stdout.flush()


def _say_what_waits_after(seconds: float) -> None:
    """Let a process that is not over by then tell what it waits for, so that a failure explains itself."""
    clock = threading.Timer(seconds, _say_what_waits, (asyncio.get_running_loop(),))
    clock.daemon = True
    clock.start()


def _say_what_waits(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        chain, inner = [], task.get_coro()
        while inner is not None:
            frame = getattr(inner, "cr_frame", None) or getattr(inner, "ag_frame", None)
            chain.append(f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else repr(inner))
            inner = getattr(inner, "cr_await", None) or getattr(inner, "ag_await", None)
        sys.stderr.write("\n  ".join([f"{task.get_name()} waits:", *chain]) + "\n")
    sys.stderr.flush()
    faulthandler.dump_traceback(sys.stderr)


def _alone(ride: Ride, said: int) -> None:
    """The whole life of a forked process."""
    os.dup2(said, 1)
    os.dup2(said, 2)
    code = 1
    try:
        asyncio.run(_ride(ride))
        code = 0
    except HaloclineError as error:
        sys.stderr.write(f"{error.code}: {error.text} {error.hint}")
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _forked(ride: Ride) -> Ridden:
    with _memory_file() as said:
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            _alone(ride, said)
        status = _waited(pid, began + (LONGEST if ride.seconds is None else ride.seconds))
        os.lseek(said, 0, os.SEEK_SET)
        words = os.read(said, 20_000).decode(errors="replace")
        return Ridden(status, time.monotonic() - began, words)


def _waited(pid: int, until: float) -> int:
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


@contextmanager
def _memory_file() -> Iterator[int]:
    file = os.memfd_create("said") if hasattr(os, "memfd_create") else os.open("/dev/null", os.O_RDWR)
    try:
        yield file
    finally:
        os.close(file)


def main() -> None:
    for line in sys.stdin.buffer:
        answer = _forked(msgspec.json.decode(line, type=Ride))
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
