"""What a program reads: standard output, standard error, the exit code."""

import json
import os
import re

import pytest
from tests.servers.model_server import Fault, ModelServer, Turn
from tests.surfaces.cli.halo_process import Halo, asks, call, ended, shell

from halocline.protocol import events as ev
from halocline.protocol.messages import StopReason
from halocline.protocol.state.evidence.findings import Evidence

HI = {"text": "Hello."}
READ = {"text": "I look.", "call": [call("list_files", path=".")]}
TOUCH = {"call": [shell("touch made")]}


async def test_print_writes_the_answer_and_nothing_else(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script(READ, HI), "hi")
    assert (done.code, done.out, done.err) == (0, "Hello.\n", "")


async def test_the_report_of_a_completed_task_is_the_answer(halo: Halo) -> None:
    report = {"text": "Almost.", "call": [call("attempt_completion", result="All is well.")]}
    done = await halo.run("-p", "-m", halo.script(report), "hi")
    assert (done.code, done.out) == (0, "All is well.\n")


@pytest.mark.parametrize("flags", [["-p"], ["--output-format", "json"], ["--output-format", "stream-json"]])
async def test_a_wait_before_asking_again_is_told_on_standard_error(halo: Halo, flags: list[str]) -> None:
    async with ModelServer([Turn(fault=Fault.OVERLOADED), Turn(text="Hello.")]) as server:
        done = await halo.run(*flags, *asks(server), "hi")
    assert done.code == 0
    assert re.fullmatch(r"halo: OpenAI is overloaded .*: retrying in [12](\.\d)? s \(1 of 3\)\n", done.err)
    assert "asking again" not in done.out


async def test_json_is_one_result_object(halo: Halo) -> None:
    turn = {**HI, "usage": {"input": 10, "output": 2}, "cost": 0.25}
    done = await halo.run("--output-format", "json", "-m", halo.script(turn), "hi")
    (result,) = done.lines
    assert result.pop("duration") > 0
    assert result == {
        "type": "result",
        "task": halo.tasks[0],
        "stop_reason": "end_turn",
        "text": "Hello.",
        "usage": {"input": 10, "output": 2, "cache_read": 0, "cache_write": 0, "reasoning": 0},
        "cost": 0.25,
        "steps": 1,
        "exit_code": 0,
        "limit": "",
        "failed": [],
        "error": "",
        "hint": "",
        "structured_output": None,
        "refused": [],
        "evidence": {name: [] for name in Evidence.__struct_fields__},
        "goal": None,
    }


async def test_an_unknown_cost_is_null_and_never_nothing(halo: Halo) -> None:
    async with ModelServer([Turn(text="Hello.")]) as server:
        done = await halo.run("--output-format", "json", *asks(server), "hi")
    assert done.result["cost"] is None


async def test_stream_json_is_the_log_line_by_line_and_then_the_result(halo: Halo) -> None:
    done = await halo.run("-y", "--output-format", "stream-json", "-m", halo.script(READ, TOUCH, HI), "hi")
    *lines, last = done.out.encode().splitlines()
    assert lines == halo.raw_log()
    assert json.loads(last)["type"] == "result"


async def test_stream_json_of_a_resumed_task_holds_what_this_run_wrote(halo: Halo) -> None:
    model = halo.script(HI, HI)
    await halo.run("-p", "-m", model, "hi")
    before = len(halo.raw_log())
    done = await halo.run("-c", "-y", "--output-format", "stream-json", "-m", model, "again")
    assert done.out.encode().splitlines()[:-1] == halo.raw_log()[before:]


@pytest.mark.parametrize("form", ["json", "stream-json"])
async def test_an_error_before_the_start_is_a_result_object_too(halo: Halo, form: str) -> None:
    done = await halo.run("--output-format", form, "-m", "nobody/x", "hi")
    assert (done.code, len(done.lines)) == (2, 1)
    assert (done.result["type"], done.result["exit_code"], done.result["stop_reason"]) == ("result", 2, "error")
    assert done.result["error"] == "There is no provider 'nobody'."
    assert done.err.startswith("halo: There is no provider 'nobody'.\n")


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
async def test_an_error_of_the_model_is_in_the_log_and_in_the_result(halo: Halo, vendor: str) -> None:
    async with ModelServer([Turn(fault=Fault.AUTH)]) as server:
        done = await halo.run("--output-format", "stream-json", *asks(server, vendor), "hi")
    assert done.code == 1
    assert "key" in done.result["error"]
    assert done.result["hint"]
    assert [line["type"] for line in done.lines[-3:]] == ["error_raised", "turn_ended", "result"]


async def test_print_tells_an_error_of_the_model_on_standard_error(halo: Halo) -> None:
    async with ModelServer([Turn(fault=Fault.AUTH)]) as server:
        done = await halo.run("-p", *asks(server), "hi")
    assert (done.code, done.out) == (1, "")
    assert len(done.err.splitlines()) == 2


async def test_an_earlier_answer_is_not_given_again_when_the_model_fails(halo: Halo) -> None:
    model = halo.script(HI, {"fault": "auth"})
    await halo.run("-p", "-m", model, "hi")
    done = await halo.run("-c", "-p", "-m", model, "more")
    assert (done.code, done.out) == (1, "")


