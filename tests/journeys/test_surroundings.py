"""What the model is told of its surroundings while it works, through whole tasks."""

import asyncio

import pytest
from tests.journeys.test_wire import play
from tests.providers.markup import spoken

from halocline.context.notes.folder import REPLACED, TOLD
from halocline.context.system_prompt.environment import PLAN, SWITCHED
from halocline.files.folder_mark import read_mark
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import Note, Usage
from halocline.providers.scripted.model import Call, Turn

LISTING = Call("list_files", {"path": "."})


def said(journey) -> list[str]:
    return [part.text for event in journey.of(ev.EnvironmentReported) for part in event.content]


async def test_a_mode_that_the_person_switches_while_a_turn_runs_is_told_before_the_next_request(journey):
    def switching(event):
        ended = isinstance(event, ev.ToolCallEnded)
        return cmd.SetMode(task=event.task, mode=Mode.PLAN) if ended else None

    await journey.run(Turn(calls=(LISTING,)), Turn(text="Well.", expect=PLAN), answer=switching)
    assert said(journey) == [PLAN + SWITCHED]


async def test_a_prompt_with_nothing_new_around_it_has_no_note(journey):
    client = journey.client([Turn(text="One."), Turn(text="Two.")])
    try:
        await journey.open(client)
        await journey.prompt(client)
        await journey.prompt(client)
    finally:
        await client.close()
    first, second = (event.content for event in journey.logged if isinstance(event, ev.TurnStarted))
    assert [isinstance(part, Note) for part in first] == [False, True]
    assert [isinstance(part, Note) for part in second] == [False]


async def test_a_folder_that_another_took_the_place_of_is_told_to_the_model_and_the_person_once(journey):
    folder = journey.workspace
    if not read_mark(folder):
        pytest.skip("this file system cannot tell folders apart")
    replaced = REPLACED.format(folder=folder)
    client = journey.client([Turn(text="One."), Turn(text="Two.", expect=replaced), Turn(text="Three.")])
    told = []

    async def listen():
        async for event in client.events(journey.task):
            told.extend([event.text] if isinstance(event, ev.Noticed) else [])

    await journey.open(client)
    listening = asyncio.create_task(listen())
    await journey.prompt(client)
    folder.rename(folder.with_name("moved"))
    folder.mkdir()
    await journey.prompt(client)
    await journey.prompt(client)
    await client.close()
    await listening
    assert told == [TOLD.format(folder=folder, task=journey.task)]
    noted = [event.content for event in journey.logged if isinstance(event, ev.TurnStarted)]
    assert [any(isinstance(part, Note) and part.text == replaced for part in content) for content in noted] == [
        False,
        True,
        False,
    ]


async def test_how_full_the_window_is_is_told_as_it_fills(journey):
    usages = (Usage(input=400), Usage(input=520, output=3), Usage(input=590), Usage(input=600))
    turns = [Turn(calls=(LISTING,), usage=usage) for usage in usages]
    await play(journey, "openai", turns=[*turns, Turn(text="Full.")], model="openai/x", context_window=1_000)
    assert said(journey) == [f"Context: {percent} % of 1,000 tokens used" for percent in (52, 60)]


async def test_a_small_window_gets_the_compact_prompt_and_fewer_tools(journey):
    async def offered(**settings) -> tuple[int, set[str]]:
        (request,) = await play(journey, "openai", turns=[Turn(text="Hi.")], model="openai/x", **settings)
        system = request.body["messages"][0]["content"]
        return len(system), {tool["function"]["name"] for tool in request.body["tools"]}

    full, every = await offered(context_window=32_769)
    small, fewer = await offered(context_window=32_768)
    assert small < 0.7 * full
    assert fewer < every


@pytest.mark.parametrize("text_tools", [(), ("*",)])
async def test_with_the_compact_prompt_an_edit_is_an_old_and_a_new_text(journey, text_tools):
    (journey.workspace / "a.py").write_text("if x:\n    y = 30\n")
    change = {"path": "a.py", "old_text": "    y = 30\n", "new_text": "    y = 60\n"}
    calls = (Call("read_file", {"path": "a.py"}), Call("replace_in_file", change))
    turns = [*(Turn(calls=(call,)) for call in calls), Turn(text="Done.")]
    said = [spoken(turn) for turn in turns] if text_tools else turns
    requests = await play(journey, "openai", turns=said, model="openai/x", context_window=32_768, text_tools=text_tools)
    assert (journey.workspace / "a.py").read_text() == "if x:\n    y = 60\n"
    offered = str(requests[0].body)
    assert ("old_text" in offered, "SEARCH" in offered) == (True, False)
