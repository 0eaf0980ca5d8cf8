import pytest
from tests.journeys.soundness import assert_sound
from tests.servers.model_server import ModelServer

from halocline.client.tasks import Client
from halocline.context.notes.answer_schema import SOURCE
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.messages import Note, StopReason
from halocline.protocol.state.reducer import fold_events
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings
from halocline.surfaces.rows.fold import rows_of
from halocline.task.governor import GO_ON

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
WRONG, RIGHT = Turn(text='{"n": "one"}'), Turn(text='{"n": 1}')
PROBLEM = "At /n: 'one' is not of type 'integer'."


def end(journey):
    return journey.state.last_end.reason, journey.state.last_end.limit


def judgements(journey):
    return [type(event).__name__ for event in journey.logged if isinstance(event, ev.AnswerRefused | ev.AnswerAccepted)]


async def test_an_answer_that_fits_ends_the_turn_and_is_in_the_log(journey):
    await journey.run(Turn(text='{"n": 1}', expect=('"type":"integer"', "JSON object")), schema=SCHEMA)
    assert_sound(journey.logged)
    kinds = [kind for kind in journey.kinds if kind != "CheckpointTaken"]
    assert kinds[-3:] == ["AssistantMessageCompleted", "AnswerAccepted", "TurnEnded"]
    assert (journey.state.answer.accepted, end(journey)) == ({"n": 1}, (StopReason.END_TURN, ""))


async def test_a_wrong_answer_is_told_what_is_wrong_and_may_be_mended(journey):
    await journey.run(WRONG, Turn(text='{"n": 1}', expect=(PROBLEM, "Send the whole answer again")), schema=SCHEMA)
    assert_sound(journey.logged)
    assert judgements(journey) == ["AnswerRefused", "AnswerAccepted"]
    assert (journey.state.answer.accepted, journey.state.budget.steps) == ({"n": 1}, 2)


async def test_after_three_wrong_answers_the_turn_ends_and_says_why(journey):
    await journey.run(WRONG, WRONG, WRONG, RIGHT, schema=SCHEMA)
    assert_sound(journey.logged)
    assert end(journey) == (StopReason.MAX_TURN_REQUESTS, "answer")
    assert journey.state.last_end.text.endswith(PROBLEM)
    assert (journey.state.answer.accepted, journey.state.budget.steps) == (None, 3)


async def test_a_person_may_let_it_try_again(journey):
    def answer(event):
        if isinstance(event, ev.QuestionAsked):
            return cmd.AnswerQuestion(task=event.task, request=event.request, answer=GO_ON)
        return None

    await journey.run(WRONG, WRONG, WRONG, WRONG, RIGHT, schema=SCHEMA, answer=answer)
    assert (journey.state.answer.accepted, end(journey)) == ({"n": 1}, (StopReason.END_TURN, ""))


async def test_the_model_works_with_tools_before_it_answers(journey):
    journey.write("a.txt", "1\n")
    read = Turn(text="I look.", calls=(Call("read_file", {"path": "a.txt"}),))
    await journey.run(read, RIGHT, schema=SCHEMA)
    assert judgements(journey) == ["AnswerAccepted"]


async def test_a_wrong_report_of_attempt_completion_does_not_end_the_turn(journey):
    done = Turn(calls=(Call("attempt_completion", {"result": "All is well."}),))
    mended = Turn(calls=(Call("attempt_completion", {"result": '{"n": 1}'}),))
    look = Turn(calls=(Call("list_files", {"path": "."}),), expect="not one JSON value")
    await journey.run(done, look, mended, schema=SCHEMA)
    assert_sound(journey.logged)
    assert judgements(journey) == ["AnswerRefused", "AnswerAccepted"]


async def test_a_resumed_task_knows_what_was_refused_and_asks_for_no_form_by_itself(journey):
    await journey.run(WRONG, WRONG, WRONG, Turn(text="As you like."), schema=SCHEMA)
    folded = fold_events(journey.logged)
    assert len(folded.answer.refused) == 3
    assert sum(PROBLEM in getattr(row, "text", "") for row in rows_of(journey.logged)) == 4
    script = (WRONG, WRONG, WRONG, Turn(text="As you like."))
    await journey.run(client=journey.client(script), resume=journey.task, prompt="In words, then.")
    assert journey.state.last_message.text == "As you like."
    assert (journey.state.answer.schema, journey.state.answer.refused) == (None, ())


async def test_the_form_is_said_in_a_note_that_no_person_typed(journey):
    await journey.run(RIGHT, schema=SCHEMA)
    (started,) = journey.of(ev.TurnStarted)
    assert started.output_schema == SCHEMA
    assert [part.source for part in started.content if isinstance(part, Note)] == ["environment", SOURCE]


@pytest.mark.parametrize("text_tools", [(), ("*",)], ids=["with tools", "tools as text"])
async def test_any_server_can_be_asked_for_a_form(journey, text_tools):
    turns = [WRONG, Turn(text='```json\n{"n": 1}\n```', expect=PROBLEM)]
    async with ModelServer(turns) as server:
        settings = Settings(base_url=server.url("openai"), text_tools=text_tools)
        client = Client(Controller(Assembly(journey.home, settings, {})), "test")
        await journey.run(client=client, options=TaskOptions(model="ollama/qwen3"), schema=SCHEMA)
    assert journey.state.answer.accepted == {"n": 1}
    assert not any("response_format" in request.body for request in server.requests)
