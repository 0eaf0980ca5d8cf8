"""Servers that take less than a task has to say, over each family's wire, in each vendor's own words."""

import pytest
from tests.journeys.conftest import LONGEST, NO_SERVERS
from tests.journeys.soundness import assert_sound
from tests.journeys.test_wire import KEYS, MODELS
from tests.providers.markup import spoken
from tests.servers.model_server import ModelServer

from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.sections import CompactionSettings
from halocline.store.settings.settings import Settings

LINES = [f"line {number} of a file that is read again and again" for number in range(120)]
STEPS = 60
WINDOWS = (10_000, 14_000, 23_000)
FAMILIES = [family for family in MODELS if not family.startswith("azure")]


def turns(count):
    for number in range(count):
        change = Call("write_to_file", {"path": f"made{number % 7}.txt", "content": f"made in step {number}\n" * 60})
        reading = Call("read_file", {"path": f"f{number % 12}.txt"})
        yield Turn(text=f"step {number}", calls=(change if number % 5 == 0 else reading,))
    yield Turn(text="All done.")


async def play(journey, family, count=STEPS, text_tools=(), **server):
    for number in range(12):
        journey.write(f"f{number}.txt", "".join(f"{number}. {line}\n" for line in LINES))
    async with ModelServer([spoken(turn) if text_tools else turn for turn in turns(count)], **server) as listening:
        journey.settings = Settings(
            base_url=listening.url(family),
            text_tools=text_tools,
            compaction=CompactionSettings(automatic=False),
            checkpoints=False,
            language_servers=NO_SERVERS,
            max_steps=2_000,
            context_window=server["window"] * 26 // 25 if not server.get("says_why", True) else None,
        )
        client = Client(Controller(Assembly(journey.home, journey.settings, KEYS)), "test")
        options = TaskOptions(model=MODELS[family], approval_mode=ApprovalMode.YOLO)
        await journey.run(client=client, options=options)
    assert journey.state.last_end.reason is StopReason.END_TURN, journey.of(ev.ErrorRaised)
    assert_sound(journey.logged)
    made = journey.of(ev.Compacted)
    refused = journey.state.budget.steps - (count + 1)
    assert 0 < refused <= len(made)  # one that is known to be too long is not sent at all
    return made


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("family", FAMILIES)
async def test_a_request_that_is_too_long_never_ends_the_task(journey, family, window):
    made = await play(journey, family, window=window)
    assert made
    assert {event.cause for event in made} == {CompactionCause.OVERFLOW}
    assert all(event.after < event.before for event in made)
    learnt = [event for event in made if event.limit is not None]  # the others were known to be too long, and not sent
    assert all(event.limit < event.before for event in learnt)
    if family == "openai-responses":  # these words name no number
        assert learnt
        assert not any(event.limit == window for event in learnt)
    else:  # what the server names counts wherever it is less than what we thought to send
        assert all(event.limit == window for event in learnt if event.before > window)
        assert window < 12_000 or any(event.limit == window for event in learnt)


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_refusal_without_a_reason_of_a_request_that_nearly_fills_the_window_is_taken_for_one(journey, family):
    assert await play(journey, family, window=14_000, says_why=False)


async def test_a_model_without_tool_calls_goes_on_after_an_overflow_too(journey):
    assert await play(journey, "openai", window=14_000, text_tools=("*",))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
async def test_five_hundred_steps_in_a_small_window_come_to_their_end(journey, family):
    journey.longest = 10 * LONGEST
    assert len(await play(journey, family, count=500, window=16_000)) > 20
