"""A goal keeps a turn going until its command passes, or what the log proves agrees with the model's report."""

import asyncio

import pytest
from tests.journeys.deaths import dead_after

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.events.questions import GoalVerdict
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

DONE = Turn(text="It is done.")
REPORT = Turn(calls=(Call("attempt_completion", {"result": "Done."}),))
TEST = "grep -q 2 a.txt"


def until(command: str = TEST, **more: object) -> TaskOptions:
    return TaskOptions(approval_mode=ApprovalMode.ACCEPT_EDITS, until=command, **more)


def write(text: str, path: str = "a.txt", expect: str = "") -> Turn:
    return Turn(calls=(Call("write_to_file", {"path": path, "content": text}),), expect=expect)


def verdicts(journey):
    return [checked.verdict for checked in journey.of(ev.GoalChecked)]


async def test_a_turn_goes_on_until_the_command_passes(journey):
    turns = (DONE, write("3\n", expect="ended with exit 1"), DONE, write("2\n"), DONE)
    await journey.run(*turns, options=until("cat a.txt || exit 1; grep -q 2 a.txt"))
    assert verdicts(journey) == [GoalVerdict.UNMET, GoalVerdict.UNMET, GoalVerdict.MET]
    assert [checked.output for checked in journey.of(ev.GoalChecked)][1:] == ["3", "2"]
    assert (journey.state.last_end.reason, journey.state.goal.is_met) == (StopReason.END_TURN, True)
    assert (await journey.replay()).differences == ()


async def test_the_model_is_told_of_the_goal_with_its_prompt(journey):
    journey.write("a.txt", "2\n")
    await journey.run(Turn(text="Done.", expect="the command `grep -q 2 a.txt` exits with 0"), options=until())
    assert verdicts(journey) == [GoalVerdict.MET]


async def test_the_evidence_of_the_turn_names_the_check(journey):
    from halocline.protocol.state.evidence.findings import find_evidence

    await journey.run(write("2\n", "a.py"), DONE, options=until("test -f a.py && python3 -m compileall -q a.py"))
    (ran,) = find_evidence(journey.state.evidence).commands
    assert (ran.command[:4], ran.end) == ("test", "exit 0")


async def test_a_check_that_fails_twice_in_the_same_way_is_told_and_the_third_time_stops_the_turn(journey):
    turns = (DONE, Turn(text="Still done.", expect="Go on."), Turn(text="Surely.", expect="makes no progress"))
    await journey.run(*turns, options=until("echo took $RANDOM ms; false"))
    assert verdicts(journey) == [GoalVerdict.UNMET] * 3
    end = journey.state.last_end
    assert (end.reason, end.limit) == (StopReason.MAX_TURN_REQUESTS, "progress")
    assert "failed in the same way, and no file changed" in end.text
    assert (await journey.replay()).differences == ()


@pytest.mark.parametrize("checkpoints", [True, False], ids=["checkpoints", "no checkpoints"])
async def test_a_change_of_files_is_progress_although_the_failure_is_the_same(journey, checkpoints):
    turns = [turn for at in "abcd" for turn in (write(f"{at}\n"), DONE)]
    await journey.run(*turns, write("2\n"), DONE, options=until(), checkpoints=checkpoints)
    assert verdicts(journey) == [GoalVerdict.UNMET] * 4 + [GoalVerdict.MET]


async def test_a_person_may_let_a_turn_without_progress_go_on(journey):

    def answer(event):
        if isinstance(event, ev.QuestionAsked):
            return cmd.AnswerQuestion(task=journey.task, request=event.request, answer="Go on")
        return None

    turns = (DONE, DONE, DONE, write("2\n"), DONE)
    await journey.run(*turns, options=until(attended=True), answer=answer)
    assert len(journey.of(ev.LimitExtended)) == 1
    assert journey.state.goal.is_met
    assert (await journey.replay()).differences == ()


async def test_a_flaky_command_that_passes_once_meets_the_goal(journey):
    await journey.run(DONE, DONE, options=until("test -e seen || { touch seen; false; }"))
    assert verdicts(journey) == [GoalVerdict.UNMET, GoalVerdict.MET]


async def test_a_step_limit_ends_the_turn_with_its_own_reason_and_leaves_the_goal_open(journey):
    turns = [turn for at in "abcd" for turn in (write(f"{at}\n"), DONE)]
    await journey.run(*turns, options=until("false"), max_steps=4)
    assert journey.state.last_end.limit == "steps"
    assert journey.state.goal.is_open


