"""Messages that wait, in random sequences of what people do: none is lost, none comes twice, none comes by itself."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.journeys.conftest import NO_SERVERS
from tests.samples import choose

from halocline.client.tasks import Client
from halocline.ports.model import Model, ModelEvent, Request
from halocline.protocol import codec, commands as cmd, events as ev
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.kinds import ApprovalMode, Choice
from halocline.protocol.messages import AssistantMessage, Text, ToolCall
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.attach.owner_socket import SOCKET
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

pytestmark = [pytest.mark.slow]

PATIENCE = 60.0
ASK = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True, asks_again=True)
TOUCH = {"command": "touch made", "requires_approval": True}


class LedModel:
    """A model that answers what the test says, when it says it."""

    name = "scripted/led"

    def __init__(self) -> None:
        self.asked: asyncio.Future[str] | None = None
        self.count = 0

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        self.asked = asyncio.get_running_loop().create_future()
        try:
            what = await self.asked
        finally:
            self.asked = None
        self.count += 1
        if what == "fail":
            raise ModelError(ModelErrorKind.AUTH, "The key was not accepted.", "")
        calls = (ToolCall(f"c{self.count}-{id(self)}", "execute_command", TOUCH),) if what == "ask" else ()
        yield ev.AssistantMessageCompleted(message=AssistantMessage(content=(Text("Done."), *calls), model=self.name))

    async def close(self) -> None:
        pass


class LedAssembly(Assembly):
    def __init__(self, home: Home, led: LedModel) -> None:
        super().__init__(home, Settings(language_servers=NO_SERVERS, sandbox="off", checkpoints=False), {})
        self._led = led

    async def model(self, named: str) -> Model:
        return self._led


class Person:
    """A person at one terminal, who may open a second one on the same task. `composer` is what they took back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "project"
        self.workspace.mkdir()
        self.root = folder / "home0"
        self.homes = 0
        self.texts: list[str] = []
        self.composer: list[str] = []
        self.held: set[str] = set()
        """Texts that were shown as held, and not sent by a key since."""
        self.decided: set[str] = set()
        """Approvals that the person answered."""
        self.was_stopped = False
        self.tasks: list[str] = []
        self.task = ""
        self.second: Client | None = None

    async def begin(self) -> None:
        self.open_client()
        await self.clear()

    def open_client(self) -> None:
        self.led = LedModel()
        self.home = Home.of({"HALOCLINE_HOME": str(self.root)})
        self.controller = Controller(LedAssembly(self.home, self.led))
        self.client = Client(self.controller, "first")

    @property
    def state(self) -> State:
        return self.client.state(self.task)

    @property
    def hand(self) -> Client:
        """The terminal that the person uses now."""
        return self.second or self.client

    async def send(self, command: cmd.AnyCommand) -> None:
        await self.hand.deliver(command)

    def write(self) -> tuple[Text]:
        self.texts.append(f"message {len(self.texts)}.")
        return (Text(self.texts[-1]),)

    async def prompt(self) -> None:
        self.was_stopped = False
        await self.send(cmd.SubmitPrompt(task=self.task, content=self.write()))

    async def steer(self) -> None:
        self.was_stopped = False
        self.decided |= {asked.request for asked in self.state.pending.approvals}
        await self.send(cmd.Steer(task=self.task, content=self.write()))

    async def stop(self) -> None:
        self.was_stopped = True
        await self.send(cmd.Interrupt(task=self.task))

    async def prompt_while_stopping(self) -> None:
        """Stop, and send another prompt before the turn has ended."""
        self.was_stopped = False
        self.client.send(cmd.Interrupt(task=self.task))
        self.client.send(cmd.SubmitPrompt(task=self.task, content=self.write()))

    def lead(self, what: str) -> Callable[[], Awaitable[None]]:
        async def answer() -> None:
            if self.led.asked and not self.led.asked.done():
                self.led.asked.set_result(what)

        return answer

    async def decide(self) -> None:
        for asked in self.state.pending.approvals:
            self.decided.add(asked.request)
            await self.send(cmd.ResolveApproval(task=self.task, request=asked.request, decision=Choice.REJECT_ONCE))

    async def send_held(self) -> None:
        if held := self.state.queue.held:
            self.was_stopped = False
            self.held.discard(held[0].text)
            if self.state.turn is not None:
                self.decided |= {asked.request for asked in self.state.pending.approvals}
            await self.send(cmd.SendQueued(task=self.task, messages=(held[0].id,), steer=self.state.turn is not None))

    async def take_back(self) -> None:
        if messages := self.state.queue.messages:
            await self.send(cmd.WithdrawQueued(task=self.task, message=messages[-1].id))
            self.composer.append(messages[-1].text)
            self.held.discard(messages[-1].text)

    async def clear(self) -> None:
        """Begin another task, as `/clear` does between two turns."""
        if self.task:
            if self.state.turn is not None:
                return
            await self.close_second()
            await self.client.ended(self.task)
        self.was_stopped = True
        self.task = await self.client.start(self.workspace, ASK)
        self.tasks.append(self.task)

    async def go_back(self) -> None:
        """Return to the first task, as `/resume` does."""
        if self.state.turn is None and self.task != self.tasks[0]:
            await self.close_second()
            await self.client.ended(self.task)
            self.was_stopped, self.task = True, self.tasks[0]
            await self.client.resume(self.task, ASK)

    async def close_terminal(self) -> None:
        """Close the terminal, and open the task in another one."""
        await self.close_second()
        cards = [asked.title for asked in self.state.pending.approvals]
        self.client.abandon(self.task, leave_questions=True)
        await self.client.close()
        await self.open_again(cards)

    async def kill(self, after: type[ev.DurableEvent] | None = None) -> None:
        """Go on with what is on the disk, as if the process were killed now, or right after the first such event."""
        await self.close_second()
        cards = [asked.title for asked in self.state.pending.approvals]
        self.homes += 1
        place = self.folder / f"home{self.homes}"
        shutil.copytree(self.root, place, symlinks=True, ignore=shutil.ignore_patterns(SOCKET))
        await self.client.close()
        self.root = place
        if after:
            log = place / "tasks" / self.task / codec.LOG_NAME
            lines = log.read_bytes().splitlines(keepends=True)
            at = next(at for at, line in enumerate(lines, 1) if isinstance(codec.decode(line), after))
            log.write_bytes(b"".join(lines[:at]))
        await self.open_again(cards)

    async def open_again(self, cards: list[str]) -> None:
        self.open_client()
        self.was_stopped, self.decided = not cards, set()
        await self.client.resume(self.task, ASK)
        async with asyncio.timeout(PATIENCE):
            while [asked.title for asked in self.state.pending.approvals] != cards:
                await asyncio.sleep(0.005)

    async def attach(self) -> None:
        """Open the task in a second terminal, which the person uses from then on."""
        if self.second is None:
            self.second = Client(Controller(LedAssembly(self.home, LedModel())), "second")
            async with asyncio.timeout(PATIENCE):
                await self.second.join(self.task, ASK)

    async def close_second(self) -> None:
        if self.second:
            await self.second.close()
            self.second = None

    async def settle(self) -> None:
        """Wait until nothing happens without the model or the person."""
        async with asyncio.timeout(PATIENCE):
            while self.is_moving:
                await asyncio.sleep(0.002)

    @property
    def is_moving(self) -> bool:
        inbox, asked = self.controller.task(self.task).inbox, self.led.asked
        if inbox.is_interrupted or (self.state.turn is None and not inbox.is_idle):
            return True
        cards = {card.request for card in self.state.pending.approvals}
        waits_for_model = asked is not None and not asked.done()
        return self.state.turn is not None and not waits_for_model and not cards - self.decided

    def check(self) -> None:
        delivered = self.list_delivered()
        waiting = [one.text for task in self.tasks for one in self.read_state(task).queue.messages]
        for text in self.texts:
            places = delivered.count(text) + waiting.count(text) + self.composer.count(text)
            assert places == 1, (text, delivered, waiting, self.composer)
        assert not self.held & {*delivered}, "what was held was sent by itself"
        self.held |= {one.text for task in self.tasks for one in self.read_state(task).queue.held}
        if self.was_stopped:
            assert self.state.turn is None, "a turn began by itself"

    def read_state(self, task: str) -> State:
        return self.client.state(task) if task == self.task else fold_events(self.client.past(task))

    def list_delivered(self) -> list[str]:
        return [
            part.text
            for task in self.tasks
            for event in self.client.past(task)
            if isinstance(event, ev.TurnStarted | ev.SteeringReceived)
            for part in event.content
            if isinstance(part, Text)
        ]


