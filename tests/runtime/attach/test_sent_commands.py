"""What becomes of commands to the process that runs a task."""

from halocline.protocol import commands as cmd
from halocline.protocol.events import TurnStarted
from halocline.protocol.messages import Note, Text
from halocline.runtime.attach.sent import LOST, SentCommand, SentCommands


def prompt(text: str, turn: str) -> SentCommand:
    return SentCommand(cmd.SubmitPrompt(task="t", content=(Text(text),), turn=turn))


def send(commands: SentCommands, *sent: SentCommand) -> None:
    for each in sent:
        commands.expect_answer(each)


async def test_an_accepted_prompt_has_an_outcome_when_its_turn_begins() -> None:
    commands, sent = SentCommands(), prompt("hi", "mine")
    send(commands, sent)
    commands.answer("")
    commands.follow(TurnStarted(content=(Text("hi"),), name="other", seq=1))
    assert (sent.answered.is_set(), sent.outcome.done()) == (True, False)
    commands.follow(TurnStarted(content=(Text("hi"),), name="mine", seq=2))
    assert sent.outcome.result() == ""


async def test_a_turn_without_a_name_is_that_of_the_prompt_with_its_content() -> None:
    commands, first, second = SentCommands(), prompt("one", "first"), prompt("two", "second")
    send(commands, first, second)
    theirs = TurnStarted(content=(Text("three"),), seq=1)
    ours = TurnStarted(content=(Note("a command", "x"), Text("two"), Note("the time", "x")), seq=2)
    assert commands.follow(theirs) == theirs
    named = commands.follow(ours)
    assert isinstance(named, TurnStarted)
    assert (named.name, commands.name_turn(ours), first.outcome.done()) == ("second", named, False)


async def test_a_prompt_that_the_writer_did_not_start_is_sent_again_before_later_ones() -> None:
    commands, started, accepted, unanswered = (SentCommands(), *(prompt(text, text) for text in "abc"))
    later = SentCommand(cmd.Interrupt(task="t"))
    send(commands, started, accepted, unanswered)
    commands.answer("")
    commands.answer("")
    commands.follow(TurnStarted(content=(Text("a"),), name="a", seq=1))
    commands.hold(later)
    assert not commands.lose_writer()
    assert commands.take_unsent() == [accepted, unanswered, later]


async def test_a_command_that_the_writer_may_have_missed_is_reported() -> None:
    commands, sent = SentCommands(), SentCommand(cmd.Interrupt(task="t"))
    send(commands, sent)
    assert commands.lose_writer()
    assert (sent.outcome.result(), commands.take_unsent()) == (LOST, [])


async def test_a_prompt_that_nobody_waits_for_any_more_is_not_sent_again() -> None:
    commands, sent = SentCommands(), prompt("hi", "mine")
    send(commands, sent)
    commands.answer("")
    commands.forget(sent)
    commands.lose_writer()
    assert commands.take_unsent() == []
