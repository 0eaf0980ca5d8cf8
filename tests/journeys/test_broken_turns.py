"""A bug in a turn is an end of the turn: told in words, with its trace in the program's log, and the task goes on."""

import errno

import pytest
from tests.journeys.conftest import ScriptedAssembly

from halocline.checkpoints.off import Off
from halocline.client.tasks import Client
from halocline.ports.hooks import Outcome
from halocline.protocol import commands as cmd
from halocline.protocol.errors import SecretsError
from halocline.protocol.events import ErrorRaised, TextDelta, TurnEnded
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Scripted, Turn
from halocline.runtime.controller import Controller
from halocline.runtime.error_log import FILE_NAME
from halocline.store.settings.settings import Settings
from halocline.task.turn_ends import BROKE

BUGS = [
    ValueError("no \n such"),
    RecursionError("too deep"),
    UnicodeEncodeError("utf-8", "\udce9", 0, 1, "surrogates not allowed"),
    MemoryError(),
    OSError(errno.EIO, "Input/output error"),
    ExceptionGroup("both", [KeyError("one"), ExceptionGroup("inner", [IndexError("two")])]),
    AssertionError(),
]


class Breaking:
    """A model that breaks once, in the middle of its first reply, and is sound from then on."""

    def __init__(self, bug: Exception, turns) -> None:
        self._bug: Exception | None = bug
        self._sound = Scripted(turns)
        self.name = self._sound.name

    async def stream(self, request):
        if bug := self._bug:
            self._bug = None
            yield TextDelta("Let me")
            raise bug
        async for event in self._sound.stream(request):
            yield event

    async def close(self) -> None:
        await self._sound.close()


class BreakingAssembly(ScriptedAssembly):
    def __init__(self, home, bug, turns) -> None:
        super().__init__(home, Settings(sandbox="off"), turns, {})
        self._breaking = Breaking(bug, turns)

    async def model(self, named):
        return self._breaking


def breaking(journey, bug, *turns) -> Client:
    return Client(Controller(BreakingAssembly(journey.home, bug, turns)), "test")


def traces(journey) -> str:
    return (journey.home.logs / FILE_NAME).read_text()


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: type(bug).__name__)
async def test_whatever_is_raised_in_a_turn_ends_it_with_words_and_a_trace(journey, bug, capfd):
    await journey.run(client=breaking(journey, bug))
    (raised,) = journey.of(ErrorRaised)
    (end,) = journey.of(TurnEnded)
    assert (end.reason, end.text) == (StopReason.ERROR, raised.text)
    assert raised.code == BROKE
    assert journey.task in raised.hint
    assert "Traceback" in traces(journey)
    assert "Traceback" not in "".join(capfd.readouterr())


async def test_what_can_be_explained_keeps_its_own_words(journey):
    await journey.run(client=breaking(journey, SecretsError("The key cannot be read.", "Unlock the keyring.")))
    (raised,) = journey.of(ErrorRaised)
    assert (raised.code, raised.text, raised.hint) == ("secrets", "The key cannot be read.", "Unlock the keyring.")


async def test_the_task_goes_on_in_the_same_process_and_in_the_next(journey):
    client = breaking(journey, ValueError("x"), Turn(text="Here."), Turn(text="unused"))
    try:
        await journey.open(client)
        await journey.prompt(client)
        await journey.prompt(client, "again")
    finally:
        await client.close()
    assert journey.state.last_end.reason is StopReason.END_TURN
    await journey.run(Turn(), Turn(), Turn(text="Still here."), resume=journey.task)
    assert journey.state.last_end.reason is StopReason.END_TURN


class BreakingHooks:
    """Hooks with a bug at one moment."""

    def __init__(self, moment: str) -> None:
        self._moment = moment

    def attach(self, emit, state) -> None:
        pass

    async def begins(self) -> None:
        return self._breaks("begins")

    async def before(self, call) -> Outcome:
        return self._breaks("before") or Outcome()

    async def after(self, call, said, seconds, *, failed) -> Outcome:
        return self._breaks("after") or Outcome()

    async def before_compaction(self, what) -> Outcome:
        return self._breaks("before_compaction") or Outcome()

    async def holds(self) -> bool:
        return bool(self._breaks("holds"))

    async def ends(self, end) -> tuple:
        return self._breaks("ends") or ()

    def waits(self, kind, message) -> None:
        self._breaks("waits")

    def _breaks(self, moment: str) -> None:
        if moment == self._moment:
            raise ZeroDivisionError(moment)


class BreakingCheckpoints(Off):
    """Broken once, at the end of the turn."""

    _is_sound = False

    async def settle(self) -> None:
        if not self._is_sound:
            self._is_sound = True
            raise ZeroDivisionError("settle")


class BrokenRoomAssembly(ScriptedAssembly):
    """A room of the task's has a bug: its checkpoints, or its hooks at one moment."""

    def __init__(self, home, turns, room) -> None:
        super().__init__(home, Settings(sandbox="off"), turns, {})
        self._room = room

    def _build_host(self, log, state, workspace, hooks, *parts):
        return super()._build_host(log, state, workspace, BreakingHooks(self._room), *parts)

    def _checkpoints(self, *arguments):
        return BreakingCheckpoints() if self._room == "checkpoints" else Off()


@pytest.mark.parametrize("room", ["begins", "after", "holds", "ends", "checkpoints"])
async def test_a_bug_in_any_room_leaves_no_call_and_no_turn_without_an_end(journey, room):
    turns = [Turn(calls=(Call("list_files", {"path": "."}),)), Turn(text="done")]
    client = Client(Controller(BrokenRoomAssembly(journey.home, turns, room)), "test")
    await journey.run(client=client)
    assert len(journey.of(TurnEnded)) == 1
    assert journey.state.turn is None
    assert not journey.state.pending.calls
    assert "ZeroDivisionError" in traces(journey)


async def test_a_bug_while_the_conversation_is_shortened_between_turns_does_not_end_the_task(journey):
    long = "\n".join(f"line {number}" for number in range(20_000))
    client = breaking(journey, ValueError("x"), Turn(text=long), Turn(text="done"), Turn(text="done"))
    try:
        await journey.open(client)
        await journey.prompt(client)
        await journey.prompt(client)
        client.send(cmd.Compact(task=journey.task))
        await journey.prompt(client)
    finally:
        await client.close()
    assert journey.state.last_end.reason is StopReason.END_TURN
