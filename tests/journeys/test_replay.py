import os
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.journeys.conftest import Journey
from tests.journeys.repair import PROJECT, PROMPT, TURNS

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice, ToolKind
from halocline.protocol.messages import AssistantMessage, StopReason, Text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import TaskOptions
from halocline.services.replay.replay import run_replay
from halocline.store.settings.settings import Settings
from halocline.store.tasks.recording import Recording, read_recording
from halocline.task.log import read_log

GOLDEN = Path(__file__).parent.parent / "golden" / "repair.recording.jsonl"
STARTS = ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec")
YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO)


async def repair(journey, file):
    for name, text in PROJECT.items():
        journey.write(name, text)
    await journey.run(*TURNS, prompt=PROMPT, options=replace(YOLO, record=file))
    return read_recording(file)


def again(journey: Journey, recording, *, strict=True, folder=None):
    return run_replay(recording, Assembly(journey.home, Settings(), {}), strict=strict, folder=folder)


async def test_the_golden_recording_replays_event_by_event_and_request_by_request(journey):
    # It was made on another day, in another folder, by another process: nothing of that matters.
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.unlink(missing_ok=True)
        await repair(journey, GOLDEN)
    done = await again(journey, read_recording(GOLDEN))
    assert done.differences == ()
    assert (done.steps, done.requests, done.events) == (4, 4, done.recorded_events)


@pytest.mark.slow
async def test_a_recording_that_was_cut_anywhere_is_the_same_and_says_where_it_is_unfinished(journey):
    whole = read_recording(GOLDEN)
    for count in range(1, len(whole.events) + 1):
        events = whole.events[:count]
        done = await again(journey, Recording(events, whole.requests))
        turns = [type(event) for event in events if isinstance(event, ev.TurnStarted | ev.TurnEnded)]
        assert (done.same, done.unfinished) == (True, turns[-1:] == [ev.TurnStarted]), (count, done.differences)


async def test_a_recording_replays_with_real_tools_in_a_copy_of_the_project(journey, tmp_path):
    recording = await repair(journey, tmp_path / "r")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name, text in PROJECT.items():
        (copy / name).write_text(text)
    done = await again(journey, recording, folder=copy)
    assert done.same, done.differences
    assert "prices[1:]" not in (copy / "shop.py").read_text()


async def test_real_tools_in_another_project_differ_where_its_files_do(journey, tmp_path):
    recording = await repair(journey, tmp_path / "r")
    (tmp_path / "other").mkdir()
    done = await again(journey, recording, folder=tmp_path / "other")
    (difference,) = done.differences
    assert difference.place.endswith("(tool_call_ended)")
    assert not done.same


async def test_a_replay_touches_nothing(journey, tmp_path):
    recording = await repair(journey, tmp_path / "r")
    for name, text in PROJECT.items():
        journey.write(name, text)
    before = {path: path.stat().st_mtime_ns for path in journey.home.root.rglob("*")}
    assert (await again(journey, recording)).same
    assert (journey.workspace / "shop.py").read_text() == PROJECT["shop.py"]
    assert {path: path.stat().st_mtime_ns for path in journey.home.root.rglob("*")} == before


async def test_a_replay_of_recorded_commands_starts_no_process(journey, tmp_path):
    recording = await repair(journey, tmp_path / "r")
    assert any(isinstance(event, ev.ToolCallStarted) and event.kind is ToolKind.EXECUTE for event in recording.events)
    started, watched = [], [True]
    sys.addaudithook(lambda name, args: started.append(name) if watched and name in STARTS else None)
    assert (await again(journey, recording)).same
    watched.clear()  # a hook stays for ever
    assert started == []


async def test_the_first_request_that_differs_ends_a_strict_replay(journey, tmp_path):
    recording = await repair(journey, tmp_path / "r")
    changed = dict(recording.requests)
    changed[2] = replace(changed[2], system=changed[2].system.replace("coding agent", "poet"))
    done = await again(journey, Recording(recording.events, changed))
    (difference,) = done.differences
    assert (difference.place, difference.path) == ("request of step 2", "system")
    assert ("poet" in difference.recorded, "coding agent" in difference.now) == (True, True)
    assert done.events < done.recorded_events


