import json
from pathlib import Path

import pytest
from tests.servers.model_server import ModelServer, Turn
from tests.surfaces.cli.halo_process import Halo

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
WRONG, RIGHT = {"text": "One."}, {"text": '```json\n{"n": 1}\n```'}


@pytest.fixture
def schema(halo: Halo) -> str:
    path = halo.root / "schema.json"
    path.write_text(json.dumps(SCHEMA, indent=2))
    return str(path)


@pytest.mark.parametrize("words", [("-p",), ("run",), ("run", "-p")], ids=" ".join)
async def test_text_output_is_the_json_alone(halo: Halo, schema: str, words: tuple[str, ...]) -> None:
    done = await halo.run(*words, "-m", halo.script(WRONG, RIGHT), "--output-schema", schema, "hi")
    assert (done.code, done.out) == (0, '{"n":1}\n')
    assert "not one JSON value" in done.err


async def test_the_schema_may_be_given_itself(halo: Halo) -> None:
    done = await halo.run("run", "-m", halo.script(RIGHT), "--output-schema", json.dumps(SCHEMA), "hi")
    assert (done.code, json.loads(done.out), done.err) == (0, {"n": 1}, "")


@pytest.mark.parametrize("kind", ["json", "stream-json"])
async def test_json_has_the_parsed_value_in_its_result(halo: Halo, schema: str, kind: str) -> None:
    done = await halo.run("--output-format", kind, "-m", halo.script(WRONG, RIGHT), "--output-schema", schema, "hi")
    assert (done.code, done.result["structured_output"]) == (0, {"n": 1})
    types = [line["type"] for line in done.lines]
    assert [name for name in types if name.startswith("answer")] == (
        ["answer_refused", "answer_accepted"] if kind == "stream-json" else []
    )


async def test_wrong_answers_end_with_a_code_of_their_own_and_without_output(halo: Halo, schema: str) -> None:
    words = ("-m", halo.script(WRONG, WRONG, WRONG, RIGHT), "--output-schema", schema, "hi")
    done = await halo.run("-p", *words)
    assert (done.code, done.out) == (5, "")
    assert "3 answers in a row did not match the schema." in done.err
    assert f"halo -r {halo.tasks[0]}" in done.err
    result = (await halo.run("--output-format", "json", *words)).result
    assert (result["exit_code"], result["limit"], result["structured_output"]) == (5, "answer", None)
    assert "not one JSON value" in result["error"]


async def test_a_cut_answer_is_not_printed_as_if_it_were_json(halo: Halo, schema: str) -> None:
    cut = {"text": '{"n": ', "stop": "max_tokens"}
    done = await halo.run("-p", "-m", halo.script(cut), "--output-schema", schema, "hi")
    assert (done.code, done.out) == (3, "")


BAD = {
    "missing": ("nope.json", "Cannot read the output schema nope.json: No such file"),
    "folder": (".", "Cannot read the output schema .: Is a directory"),
    "no JSON": ('{"type": "object",', "not valid JSON: Expecting property name enclosed in double quotes: line 1"),
    "a list": ('{"type": "array"}', 'has no object at its root ("type": "object" is missing)'),
    "wrong type": ('{"type": "object", "properties": {"n": {"type": "int"}}}', "At /properties/n/type: 'int' is not"),
    "nowhere": ('{"type": "object", "properties": {"n": {"$ref": "#/x"}}}', "The reference #/x cannot be resolved"),
    "fetched": ('{"type": "object", "properties": {"n": {"$ref": "http://x"}}}', "nothing is fetched"),
}


@pytest.mark.parametrize(("given", "said"), BAD.values(), ids=BAD)
async def test_a_schema_that_cannot_be_used_is_a_wrong_call(halo: Halo, given: str, said: str) -> None:
    done = await halo.run("-p", "-m", halo.script(RIGHT), "--output-schema", given, "hi")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err
    assert halo.tasks == []


async def test_the_line_of_a_mistake_in_a_schema_s_file_is_told(halo: Halo) -> None:
    Path(halo.folder / "s.json").write_text('{\n  "type": "object",\n  oops\n}')
    done = await halo.run("-p", "-m", halo.script(RIGHT), "--output-schema", "s.json", "hi")
    assert (done.code, "line 3 column 3" in done.err) == (2, True)


async def test_a_terminal_shows_what_was_refused(halo: Halo, schema: str) -> None:
    words = ("run", "-m", halo.script(WRONG, RIGHT), "--output-schema", schema, "hi")
    terminal = halo.terminal(*words)
    terminal.expect("The answer does not match the schema.")
    terminal.expect("done")
    terminal.wait()
    assert terminal.exitstatus == 0


@pytest.mark.parametrize(
    ("words", "env", "sent"),
    [
        ((), {}, None),
        (("--effort", "low"), {}, "low"),
        ((), {"HALOCLINE_EFFORT": "high"}, "high"),
        (("--effort", "low"), {"HALOCLINE_EFFORT": "high"}, "low"),
        (("--thinking-budget", "20000"), {}, "high"),
        (("--effort", "max", "--thinking-budget", "2000"), {}, "minimal"),
    ],
)
async def test_flags_and_the_variable_say_how_hard_to_think(
    halo: Halo, words: tuple[str, ...], env: dict[str, str], sent: str | None
) -> None:
    async with ModelServer([Turn(text="Hello.")]) as server:
        at = ("-m", "openai/any", "--base-url", server.url("openai"))
        assert (await halo.run("-p", *at, *words, "hi", env=env)).code == 0
    assert server.requests[0].body.get("reasoning_effort") == sent


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--effort", "hard"), "'hard' is not one of: none, minimal, low, medium, high, xhigh, max"),
        (("--thinking-budget", "-1"), "'-1' is not a token count"),
    ],
)
async def test_a_wrong_wish_is_a_wrong_call(halo: Halo, words: tuple[str, ...], said: str) -> None:
    done = await halo.run("-p", "-m", halo.script(RIGHT), *words, "hi")
    assert (done.code, said in done.err) == (2, True)