async def test_a_rule_refuses_the_command_of_a_goal(journey):
    journey.home.policy.parent.mkdir(parents=True, exist_ok=True)
    journey.home.policy.write_text('[[rule]]\nname = "no touching"\ndecision = "deny"\nargv = ["touch"]\n')
    await journey.run(DONE, options=until("touch a.txt"))
    assert verdicts(journey) == [GoalVerdict.REFUSED]
    assert journey.state.last_end.limit == "goal"
    assert "no touching" in journey.state.last_end.text
    assert not (journey.workspace / "a.txt").exists()


async def test_in_plan_mode_the_goal_waits(journey):
    await journey.run(Turn(text="A plan."), options=until("false", mode=Mode.PLAN))
    assert (verdicts(journey), journey.state.last_end.reason) == ([], StopReason.END_TURN)
    assert journey.state.goal.is_open


async def test_the_check_runs_in_the_tasks_folder_with_its_first_variables(journey):
    journey.write("sub/b.txt", "")
    leave = Turn(calls=(Call("execute_command", {"command": "cd sub && export PATH=/nowhere"}),))
    stay = Turn(calls=(Call("execute_command", {"command": "pwd"}),))
    options = TaskOptions(approval_mode=ApprovalMode.YOLO, until="ls sub/b.txt && cd /")
    await journey.run(leave, DONE, stay, DONE, options=options)
    assert verdicts(journey) == [GoalVerdict.MET]


async def test_a_stop_leaves_the_goal_and_the_next_prompt_checks_it_again(journey):
    client = journey.client((DONE, Turn(text="Again.")))
    await journey.open(client, until("test -e go || { touch started; sleep 60; }"))

    async def stop():
        while not (journey.workspace / "started").exists():
            await asyncio.sleep(0.02)
        client.send(cmd.Interrupt(task=journey.task))

    stopping = asyncio.create_task(stop())
    await journey.prompt(client)
    await stopping
    assert (journey.state.last_end.reason, journey.state.goal.is_open) == (StopReason.CANCELLED, True)
    journey.write("go", "")
    await journey.prompt(client, "go on")
    assert verdicts(journey) == [GoalVerdict.MET]
    await client.close()
    assert (await journey.replay()).differences == ()


async def test_after_a_death_in_a_check_the_next_process_checks_again(journey, tmp_path):
    turns = (write("1\n"), Turn(text="Done."), Turn(text="Done again."))
    await journey.run(*turns[:2], options=until("test -e a.txt"))
    last = journey.of(ev.AssistantMessageCompleted)[-1].seq
    dead_after(journey, ev.AssistantMessageCompleted, tmp_path / "copy", after=last - 1)
    await journey.run(*turns, resume=journey.task, prompt="go on")
    assert verdicts(journey)[-1] is GoalVerdict.MET
    assert (await journey.replay()).differences == ()


async def test_a_resumed_task_still_has_its_goal(journey):
    turns = (write("1x\n"), DONE, write("1y\n"), write("2\n"), DONE)
    await journey.run(*turns, options=until(), max_steps=3)
    assert journey.state.goal.is_open
    await journey.run(*turns, resume=journey.task, prompt="go on")
    assert (verdicts(journey)[-1], journey.state.goal.is_met) == (GoalVerdict.MET, True)
    assert (await journey.replay()).differences == ()


async def set_goal(journey, client, text):
    client.send(cmd.SetGoal(task=journey.task, text=text))


async def test_a_goal_in_words_is_met_by_a_report_that_nothing_contradicts(journey):
    client = journey.client(
        (
            DONE,
            Turn(calls=(*write("1\n", "a.py").calls,), expect="no report with attempt_completion"),
            REPORT,
            Turn(calls=(Call("execute_command", {"command": "python3 a.py"}),), expect="no command ran after the edit"),
            REPORT,
        )
    )
    await journey.open(client)
    await set_goal(journey, client, "a.py runs")
    await journey.prompt(client)
    assert verdicts(journey) == [GoalVerdict.UNMET, GoalVerdict.UNMET, GoalVerdict.MET]
    await client.close()
    assert (await journey.replay()).differences == ()


async def test_a_goal_in_words_stops_when_the_reports_stay_without_evidence(journey):
    client = journey.client((write("1\n", "a.py"), REPORT, REPORT, REPORT))
    await journey.open(client)
    await set_goal(journey, client, "a.py runs")
    await journey.prompt(client)
    assert journey.state.last_end.limit == "progress"
    assert "no command ran after the edit of a.py" in journey.state.last_end.text
    await client.close()


async def test_a_goal_that_is_taken_back_is_not_checked(journey):
    client = journey.client((DONE,))
    await journey.open(client, until("false"))
    client.send(cmd.SetGoal(task=journey.task))
    await journey.prompt(client)
    assert (verdicts(journey), journey.state.goal.is_set) == ([], False)
    await client.close()