async def test_a_tolerant_replay_goes_on_and_collects_what_differs(journey, tmp_path):
    recording = await repair(journey, tmp_path / "r")
    changed = {step: replace(request, system="another") for step, request in recording.requests.items()}
    done = await again(journey, Recording(recording.events, changed), strict=False)
    assert [difference.place for difference in done.differences] == [f"request of step {n}" for n in (1, 2, 3, 4)]
    assert done.events == done.recorded_events
    assert not done.same


async def test_a_reply_that_was_changed_in_the_recording_comes_apart_where_its_calls_differ(journey, tmp_path):
    recording = await repair(journey, tmp_path / "r")
    events = list(recording.events)
    spoken = next(at for at, event in enumerate(events) if isinstance(event, ev.AssistantMessageCompleted))
    events[spoken] = replace(events[spoken], message=AssistantMessage((Text("I would rather not."),)))
    done = await again(journey, Recording(tuple(events)), strict=False)
    assert (done.differences[-1].recorded, done.differences[-1].now) == ("tool_call_started", "turn_ended")
    assert done.events < done.recorded_events


async def test_a_recording_of_a_resumed_task_holds_its_past(journey, tmp_path):
    turns = (Turn(text="one"), Turn(text="two"))
    await journey.run(*turns)
    await journey.run(*turns, resume=journey.task, options=replace(YOLO, record=tmp_path / "r"))
    done = await again(journey, read_recording(tmp_path / "r"))
    assert done.same, done.differences
    assert (done.steps, done.requests) == (2, 1)


async def test_a_command_that_the_person_changed_is_replayed_as_it_ran(journey, tmp_path):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            changed = {"command": "echo safer", "requires_approval": False}
            decision = {"request": event.request, "decision": Choice.ALLOW_ONCE}
            return cmd.ResolveApproval(task=journey.task, arguments=changed, note="rather so", **decision)
        return None

    call = Call("execute_command", {"command": "echo risky", "requires_approval": True})
    options = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True, record=tmp_path / "r")
    await journey.run(Turn(calls=(call,)), Turn(text="done"), options=options, answer=answer)
    (resolved,) = journey.of(ev.ApprovalResolved)
    assert resolved.arguments == {"command": "echo safer", "requires_approval": False}
    done = await again(journey, read_recording(tmp_path / "r"))
    assert done.same, done.differences


async def test_the_limits_that_were_in_force_are_those_of_the_replay(journey, tmp_path):
    turns = [Turn(calls=(Call("read_file", {"path": "a"}),)), Turn(text="never asked")]
    options = replace(YOLO, record=tmp_path / "r")
    await journey.run(*turns, options=options, max_steps=1)
    assert journey.state.last_end.reason is StopReason.MAX_TURN_REQUESTS
    assert (await again(journey, read_recording(tmp_path / "r"))).same


@pytest.mark.parametrize("kept", [1, 2, 4, 9])
async def test_a_log_that_ends_in_the_middle_is_replayed_to_its_end(journey, tmp_path, kept):
    recording = await repair(journey, tmp_path / "r")
    done = await again(journey, Recording(recording.events[:kept], recording.requests))
    assert done.same, done.differences
    assert done.events == kept


async def test_every_event_that_the_loop_makes_is_compared(journey, tmp_path):
    recording = await repair(journey, tmp_path / "r")
    unseen = []
    for at, event in enumerate(recording.events):
        if isinstance(event, ev.ToolCallStarted | ev.ToolCallEnded | ev.StepStarted | ev.FileChanged):
            name = "name" if hasattr(event, "name") else "model" if hasattr(event, "model") else "cause"
            events = (*recording.events[:at], replace(event, **{name: "x"}), *recording.events[at + 1 :])
            if (await again(journey, Recording(events, recording.requests))).same:
                unseen.append(type(event).__name__)
    assert set(unseen) <= {"FileChanged"}  # told by the tool, and tools answer as recorded


async def test_the_log_of_a_replay_is_the_recorded_log(journey, tmp_path):
    recording = await repair(journey, tmp_path / "r")
    assert recording.events == tuple(read_log(journey.home.log(journey.task)))
