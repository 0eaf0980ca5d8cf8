from halocline.protocol.kinds import Mode
from halocline.protocol.messages import StopReason
from halocline.surfaces.cli.input.line_input import Prompt
from halocline.surfaces.cli.live.prompt_queue import PromptQueue

ONE, TWO = Prompt("one", Mode.ACT), Prompt("two", Mode.ACT)


def test_prompts_are_taken_in_order_after_a_turn_that_ended_well() -> None:
    queue = PromptQueue()
    queue.add(ONE)
    queue.add(TWO)
    queue.end_turn(StopReason.END_TURN)
    assert [queue.take_next(), queue.take_next(), queue.take_next()] == [ONE, TWO, None]


def test_after_a_turn_that_ended_badly_they_wait_for_the_person() -> None:
    queue = PromptQueue()
    queue.add(ONE)
    queue.end_turn(StopReason.CANCELLED)
    assert (queue.take_next(), queue.take_first(), queue.is_held) == (None, ONE, False)


def test_a_prompt_that_could_not_be_sent_waits_before_the_others_to_be_edited_or_sent_again() -> None:
    queue = PromptQueue()
    queue.add(TWO)
    queue.hold(ONE)
    assert (queue.take_next(), queue.take_first(), queue.take_first()) == (None, ONE, TWO)
