"""`--input-format stream-json`: a program talks to the real process over its pipes."""

import asyncio
import base64
import json
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.servers.model_server import ModelServer, Turn
from tests.surfaces.cli.halo_process import LIMIT, Done, Halo, asks, call, ended, shell

pytestmark = [pytest.mark.process, pytest.mark.slow]
STREAM = ("-p", "--input-format", "stream-json", "--output-format", "stream-json")
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Program:
    """The program at the other end of the pipes."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.seen: list[dict[str, Any]] = []

    def send(self, **line: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line).encode() + b"\n")

    def say(self, content: Any) -> None:
        self.send(type="user", message={"role": "user", "content": content}, parent_tool_use_id=None, session_id="x")

    async def receive(self, kind: str) -> dict[str, Any]:
        assert self.process.stdout is not None
        async with asyncio.timeout(LIMIT):
            while line := await self.process.stdout.readline():
                self.seen.append(json.loads(line))
                if self.seen[-1]["type"] == kind:
                    return self.seen[-1]
        raise AssertionError(f"the process ended without {kind}")

    async def end(self) -> Done:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return await ended(self.process)


async def begin(halo: Halo, *words: str) -> Program:
    return Program(await halo.start(*STREAM, *words, stdin=PIPE))


def typed(*lines: Mapping[str, Any] | str) -> bytes:
    return "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines).encode()


def user(content: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}}


async def test_each_message_is_a_turn_with_a_result_and_the_end_of_the_input_ends_the_process(halo: Halo) -> None:
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as server:
        program = await begin(halo, *asks(server))
        program.say("first")
        assert (await program.receive("result"))["text"] == "One."
        program.say([{"type": "text", "text": "second"}])
        assert (await program.receive("result"))["text"] == "Two."
        done = await program.end()
    assert (done.code, done.out, done.err) == (0, "", "")
    assert program.seen[0]["type"] == "task_started"
    assert [event.content[0].text for event in halo.log() if type(event).__name__ == "TurnStarted"] == [
        "first",
        "second",
    ]


async def test_messages_in_a_file_are_all_answered(halo: Halo) -> None:
    lines = halo.root / "lines.jsonl"
    lines.write_bytes(typed(user("first"), user("second")).rstrip())
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as server:
        with lines.open() as file:
            done = await ended(await halo.start(*STREAM, *asks(server), stdin=file.fileno()))
    assert (done.code, done.err) == (0, "")
    assert [line["text"] for line in done.lines if line["type"] == "result"] == ["One.", "Two."]


async def test_an_approval_is_decided_by_a_line(halo: Halo) -> None:
    program = await begin(halo, "-m", halo.script({"call": [shell("touch made")]}, {"text": "Done."}))
    program.say("go")
    asked = await program.receive("approval_requested")
    program.send(type="resolve_approval", request=asked["request"], decision="allow_once")
    assert (await program.receive("result"))["exit_code"] == 0
    program.send(type="resolve_approval", request=asked["request"], decision="reject_once")
    assert "Too late" in (await program.receive("input_error"))["text"]
    assert (await program.end()).code == 0
    assert (halo.folder / "made").exists()


async def test_a_question_is_answered_by_a_line(halo: Halo) -> None:
    question = call("ask_followup_question", question="Which?", options=["a", "b"])
    program = await begin(halo, "-m", halo.script({"call": [question]}, {"text": "Fine."}))
    program.say("go")
    asked = await program.receive("question_asked")
    program.send(type="answer_question", request=asked["request"], answer="b")
    assert (await program.receive("question_answered"))["answer"] == "b"
    assert (await program.receive("result"))["text"] == "Fine."
    await program.end()


async def test_an_open_approval_is_refused_when_the_input_ends(halo: Halo) -> None:
    program = await begin(halo, "-m", halo.script({"call": [shell("touch made")]}, {"text": "Done."}))
    program.say("go")
    await program.receive("approval_requested")
    done = await program.end()
    assert (done.code, done.result["exit_code"]) == (4, 4)
    assert done.result["refused"][0]["call"] == "touch made"
    assert not (halo.folder / "made").exists()


async def test_a_turn_is_interrupted_and_the_next_message_answered(halo: Halo) -> None:
    waits = {"call": [shell("echo began > began; sleep 1000")]}
    program = await begin(halo, "-y", "-m", halo.script(waits, {"text": "Next."}))
    program.say("go")
    await program.receive("tool_call_started")
    program.send(type="interrupt")
    assert (await program.receive("result"))["stop_reason"] == "cancelled"
    program.say("again")
    assert (await program.receive("result"))["text"] == "Next."
    assert (await program.end()).code == 0


async def test_mode_approval_mode_and_model_are_changed_by_lines(halo: Halo) -> None:
    other = halo.script({"text": "I am the other."}, name="other")
    program = await begin(halo, "-m", halo.script({"text": "Hi."}))
    program.send(type="set_mode", mode="plan")
    program.send(type="set_policy", approval_mode="auto")
    program.send(type="set_model", model=other)
    program.say("who are you?")
    assert (await program.receive("result"))["text"] == "I am the other."
    await program.end()
    state = halo.state()
    assert (state.plan.mode.value, state.permissions.approval_mode.value, state.model.name) == ("plan", "auto", other)


BAD = {
    "not JSON": ("{", "The line is not JSON"),
    "not an object": ("[1]", "The line is not a JSON object"),
    "not text": ('{"type":"user","message":{"role":"user","content":5}}', "The fields of user are wrong"),
    "unknown type": ('{"type":"control"}', "Unknown type 'control'"),
    "no type": ("{}", "Unknown type None"),
    "type of another kind": ('{"type":["user"]}', "Unknown type"),
    "missing field": ('{"type":"resolve_approval"}', "missing required field `request`"),
    "unknown task": ('{"type":"interrupt","task":"nope"}', "nope"),
    "unknown model": ('{"type":"set_model","model":"nope"}', "nope"),
    "unknown command": (json.dumps(user("/nope")), "nope"),
    "empty": (json.dumps(user(" ")), "The message is empty"),
    "no image": (json.dumps(user([{"type": "image", "source": {"type": "base64", "data": "ab?"}}])), "not base64"),
    "nested": ("[" * 100_000, "nested too deeply"),
    "endless": ("x" * (65 * 2**20), "The line is not JSON"),
}


async def test_bad_lines_are_reported_and_the_next_one_is_read(halo: Halo) -> None:
    async with ModelServer([Turn(text="Hello.")]) as server:
        lines = typed(*(line for line, _ in BAD.values()), "", user("hi"))
        done = await halo.run(*STREAM, *asks(server), stdin=lines)
    assert done.code == 0, done.err
    errors = [line for line in done.lines if line["type"] == "input_error"]
    assert [error["line"] for error in errors] == list(range(1, len(BAD) + 1))
    for error, (_, expected) in zip(errors, BAD.values(), strict=True):
        assert expected in error["text"]
    assert done.result["text"] == "Hello."


async def test_a_character_that_a_program_cut_in_two_is_read(halo: Halo) -> None:
    async with ModelServer([Turn(text="Hello.")]) as server:
        done = await halo.run(*STREAM, *asks(server), stdin=typed(user("cut \ud83d")))
        assert "cut \ufffd" in str(server.requests[0].body)
    assert done.result["text"] == "Hello."


async def test_partial_messages_are_printed_when_asked_for(halo: Halo) -> None:
    async with ModelServer([Turn(text="Hello, world, and all."), Turn(text="Hi.")]) as server:
        done = await halo.run(*STREAM, "--include-partial-messages", *asks(server), stdin=typed(user("hi")))
        without = await halo.run(*STREAM, *asks(server), stdin=typed(user("hi")))
    deltas = [line["text"] for line in done.lines if line["type"] == "text_delta"]
    assert "".join(deltas) == "Hello, world, and all."
    assert "text_delta" not in without.out


async def test_an_image_reaches_the_model(halo: Halo) -> None:
    content = [
        {"type": "text", "text": "see"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DOT}},
    ]
    async with ModelServer([Turn(text="A dot.")]) as server:
        done = await halo.run(*STREAM, "-m", "openai/gpt-5.6", *asks(server)[2:], stdin=typed(user(content)))
        (request,) = server.requests
    assert done.code == 0, done.out
    assert base64.b64decode(DOT)[:20] in base64.b64decode(json.dumps(request.body).split("base64,")[1].split('"')[0])


async def test_a_signal_ends_the_turn_and_what_is_queued(halo: Halo) -> None:
    waits = {"call": [shell("echo began > began; sleep 1000")]}
    program = await begin(halo, "-y", "-m", halo.script(waits, {"text": "Never."}))
    program.say("go")
    program.say("more")
    await program.receive("tool_call_started")
    program.process.send_signal(signal.SIGTERM)
    done = await ended(program.process)
    assert done.code == 130
    assert "Never." not in done.out


async def test_a_session_without_a_message_leaves_no_task(halo: Halo) -> None:
    done = await halo.run(*STREAM, "-m", halo.script({"text": "Hi."}), stdin=b"")
    assert (done.code, halo.tasks) == (0, [])


async def test_a_finished_task_goes_on(halo: Halo) -> None:
    model = halo.script({"text": "One."}, {"text": "Two."})
    assert (await halo.run(*STREAM, "-m", model, stdin=typed(user("hi")))).code == 0
    done = await halo.run(*STREAM, "-c", stdin=typed(user("more")))
    assert (done.result["text"], len(halo.tasks)) == ("Two.", 1)
    assert "One." not in "".join(line for line in done.out.splitlines() if "turn_started" in line)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--output-format", "json"), "needs --output-format stream-json"),
        (("a", "prompt"), "does not go with a prompt"),
        (("--image", "x.png"), "does not go with --image"),
    ],
)
async def test_what_does_not_go_with_it_is_refused(halo: Halo, words: tuple[str, ...], said: str) -> None:
    done = await halo.run("-p", "--input-format", "stream-json", *words, stdin=b"")
    assert done.code == 2
    assert said in done.err


async def test_partial_messages_need_the_stream(halo: Halo, tmp_path: Path) -> None:
    done = await halo.run("-p", "--include-partial-messages", "-m", halo.script({"text": "Hi."}), "hi")
    assert (done.code, "needs --output-format stream-json" in done.err) == (2, True)


@pytest.mark.parametrize("stdin", ["<&-", "</dev/null"])
async def test_no_input_at_all_ends_at_once(halo: Halo, stdin: str) -> None:
    model = halo.script({"text": "Hi."})
    process = await halo.start(*STREAM, "-m", model, before=("sh", "-c", f'exec "$@" {stdin}', "sh"))
    done = await ended(process)
    assert (done.code, done.err, halo.tasks) == (0, "", [])
