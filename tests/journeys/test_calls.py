import os

import pytest

from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Fault, Turn

DONE = Turn(text="done")


def edit(old, new, path="a.txt"):
    diff = f"------- SEARCH\n{old}\n=======\n{new}\n+++++++ REPLACE"
    return Call("replace_in_file", {"path": path, "diff": diff})


async def test_reads_run_together_and_every_call_is_answered(journey):
    journey.write("a.txt", "one")
    calls = tuple(Call("read_file", {"path": name}, id=name) for name in ("a.txt", "missing", "a.txt2"))
    await journey.run(Turn(calls=(*calls, Call("fly", {}, id="fly"))), DONE)
    assert dict(journey.ends) == {"a.txt": "completed", "missing": "failed", "a.txt2": "failed", "fly": "failed"}
    assert "There is no tool 'fly'" in journey.results[-1]


@pytest.mark.parametrize("raw", ['{"path": "b.txt", "content": "half', '["path"]', "path=b.txt", '{"path": "b.txt"}}'])
async def test_arguments_that_do_not_parse_are_never_executed_and_never_repaired(journey, raw):
    await journey.run(
        Turn(calls=(Call("write_to_file", raw=raw, id="c"),)),
        Turn(text="ok", expect=["Nothing was run", raw[:20]]),
    )
    assert journey.ends == [("c", "failed")]
    assert not (journey.workspace / "b.txt").exists()


CUT = Turn(calls=(Call("write_to_file", raw='{"path": "b.t'),), stop=StopReason.MAX_TOKENS)


async def test_a_call_cut_off_by_the_output_limit_is_told_why(journey):
    await journey.run(CUT, Turn(text="ok", expect=["cut off by the output limit", "smaller pieces"]))
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_the_advice_gets_more_precise_with_each_reply_in_a_row_that_is_cut_off(journey):
    whole = Turn(calls=(Call("list_files", {}),))
    await journey.run(CUT, CUT, whole, CUT, Turn(text="ok"))
    first, second, _, again = journey.results
    assert "smaller pieces" in first
    assert "second reply in a row" in second
    assert "at most 100 lines" in second
    assert again == first


async def test_wrong_arguments_are_named(journey):
    await journey.run(Turn(calls=(Call("read_file", {"paht": "x"}),)), Turn(text="ok", expect="path"))
    assert journey.of(ev.ToolCallEnded)[0].status is CallStatus.FAILED


async def test_a_number_as_text_is_accepted(journey):
    journey.write("a.txt", "one\ntwo\n")
    await journey.run(Turn(calls=(Call("read_file", {"path": "a.txt", "start_line": "2"}),)), DONE)
    assert "2 | two" in journey.results[0]


async def test_a_failed_edit_leaves_bytes_and_modification_time(journey):
    path = journey.write("a.txt", b"\xef\xbb\xbfone\r\ntwo")
    os.utime(path, ns=(1, 1))
    await journey.run(Turn(calls=(edit("zero", "x"),)), DONE)
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\ntwo"
    assert path.stat().st_mtime_ns == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\n", b"one\r\nTWO\r\n"),
        (b"\xef\xbb\xbfone\ntwo", b"\xef\xbb\xbfone\nTWO"),
        ("one\ntwo\n".encode("utf-16"), "one\nTWO\n".encode("utf-16")),
        ("one é\ntwo\n".encode("latin-1"), "one é\nTWO\n".encode("latin-1")),
    ],
)
async def test_endings_marks_and_encodings_survive_an_edit(journey, before, after):
    path = journey.write("a.txt", before)
    await journey.run(Turn(calls=(edit("two", "TWO"),)), DONE)
    assert path.read_bytes() == after


async def test_the_log_knows_every_file_before_and_after(journey):
    journey.write("a.txt", "one\n")
    new = Call("write_to_file", {"path": "sub/new.txt", "content": "hi\n"})
    await journey.run(Turn(calls=(edit("one", "two"), new)), DONE)
    changes = [(e.path, e.before is None, e.after is None) for e in journey.of(ev.FileChanged)]
    assert changes == [("a.txt", False, False), ("sub/new.txt", True, False)]
    blobs = journey.client([])._controller.assemblies.own.blobs
    assert blobs.get(journey.of(ev.FileChanged)[0].before) == b"one\n"


async def test_a_checkpoint_follows_each_step_that_changed_something(journey):
    journey.write("a.txt", "one\n")
    touch = Call("execute_command", {"command": "touch b", "requires_approval": False})
    look = Call("execute_command", {"command": "ls", "requires_approval": False})
    await journey.run(Turn(calls=(edit("one", "two"),)), Turn(calls=(touch,)), Turn(calls=(look,)), DONE)
    assert [event.label for event in journey.of(ev.CheckpointTaken)] == ["Start", "Edit a.txt", "touch b"]


async def test_three_failures_in_a_row_stop_a_turn_without_a_person(journey):
    bad = Turn(calls=(edit("nothing", "x"),))
    await journey.run(bad, bad, bad, bad)
    assert (journey.state.last_end.reason, journey.state.last_end.limit) == (StopReason.MAX_TURN_REQUESTS, "failures")


async def test_the_same_call_with_the_same_result_is_remarked_on_and_then_stopped(journey):
    journey.write("a.txt", "one\n")
    look = Turn(calls=(Call("read_file", {"path": "a.txt"}),))
    await journey.run(*[look] * 6)
    assert [("3 times" in text, "4 times" in text) for text in journey.results[2:4]] == [(True, False), (False, True)]
    assert journey.state.last_end.limit == "repetition"


async def test_a_reply_that_was_cut_off_is_no_completion(journey):
    await journey.run(Turn(text="and then", stop=StopReason.MAX_TOKENS))
    assert journey.state.last_end.reason is StopReason.MAX_TOKENS


async def test_a_failure_that_passes_is_retried_and_seen(journey):
    await journey.run(Turn(fault=Fault.RATE_LIMIT), Turn(text="half and half", fault=Fault.DISCONNECT), DONE)
    assert [event.attempt for event in journey.of(ev.StepRetried)] == [1, 2]
    assert journey.state.last_message.text == "done"


async def test_a_failure_that_stays_ends_the_turn_with_a_hint(journey):
    await journey.run(Turn(fault=Fault.AUTH))
    (error,) = journey.of(ev.ErrorRaised)
    assert (error.code, journey.state.last_end.reason) == ("model_auth", StopReason.ERROR)
    assert error.hint


async def test_attempt_completion_ends_the_turn(journey):
    await journey.run(Turn(calls=(Call("attempt_completion", {"result": "All good."}),)))
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert journey.results == ["All good."]


async def test_halocline_s_own_files_are_out_of_reach_even_in_yolo_mode(journey):
    target = journey.home.root / "settings.toml"
    await journey.run(
        Turn(calls=(Call("write_to_file", {"path": str(target), "content": "approval_mode='yolo'"}),)),
        Turn(text="ok", expect="own files"),
    )
    assert not target.exists()
