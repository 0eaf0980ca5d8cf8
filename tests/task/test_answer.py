import asyncio

import pytest
from msgspec.structs import replace
from tests.servers.model_server import ModelServer

from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolCall, ToolResult, UserMessage
from halocline.protocol.state.state import State
from halocline.protocol.state.turn import AnswerState
from halocline.task.structured_answer import check_answer, judge_answer, schema_problem

SCHEMA = {
    "type": "object",
    "properties": {
        "verdict": {"enum": ["good", "bad"]},
        "lines": {"type": "array", "items": {"type": "integer"}},
        "a/b~c": {"type": "string", "format": "date"},
    },
    "required": ["verdict"],
}


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict":"good"}',
        ' {"verdict": "good"}\n',
        '```json\n{"verdict": "good"}\n```',
        '```\n{"verdict":\n "good"}\n```\n',
        '```JSON  \n{"verdict": "good"}\n  ```',
    ],
)
def test_one_json_value_alone_or_in_one_fence_is_an_answer(text):
    assert check_answer(text, SCHEMA) == ({"verdict": "good"}, ())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Here you are: {}",
        '{"verdict": "good"} Done.',
        'Done.\n```json\n{"verdict": "good"}\n```',
        '```json\n{"verdict": "good"}\n```\n```json\n{"verdict": "bad"}\n```',
        '{"verdict": "good"}{"verdict": "good"}',
        "{'verdict': 'good'}",
        '{"verdict": "good",}',
        '{"verdict": NaN}',
    ],
)
def test_anything_else_is_no_json_and_nothing_is_repaired(text):
    value, (problem,) = check_answer(text, SCHEMA)
    assert value is None
    assert problem.startswith("The answer is not one JSON value: ")


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("[]", ("At the root: [] is not of type 'object'.",)),
        ("{}", ("At the root: 'verdict' is a required property.",)),
        ('{"verdict": "meh"}', ("At /verdict: 'meh' is not one of ['good', 'bad'].",)),
        ('{"verdict": "bad", "lines": [1, "2"]}', ("At /lines/1: '2' is not of type 'integer'.",)),
        ('{"verdict": "bad", "a/b~c": "x"}', ("At /a~1b~0c: 'x' is not a 'date'.",)),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(text, problems):
    assert check_answer(text, SCHEMA)[1] == problems


def test_a_model_is_told_of_few_problems_in_few_words():
    text = f'{{"verdict": "{"x" * 9999}", "lines": [{", ".join(["null"] * 50)}]}}'
    problems = check_answer(text, SCHEMA)[1]
    assert len(problems) == 5
    assert max(map(len, problems)) < 400


def test_an_answer_that_is_nested_without_end_is_refused():
    assert check_answer("[" * 100_000, SCHEMA)[1] == ("The answer is nested too deeply.",)


def test_of_several_ways_to_be_right_the_first_is_told_of():
    schema = {"type": "object", "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}
    assert check_answer('{"n": "x"}', schema)[1] == ("At /n: 'x' is not of type 'integer'.",)


def test_an_older_draft_is_read_by_its_own_rules():
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}
    bound = {**schema, "properties": {"n": {"minimum": 1, "exclusiveMinimum": True}}}
    assert schema_problem(bound) == ""
    assert check_answer('{"n": 1}', bound)[1]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "object", "properties": {"a": {"type": "strin"}}}, "At /properties/a/type: 'strin' is not one of"),
        ({"type": "object", "required": "a"}, "At /required: 'a' is not of type 'array'"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}, "The reference #/$defs/b cannot be resolved"),
        ({"type": "object", "properties": {"a": {"$ref": "http://x.invalid/y"}}}, "nothing is fetched"),
    ],
)
def test_a_schema_that_cannot_be_used_is_told_with_its_place(schema, said):
    assert said in schema_problem(schema)


async def test_nothing_is_ever_fetched_for_a_schema():
    async with ModelServer() as server:
        schema = {"type": "object", "properties": {"a": {"$ref": f"{server.url('openai')}/models"}}}
        assert "nothing is fetched" in await asyncio.to_thread(schema_problem, schema)
        (problem,) = (await asyncio.to_thread(check_answer, '{"a": 1}', schema))[1]
    assert "has a reference that cannot be resolved" in problem
    assert server.connections == 0


def test_references_within_a_schema_are_followed():
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "integer"}}}
    assert schema_problem(schema) == ""
    assert check_answer('{"a": "x"}', schema)[1] == ("At /a: 'x' is not of type 'integer'.",)


def state(*parts, stop=StopReason.END_TURN, schema=SCHEMA):
    asked = UserMessage((Text("go"),))
    return State(messages=(asked, AssistantMessage(parts, stop_reason=stop)), answer=AnswerState(schema=schema))


def test_without_a_schema_nothing_is_judged():
    assert judge_answer(state(Text("Done."), schema=None)) == ()


@pytest.mark.parametrize("stop", [StopReason.MAX_TOKENS, StopReason.REFUSAL])
def test_a_reply_that_was_cut_or_refused_is_not_judged(stop):
    assert judge_answer(state(Text("{"), stop=stop)) == ()


def test_the_report_of_attempt_completion_is_the_answer_too():
    call = ToolCall("c", "attempt_completion", {"result": '{"verdict": "bad"}'})
    asked = state(Text("Done."), call)
    result = ToolResult("c", (Text('{"verdict": "bad"}'),))
    (accepted,) = judge_answer(replace(asked, messages=(*asked.messages, result)))
    assert accepted.answer == {"verdict": "bad"}


def test_a_refusal_tells_the_model_all_that_is_wrong():
    (refused,) = judge_answer(state(Text('{"verdict": 1, "lines": 2}')))
    (note,) = refused.content
    assert len(refused.problems) == 2
    assert all(problem in note.text for problem in refused.problems)
