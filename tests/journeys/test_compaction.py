import asyncio

import pytest
from tests.journeys.conftest import YOLO, Journey, ScriptedAssembly
from tests.journeys.deaths import dead_after
from tests.journeys.soundness import assert_sound

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Note, StopReason, Text, UserMessage
from halocline.providers.scripted.model import Call, Scripted, Turn
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.sections import CompactionSettings
from halocline.store.settings.settings import Settings

FILE = "".join(f"line {number} of a file that is read again and again\n" for number in range(120))
"""About 1,500 tokens."""
SUMMARY = "## Goal\nRead it all.\n## Next\nRead on."


def reading(number):
    return Turn(text=f"file {number}", calls=(Call("read_file", {"path": f"f{number % 12}.txt"}),))


def steps(count):
    return [*(reading(number) for number in range(count)), Turn(text="All read.")]


class Narrow(ScriptedAssembly):
    """A model that takes so many tokens, and says so only when `tells`."""

    def __init__(self, home, settings, turns, **script):
        super().__init__(home, settings, turns)
        self._script = Scripted(turns, **script)


@pytest.fixture
def narrow(journey: Journey):
    for number in range(12):
        journey.write(f"f{number}.txt", FILE.replace("line", f"line {number}."))

    def client(turns, window, summary=SUMMARY, summary_delay=0.0, **settings):
        journey.settings = Settings(**settings, checkpoints=False)
        script = {"window": window, "summary": summary, "summary_delay": summary_delay}
        return Client(Controller(Narrow(journey.home, journey.settings, turns, **script)), "test")

    return client


def compactions(journey):
    return [event for event in journey.logged if isinstance(event, ev.Compacted)]


async def test_a_conversation_that_nearly_fills_the_window_is_shortened_and_goes_on(journey, narrow):
    await journey.run(client=narrow(steps(40), 12_000))
    made = compactions(journey)
    assert len(made) >= 2
    assert {event.cause for event in made} == {CompactionCause.CROWDED}
    assert all(event.after < event.before * 0.9 and event.summary == SUMMARY for event in made)
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert journey.state.budget.steps == 41
    assert_sound(journey.logged)


async def test_a_server_that_calls_a_request_too_long_does_not_end_the_task(journey, narrow):
    automatic = CompactionSettings(automatic=False)
    await journey.run(client=narrow(steps(40), 12_000, compaction=automatic))
    made = compactions(journey)
    assert {event.cause for event in made} == {CompactionCause.OVERFLOW}
    assert all(event.limit in (None, 12_000) and not event.summary for event in made)
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert_sound(journey.logged)


async def test_a_first_prompt_that_is_too_long_is_cut_and_answered(journey, narrow):
    await journey.run(client=narrow([Turn(text="Too much, but well.")], 6_000), prompt="word " * 20_000)
    assert journey.state.last_message.text == "Too much, but well."
    assert isinstance(journey.state.messages[0].content[0], Text)
    assert len(journey.state.messages[0].content[0].text) == 100_000


async def test_what_cannot_be_made_short_enough_ends_the_turn_with_the_servers_words(journey, narrow):
    await journey.run(client=narrow([Turn(text="never")], 100))
    assert journey.state.last_end.reason is StopReason.ERROR
    (error,) = journey.of(ev.ErrorRaised)
    assert error.code == "model_context_exceeded"
    assert_sound(journey.logged)


async def test_without_a_summary_the_facts_alone_stand_for_what_was(journey, narrow):
    await journey.run(client=narrow(steps(40), 12_000, summary=""))
    made = compactions(journey)
    assert made
    assert not any(event.summary for event in made)
    assert "f1.txt" in next(note.text for note in made[-1].content if note.source == "ledger")
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_a_task_that_wants_no_summary_asks_for_none_and_keeps_the_last_replies(journey, narrow):
    await journey.run(client=narrow(steps(40), 12_000, compaction=CompactionSettings(summary=False)))
    made = compactions(journey)
    assert made
    assert not journey.of(ev.Noticed)
    assert all((event.cause, event.summary) == (CompactionCause.CROWDED, "") for event in made)
    replies = next(note.text for note in made[-1].content if note.source == "replies")
    assert [line[:7] for line in replies.split("\n\n")] == ["# Your ", "file 34", "file 35", "file 36"]
    assert len(journey.of(ev.StepStarted)) == 41
    assert_sound(journey.logged)


