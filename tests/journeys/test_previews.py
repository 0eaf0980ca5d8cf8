import asyncio

import pytest

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.runtime.history.previews import LARGEST, with_previews

EDITS = TaskOptions(approval_mode=ApprovalMode.ACCEPT_EDITS)
DONE = Turn(text="done")
DIFF = "------- SEARCH\n    return a - b\n=======\n    return a + b\n+++++++ REPLACE\n"


async def watched(journey, *calls: Call) -> list[ev.Event]:
    """All events of a turn that makes these calls, as a client hears them that shows growing edits."""
    client = journey.client([Turn(calls=calls), DONE])
    heard: list[ev.Event] = []
    try:
        await journey.open(client, EDITS)
        events = client.previewed(journey.task)
        client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("go"),)))
        async with asyncio.timeout(20):
            async for event in events:
                heard.append(event)
                if isinstance(event, ev.TurnEnded):
                    return heard
    finally:
        await client.close()
    raise AssertionError("the turn did not end")


def previews(heard: list[ev.Event]) -> list[ev.EditPreviewed]:
    return [event for event in heard if isinstance(event, ev.EditPreviewed)]


async def test_an_edit_is_seen_growing_before_its_call_is_made(journey):
    journey.write("calc.py", "def add(a, b):\n    return a - b\n")
    heard = await watched(journey, Call("replace_in_file", {"path": "calc.py", "diff": DIFF}, id="c1"))
    last = previews(heard)[-1]
    assert last == ev.EditPreviewed(
        "c1", "replace_in_file", "calc.py", 1, 2, 1, 1, ("-    return a - b", "+    return a + b")
    )
    assert heard.index(last) < next(i for i, e in enumerate(heard) if isinstance(e, ev.AssistantMessageCompleted))
    (ended,) = (event for event in heard if isinstance(event, ev.ToolCallEnded))
    assert (ended.diffs[0].added, ended.diffs[0].removed) == (last.added, last.removed)


async def test_nobody_else_hears_of_it_and_the_log_has_nothing_of_it(journey):
    journey.write("calc.py", "def add(a, b):\n    return a - b\n")
    await journey.run(Turn(calls=(Call("replace_in_file", {"path": "calc.py", "diff": DIFF}, id="c1"),)), DONE)
    assert previews(journey.events) == []


@pytest.mark.parametrize("name", ["../outside.py", ".env", "huge.py", "folder", "nowhere.py"])
async def test_a_file_that_would_be_asked_about_or_cannot_be_read_is_not_looked_into(journey, name):
    (journey.workspace.parent / "outside.py").write_text("    return a - b\n")
    journey.write(".env", "    return a - b\n")
    journey.write("huge.py", "    return a - b\n" + "x\n" * LARGEST)
    (journey.workspace / "folder").mkdir()
    heard = await watched(journey, Call("replace_in_file", {"path": name, "diff": DIFF}, id="c1"))
    assert {event.line for event in previews(heard)} == {None}
    assert previews(heard)[-1].added == 1


async def test_a_request_that_is_made_again_begins_with_nothing():
    async def events():
        yield ev.ToolCallDelta("c1", "write_to_file", '{"path": "a", "content": "one\\ntwo\\n')
        yield ev.StepRetried(1, 0.0, "it broke")
        yield ev.ToolCallDelta("c1", "write_to_file", '{"path": "a", "content": "three\\n')

    async def nothing(name: str) -> None:
        return None

    heard = previews([event async for event in with_previews(events(), nothing)])
    assert [(event.added, event.lines) for event in heard] == [(2, ("+one", "+two")), (1, ("+three",))]