async def test_a_refusal_is_an_error(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script({"text": "No.", "stop": "refusal"}), "hi")
    assert (done.code, done.out) == (1, "No.\n")
    assert "refused" in done.err


async def test_a_step_limit_stops_with_its_own_exit_code_and_says_how_to_go_on(halo: Halo) -> None:
    done = await halo.run("-p", "--max-steps", "1", "-m", halo.script(READ, HI), "hi")
    assert (done.code, done.out) == (3, "I look.\n")
    said = "The limit of 1 steps is reached: to go on, raise it with --max-steps or the setting max_steps."
    assert done.err == f"halo: {said}\n      To continue: halo -r {halo.tasks[0]}\n"


async def test_a_cost_limit_stops(halo: Halo) -> None:
    dear = {**READ, "usage": {"input": 1}, "cost": 2.0}
    done = await halo.run("--output-format", "json", "--max-cost", "1", "-m", halo.script(dear, HI), "hi")
    assert (done.code, done.result["limit"], done.result["cost"]) == (3, "cost", 2.0)


async def test_a_cost_limit_is_refused_when_the_price_is_unknown(halo: Halo) -> None:
    async with ModelServer([Turn(text="Hello.")]) as server:
        done = await halo.run("-p", "--max-cost", "1", *asks(server), "hi")
        assert server.requests == []
    assert (done.code, done.out, halo.tasks) == (2, "", [])
    assert "The cost limit of $1.00 cannot be enforced: the price of openai/x is unknown." in done.err
    assert '[prices."openai/x"]' in done.err


async def test_with_a_price_in_the_settings_a_request_that_does_not_fit_is_not_sent(halo: Halo) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text('[prices."openai/x"]\ninput = 1000\noutput = 2000\n')
    async with ModelServer([Turn(text="Hello.")]) as server:
        done = await halo.run("--output-format", "json", "--max-cost", "1.5", *asks(server), "hi")
        assert server.requests == []
    assert (done.code, done.result["limit"], done.result["cost"]) == (3, "cost", 0.0)


async def test_a_time_limit_ends_a_hanging_command(halo: Halo) -> None:
    hang = {"call": [shell("sleep 1000")]}
    done = await halo.run("-y", "--output-format", "json", "--time-limit", "0.5", "-m", halo.script(hang, HI), "hi")
    assert (done.code, done.result["limit"], done.result["stop_reason"]) == (3, "time", "max_turn_requests")
    assert halo.state().pending.calls == ()


async def test_a_run_ends_when_its_command_passes_which_is_the_prompt_if_there_is_none(halo: Halo) -> None:
    script = halo.script({"text": "Done.", "expect": "Make this command pass: `test -e made`"}, TOUCH, HI)
    done = await halo.run("-y", "--output-format", "json", "--until", "test -e made", "-m", script)
    goal = {"met": True, "checks": 2, "command": "test -e made", "text": ""}
    assert (done.code, done.result["goal"]) == (0, goal)


async def test_failures_in_a_row_stop(halo: Halo) -> None:
    lost = [{"call": [call("read_file", path=f"none-{number}")]} for number in range(3)]
    done = await halo.run("--output-format", "json", "-m", halo.script(*lost, HI), "hi")
    assert (done.code, done.result["limit"]) == (3, "failures")


async def test_a_reply_that_was_cut_off_is_a_limit(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script({"text": "Once upon", "stop": "max_tokens"}), "hi")
    assert (done.code, done.out) == (3, "Once upon\n")
    assert "reached the model's output limit" in done.err


@pytest.mark.parametrize("form", [["-p"], ["--output-format", "text"], ["--output-format", "json"]], ids=" ".join)
async def test_an_approval_that_nobody_can_give_is_refused_and_has_its_own_exit_code(
    halo: Halo, form: list[str]
) -> None:
    done = await halo.run(*form, "-m", halo.script(TOUCH, {**HI, "expect": "nobody can give it"}), "hi")
    assert done.code == 4
    assert not (halo.folder / "made").exists()


async def test_what_needed_an_approval_is_said_with_what_to_do(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script(TOUCH, HI), "hi")
    assert done.out == "Hello.\n"
    assert "needed approval" in done.err
    assert "--approval-mode" in done.err


async def test_a_task_that_ends_over_a_failed_command_says_so(halo: Halo) -> None:
    model = halo.script({"call": [shell("exit 3")]}, HI)
    done = await halo.run("-p", "-y", "-m", model, "hi")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert "The task ended, but the last command (exit 3) failed." in done.err


