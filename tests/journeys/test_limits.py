import pytest
from tests.journeys.soundness import assert_sound

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Fault, Turn
from halocline.task.governor import GO_ON, STOP

DONE = Turn(text="done")


def shell(command, id=""):
    return Call("execute_command", {"command": command, "requires_approval": False}, id=id)


def steps(count, cost=None):
    return [Turn(calls=(shell(f"echo {number}"),), cost=cost) for number in range(count)]


FAILURE = Turn(calls=(Call("read_file", {"path": "missing"}),))
LIMITS = {
    "steps": ({"max_steps": 2}, steps(2)),
    "cost": ({"max_cost": 0.02}, steps(2, cost=0.01)),
    "failures": ({"max_failures": 2}, [FAILURE] * 2),
    "repetition": ({}, [Turn(calls=(Call("read_file", {"path": "a.txt"}),))] * 5),
}
"""Settings, and the turns after which the limit is reached."""
every_limit = pytest.mark.parametrize("limit", LIMITS)


@pytest.fixture(autouse=True)
def file(journey):
    return journey.write("a.txt", "one\n")


def answering(*answers):
    """A person who gives the answers in turn, the last one again and again."""
    left = list(answers)

    def answer(event):
        if isinstance(event, ev.QuestionAsked):
            text = left.pop(0) if len(left) > 1 else left[0]
            return cmd.AnswerQuestion(task=event.task, request=event.request, answer=text)
        return None

    return answer


def end(journey):
    return journey.state.last_end.reason, journey.state.last_end.limit


@every_limit
async def test_without_a_person_a_limit_stops_the_turn_and_is_named(journey, limit):
    settings, turns = LIMITS[limit]
    await journey.run(*turns, DONE, **settings)
    assert end(journey) == (StopReason.MAX_TURN_REQUESTS, limit)
    assert journey.state.last_end.text
    assert journey.state.budget.steps == len(turns)
    assert_sound(journey.logged)


@every_limit
async def test_a_person_is_asked_at_a_limit_and_can_go_on(journey, limit):
    settings, turns = LIMITS[limit]
    await journey.run(*turns, DONE, answer=answering(GO_ON), **settings)
    (asked,) = journey.of(ev.QuestionAsked)
    assert asked.options == (GO_ON, STOP)
    assert end(journey) == (StopReason.END_TURN, "")


@every_limit
async def test_a_person_can_stop_at_a_limit(journey, limit):
    settings, turns = LIMITS[limit]
    await journey.run(*turns, DONE, answer=answering(STOP), **settings)
    assert end(journey) == (StopReason.MAX_TURN_REQUESTS, limit)
    assert_sound(journey.logged)


@every_limit
async def test_other_words_at_a_limit_reach_the_model_and_it_goes_on(journey, limit):
    settings, turns = LIMITS[limit]
    told = Turn(text="ok", expect="look at the docs first")
    await journey.run(*turns, told, answer=answering("look at the docs first"), **settings)
    assert "SteeringReceived" in journey.kinds
    assert end(journey) == (StopReason.END_TURN, "")


@every_limit
async def test_going_on_begins_the_count_anew(journey, limit):
    settings, turns = LIMITS[limit]
    await journey.run(*turns, *turns, *turns, DONE, answer=answering(GO_ON, GO_ON, STOP), **settings)
    assert journey.state.budget.steps == 3 * len(turns)
    assert len(journey.of(ev.QuestionAsked)) == 3


async def test_the_time_limit_cuts_off_a_hanging_command_when_nobody_is_there(journey):
    await journey.run(Turn(calls=(shell("sleep 60", id="c"),)), DONE, time_limit=0.2)
    assert end(journey) == (StopReason.MAX_TURN_REQUESTS, "time")
    assert journey.ends == [("c", "cancelled")]
    assert_sound(journey.logged)


async def test_the_time_limit_cuts_off_a_model_that_says_nothing_when_nobody_is_there(journey):
    await journey.run(Turn(text="late", delay=60), time_limit=0.1)
    assert end(journey) == (StopReason.MAX_TURN_REQUESTS, "time")


async def test_with_a_person_the_time_limit_asks_between_steps_and_cuts_off_nothing(journey):
    turns = [Turn(calls=(shell("sleep 0.2", id="c"),)), DONE]
    await journey.run(*turns, answer=answering(GO_ON), time_limit=0.1)
    assert journey.ends == [("c", "completed")]
    assert journey.of(ev.QuestionAsked)
    assert end(journey) == (StopReason.END_TURN, "")


async def test_the_next_prompt_has_steps_of_its_own(journey):
    client = journey.client([*steps(2), *steps(1), DONE], max_steps=2)
    await journey.open(client)
    await journey.prompt(client)
    await journey.prompt(client, "go on")
    await client.close()
    assert end(journey) == (StopReason.END_TURN, "")


async def test_what_a_task_may_cost_is_remembered_when_it_is_opened_again(journey):
    await journey.run(*steps(2, cost=0.01), DONE, max_cost=0.02)
    await journey.run(*steps(2, cost=0.01), DONE, resume=journey.task, max_cost=0.02)
    assert end(journey) == (StopReason.MAX_TURN_REQUESTS, "cost")
    assert journey.state.budget.steps == 2


async def test_a_success_in_between_starts_the_count_of_failures_anew(journey):
    good = Turn(calls=(shell("true"),))
    await journey.run(FAILURE, FAILURE, good, FAILURE, FAILURE, DONE)
    assert end(journey) == (StopReason.END_TURN, "")


OUTSIDE = Turn(calls=(Call("read_file", {"path": "hidden/x"}),))


async def test_calls_that_are_refused_count_as_calls_that_fail_do(journey):
    journey.write(".haloclineignore", "hidden/\n")
    await journey.run(OUTSIDE, FAILURE, OUTSIDE, FAILURE, DONE)
    assert end(journey) == (StopReason.MAX_TURN_REQUESTS, "failures")


async def test_the_same_call_in_another_order_of_words_is_the_same(journey):
    turns = [{"path": "a.txt", "task_progress": f"- [ ] step {number}"} for number in range(6)]
    same = [dict(reversed(one.items())) if number % 2 else one for number, one in enumerate(turns)]
    await journey.run(*(Turn(calls=(Call("read_file", one),)) for one in same), DONE)
    assert end(journey) == (StopReason.MAX_TURN_REQUESTS, "repetition")


async def test_a_retry_that_does_not_fit_after_a_lost_connection_is_not_sent(journey):
    lost = Turn(text="half of it is lost", fault=Fault.DISCONNECT)
    await journey.run(lost, DONE, token_limit=8_000)
    assert end(journey) == (StopReason.MAX_TURN_REQUESTS, "tokens")
    assert "is the most that requests without a report may have taken" in journey.state.last_end.text
    assert journey.state.budget.steps == 1
    assert_sound(journey.logged)