async def test_a_focus_asks_for_a_summary_all_the_same(journey, narrow):
    client = narrow(steps(12), None, compaction=CompactionSettings(summary=False))
    await journey.open(client, YOLO)
    await journey.prompt(client)
    for focus, summary in (("", ""), ("the API", SUMMARY)):
        sent = client.state(journey.task).seq
        client.send(cmd.Compact(task=journey.task, focus=focus))
        seen = [event async for event in until(client, journey, sent, ev.Compacted)]
        assert seen[-1].summary == summary
        client.send(cmd.Compact(task=journey.task, undo=True))
        [event async for event in until(client, journey, seen[-1].seq, ev.CompactionUndone)]
    await client.close()


async def test_a_person_can_shorten_it_between_turns_and_take_that_back(journey, narrow):
    client = narrow(steps(12), None)
    await journey.open(client, YOLO)
    await journey.prompt(client)
    before = client.state(journey.task)
    sent = before.seq
    client.send(cmd.Compact(task=journey.task, focus="the API"))
    seen = [event async for event in until(client, journey, sent, ev.Compacted)]
    assert [type(event) for event in seen] == [ev.CompactionStarted, ev.UsageReported, ev.Compacted]
    assert seen[-1].focus == "the API"
    assert seen[-1].after < seen[-1].before * 0.6
    client.send(cmd.Compact(task=journey.task, undo=True))
    [event async for event in until(client, journey, seen[-1].seq, ev.CompactionUndone)]
    assert client.state(journey.task).compaction.latest is None
    assert client.state(journey.task).messages == before.messages
    await client.close()


async def test_a_summary_that_is_longer_than_what_it_stands_for_is_done_without(journey, narrow):
    many = Turn(calls=(Call("execute_command", {"command": "seq 3000"}),))
    client = narrow([many, Turn(text="done")], None, summary="word " * 8_000)
    await journey.open(client, YOLO)
    await journey.prompt(client)
    client.send(cmd.Compact(task=journey.task))
    seen = [event async for event in until(client, journey, client.state(journey.task).seq, ev.Compacted)]
    assert [type(event) for event in seen] == [ev.CompactionStarted, ev.UsageReported, ev.Compacted]
    assert (seen[-1].summary, seen[-1].after < seen[-1].before * 0.9) == ("", True)
    await client.close()


async def test_taking_back_twice_takes_both_back_and_a_third_time_says_that_there_is_none(journey, narrow):
    client = narrow([*steps(12), *steps(12)], None)
    await journey.open(client, YOLO)
    for _ in range(2):
        await journey.prompt(client)
        client.send(cmd.Compact(task=journey.task))
        [event async for event in until(client, journey, client.state(journey.task).seq, ev.Compacted)]
    first, second = client.state(journey.task).compaction.applied
    assert first.kept_from < second.kept_from
    said = []
    for wanted in (ev.CompactionUndone, ev.CompactionUndone, ev.ErrorRaised):
        client.send(cmd.Compact(task=journey.task, undo=True))
        [event async for event in until(client, journey, client.state(journey.task).seq, wanted)]
        said.append(client.state(journey.task).compaction.latest)
    await client.close()
    assert said == [first, None, None]


async def test_too_little_to_shorten_is_said_and_nothing_is_asked(journey, narrow):
    client = narrow([Turn(text="hello")], None)
    await journey.open(client, YOLO)
    await journey.prompt(client)
    client.send(cmd.Compact(task=journey.task))
    seen = [event async for event in until(client, journey, client.state(journey.task).seq, ev.ErrorRaised)]
    assert [event.code for event in seen] == ["not_compacted"]
    await client.close()


