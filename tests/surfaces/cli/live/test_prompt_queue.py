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


def test_a_prompt_sent_after_a_stop_goes_first_and_is_not_held() -> None:
    queue = PromptQueue()
    queue.add(TWO)
    queue.add_after_stop(ONE)
    queue.end_turn(StopReason.CANCELLED)
    assert [queue.holds(0), queue.holds(1)] == [False, True]
    assert (queue.take_next(), queue.take_next(), queue.take_first()) == (ONE, None, TWO)


def test_prompts_sent_after_a_stop_keep_their_order_and_leave_nothing_held() -> None:
    queue = PromptQueue()
    queue.add_after_stop(ONE)
    queue.add_after_stop(TWO)
    queue.end_turn(StopReason.CANCELLED)
    assert (queue.take_next(), queue.is_held, queue.take_next(), queue.take_next()) == (ONE, False, TWO, None)


def test_a_prompt_that_is_taken_back_after_a_stop_releases_no_other() -> None:
    queue = PromptQueue()
    queue.add_after_stop(ONE)
    assert queue.take_last() == ONE
    queue.add(TWO)
    queue.end_turn(StopReason.CANCELLED)
    assert (queue.take_next(), queue.holds(0)) == (None, True)


def test_a_prompt_that_could_not_be_sent_waits_before_the_others_to_be_edited_or_sent_again() -> None:
    queue = PromptQueue()
    queue.add(TWO)
    queue.hold(ONE)
    assert (queue.take_next(), queue.take_first(), queue.take_first()) == (None, ONE, TWO)