STEPS: dict[str, Callable[[Person], Awaitable[None]]] = {
    "prompt": Person.prompt,
    "steer": Person.steer,
    "stop": Person.stop,
    "prompt while stopping": Person.prompt_while_stopping,
    "the model ends": lambda person: person.lead("end")(),
    "the model fails": lambda person: person.lead("fail")(),
    "the model asks": lambda person: person.lead("ask")(),
    "decide": Person.decide,
    "send held": Person.send_held,
    "take back": Person.take_back,
    "clear": Person.clear,
    "resume the first": Person.go_back,
    "close the terminal": Person.close_terminal,
    "kill": Person.kill,
    "attach": Person.attach,
}


async def play(steps: list[str]) -> None:
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a thread may still write an index of the home
        person = Person(Path(folder))
        await person.begin()
        try:
            for step in ["prompt", *steps]:
                await STEPS[step](person)
                await person.settle()
                person.check()
        finally:
            await person.close_second()
            await person.client.close()


KNOWN = (
    ["steer", "stop", "prompt", "the model ends"],
    ["prompt", "stop", "prompt", "the model ends"],
    ["prompt", "stop", "clear", "prompt", "the model ends", "resume the first"],
    ["prompt", "the model fails", "kill", "send held"],
    ["the model asks", "prompt", "close the terminal", "decide", "the model ends", "the model ends"],
    ["the model asks", "kill", "close the terminal"],
    ["prompt", "steer", "prompt while stopping", "stop"],
    ["attach", "prompt", "steer", "stop", "take back"],
    ["prompt", "kill"],
)


@pytest.mark.parametrize("steps", KNOWN, ids=" ".join)
async def test_what_a_person_took_back_does_not_happen(steps: list[str]) -> None:
    await play(steps)


async def test_a_message_that_was_due_when_the_process_died_waits_for_the_person(tmp_path: Path) -> None:
    person = Person(tmp_path)
    await person.begin()
    for step in ("prompt", "prompt", "the model ends"):
        await STEPS[step](person)
        await person.settle()
    await person.kill(ev.TurnEnded)
    await person.settle()
    person.check()
    assert [one.text for one in person.state.queue.held] == person.texts[1:]
    await person.client.close()


@settings(max_examples=choose(120, 12), deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.sampled_from([*STEPS]), min_size=4, max_size=14))
def test_each_message_is_once_delivered_shown_or_in_a_composer(steps: list[str]) -> None:
    asyncio.run(play(steps))