async def test_what_was_said_and_what_is_open_survives_every_compaction(journey, narrow):
    todos = Turn(calls=(Call("update_todos", {"todos": [{"text": "tell the person"}]}),))
    client = narrow([Turn(text="Yes."), todos, *steps(40)], 12_000)
    await journey.open(client, YOLO)
    await journey.prompt(client, "Read all files.")
    await journey.prompt(client, "Never touch f3.txt!")
    shown = client.state(journey.task)
    await client.close()
    assert len(compactions(journey)) >= 2
    notes = (part for part in shown.compaction.latest.content if isinstance(part, Note))
    facts = next(note.text for note in notes if note.source == "ledger")
    assert "> Never touch f3.txt!" in facts
    assert "tell the person" in facts
    assert "f2.txt" in facts
    assert isinstance(shown.messages[0], UserMessage)


async def test_a_hook_may_keep_a_conversation_from_being_shortened(journey, narrow):
    blocking = journey.workspace / ".clinerules/hooks/PreCompact"
    blocking.parent.mkdir(parents=True)
    blocking.write_text("""#!/bin/sh\ncat >/dev/null; echo '{"cancel": true, "errorMessage": "not today"}'\n""")
    blocking.chmod(0o755)
    client = narrow(steps(12), None)
    await journey.open(client, TaskOptions(approval_mode=ApprovalMode.YOLO, trusted=True))
    await journey.prompt(client)
    client.send(cmd.Compact(task=journey.task))
    seen = [event async for event in until(client, journey, client.state(journey.task).seq, ev.ErrorRaised)]
    assert [type(event) for event in seen] == [ev.HookRan, ev.ErrorRaised]
    assert "not today" in seen[-1].text
    assert client.state(journey.task).compaction.latest is None
    await client.close()


async def test_an_interrupt_ends_a_compaction_and_the_task_goes_on(journey, narrow):
    client = narrow([*steps(12), Turn(text="Well.")], None, summary_delay=60.0)
    await journey.open(client, YOLO)
    await journey.prompt(client)
    client.send(cmd.Compact(task=journey.task))
    [event async for event in until(client, journey, client.state(journey.task).seq, ev.CompactionStarted)]
    client.send(cmd.Interrupt(task=journey.task))
    seen = [event async for event in until(client, journey, client.state(journey.task).seq - 1, ev.ErrorRaised)]
    assert seen[-1].code == "compaction_cut"
    await journey.prompt(client, "And now?")
    assert client.state(journey.task).last_message.text == "Well."
    await client.close()


async def test_a_task_that_died_while_it_was_shortened_can_be_shortened_anew(journey, narrow, tmp_path):
    client = narrow(steps(12), None)
    await journey.open(client, YOLO)
    await journey.prompt(client)
    sent = client.state(journey.task).seq
    client.send(cmd.Compact(task=journey.task))
    [event async for event in until(client, journey, sent, ev.Compacted)]
    await client.close()
    dead_after(journey, ev.UsageReported, tmp_path / "then", sent)
    client = narrow(steps(12), None)
    await journey.open(client, YOLO, journey.task)
    sent = client.state(journey.task).seq
    client.send(cmd.Compact(task=journey.task))
    [event async for event in until(client, journey, sent, ev.Compacted)]
    await client.close()
    assert [event.code for event in journey.logged if isinstance(event, ev.ErrorRaised)] == ["compaction_cut"]
    assert_sound(journey.logged)


async def test_in_plan_mode_a_conversation_is_shortened_as_well_and_stays_in_it(journey, narrow):
    client = narrow(steps(40), 12_000)
    await journey.open(client, TaskOptions(approval_mode=ApprovalMode.YOLO, mode=Mode.PLAN))
    await journey.prompt(client)
    await client.close()
    assert compactions(journey)
    assert journey.state.plan.mode is Mode.PLAN
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert_sound(journey.logged)


async def test_an_answer_in_a_form_comes_also_after_a_conversation_was_shortened(journey, narrow):
    schema = {"type": "object", "properties": {"files": {"type": "integer"}}, "required": ["files"]}
    client = narrow([*(reading(number) for number in range(40)), Turn(text='{"files": 12}')], 12_000)
    await journey.open(client, YOLO)
    await journey.prompt(client, schema=schema)
    await client.close()
    assert compactions(journey)
    assert journey.state.answer.accepted == {"files": 12}
    assert_sound(journey.logged)


async def until(client, journey, after, kind):
    async with asyncio.timeout(20):
        async for event in client.events(journey.task, after):
            yield event
            if isinstance(event, kind):
                return