async def test_each_refused_call_is_named_with_its_rule_and_reason(halo: Halo) -> None:
    calls = {"call": [shell("touch made"), shell("rm -rf /"), shell("ls")]}
    model = halo.script(calls, HI)
    done = await halo.run("-p", "-m", model, "hi")
    assert (done.code, done.out) == (4, "Hello.\n")
    told = " ".join(done.err.split())
    assert "Not run: execute_command touch made: ask mode asks" in told
    assert "(rule mode-ask)" in told
    assert "Not run: execute_command rm -rf /: " in told
    assert "(rule never)" in told
    assert "ls:" not in told
    done = await halo.run("-p", "--output-format", "json", "-m", model, "hi")
    named = [(one["tool"], one["call"], one["rule"]) for one in done.result["refused"]]
    assert named == [("execute_command", "touch made", "mode-ask"), ("execute_command", "rm -rf /", "never")]
    assert all(one["reason"] for one in done.result["refused"])


async def test_a_denied_path_is_refused_to_every_tool_by_the_name_of_its_rule(halo: Halo) -> None:
    rule = '[[rule]]\ndecision = "deny"\nname = "no secrets (yet)"\npaths = ["secrets/**"]\n'
    halo.home.mkdir(exist_ok=True)
    (halo.home / "policy.toml").write_text(rule)
    (halo.folder / "secrets").mkdir()
    for name in ("secrets/plans", "open"):
        (halo.folder / name).write_text("needle\n")
    read = call("read_file", path="secrets/plans")
    search = {"call": [call("search_files", path=".", regex="needle")], "expect": "no secrets (yet)"}
    found = {**HI, "expect": "open"}
    model = halo.script({"call": [shell("cat secrets/plans"), read]}, search, found)
    done = await halo.run("-y", "--output-format", "json", "-m", model, "hi")
    assert [one["rule"] for one in done.result["refused"]] == ["no secrets (yet)", "no secrets (yet)"]
    (result,) = (
        event.result for event in halo.log() if isinstance(event, ev.ToolCallEnded) and event.name == "search_files"
    )
    assert "plans" not in str(result.content)


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
async def test_a_reader_that_left_makes_no_trace_and_nothing_is_lost(halo: Halo, form: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = await halo.start("-y", "--output-format", form, "-m", halo.script(READ, HI), "hi", stdout=writing)
    os.close(writing)
    done = await ended(process)
    assert (done.code, done.err) == (1, "")
    assert halo.state().turn is None


async def test_a_reader_that_leaves_in_the_middle_ends_the_turn(halo: Halo) -> None:
    hang = {"call": [shell("sleep 1000")]}
    reading, writing = os.pipe()
    process = await halo.start("-y", "--output-format", "stream-json", "-m", halo.script(hang), "hi", stdout=writing)
    os.close(writing)
    with os.fdopen(reading) as lines:
        assert "task_started" in lines.readline()
    process.terminate()
    done = await ended(process)
    assert (done.code, done.err) == (1, "")
    assert [event.reason for event in halo.log() if isinstance(event, ev.TurnEnded)] == [StopReason.CANCELLED]


async def test_piped_text_is_the_prompt(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script({**HI, "expect": "do it well"}), stdin=b"do it well\n")
    assert (done.code, done.out) == (0, "Hello.\n")


async def test_piped_text_stands_below_the_words(halo: Halo) -> None:
    model = halo.script({**HI, "expect": "explain this\nline 1\nline 2"})
    done = await halo.run("-p", "-m", model, "explain", "this", stdin=b"line 1\nline 2\n")
    assert done.code == 0


async def test_what_a_piped_text_mentions_is_not_looked_up(halo: Halo) -> None:
    (halo.folder / "a.py").write_text("x\n")
    done = await halo.run("-p", "-m", halo.script(HI), "explain", stdin=b"see @a.py\n")
    assert done.code == 0
    assert not any(isinstance(event, ev.MentionsResolved) for event in halo.log())


async def test_empty_piped_text_is_no_prompt(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script(HI), stdin=b" \n")
    assert done.code == 2
    assert "No prompt." in done.err


async def test_piped_bytes_that_are_no_text_are_refused(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script(HI), "hi", stdin=b"\xff\xfe\x00")
    assert (done.code, halo.tasks) == (2, [])
    assert "Standard input is not text." in done.err


async def test_a_piped_diff_with_a_line_in_another_encoding_is_read_as_a_file_is(halo: Halo) -> None:
    words = "Привет, мир! Это старый файл с комментарием, который никто не переписывал."
    diff = f"diff --git a/x b/x\n-{words}\n+new\n".encode("cp1251")
    assert (await halo.run("-p", "-m", halo.script({"expect": words, "text": "Fine."}), "review", stdin=diff)).code == 0


async def test_words_that_are_no_text_are_refused(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script(HI), b"caf\xe9")
    assert (done.code, halo.tasks) == (2, [])
    assert "The prompt is not UTF-8 text." in done.err


async def test_a_pipe_that_stays_silent_is_not_waited_for(halo: Halo) -> None:
    reading, writing = os.pipe()
    try:
        done = await ended(await halo.start("-p", "-m", halo.script(HI), "hi", stdin=reading))
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.code, done.out) == (0, "Hello.\n")
    assert "No input on standard input" in done.err


async def test_text_without_a_terminal_has_no_colours_and_no_moving_line(halo: Halo) -> None:
    done = await halo.run("-y", "-m", halo.script(READ, TOUCH, HI), "hi")
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert "\r" not in done.out
