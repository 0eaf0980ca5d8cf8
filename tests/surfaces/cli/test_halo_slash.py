"""Words with a slash, jobs and hand-overs at a terminal."""

import pytest
from tests.surfaces.cli.halo_process import Halo, call
from tests.surfaces.cli.test_halo_terminal import COMPOSER, CTRL_D, HI, Person

from halocline.controller.slash import ROWS, SLASH, Slash
from halocline.protocol import events as ev
from halocline.protocol.messages import Text
from halocline.surfaces.cli.slash import ANSWERS

SERVE = {"call": [call("execute_command", command="echo up; sleep 60", requires_approval=False, background=True)]}


def test_jobs_are_listed_shown_stopped_and_named_when_the_exit_stops_them(halo: Halo) -> None:
    both = {"call": [*SERVE["call"], call("execute_command", command="echo two; sleep 61", background=True)]}
    person = Person(halo, "-y", "-m", halo.script(both, HI), "go")
    person.sees("Hello.", COMPOSER).types("/jobs\r").sees("job-1", "runs for", "echo up; sleep 60", "job-2", COMPOSER)
    person.types("/jobs show job-1\r").sees("echo up; sleep 60", "up", COMPOSER)
    person.types("/jobs show job-9\r").sees("There is no job 'job-9'. There are: job-1, job-2.", COMPOSER)
    person.types("/jobs what\r").sees("/jobs stop ID  end one", COMPOSER)
    person.types("/jobs stop job-1\r").sees("Stopping job-1", COMPOSER)
    person.types(CTRL_D).sees("Stopped 1 job: echo two; sleep 61")
    assert person.is_gone_with() == 0
    assert [event.stopped for event in halo.log() if isinstance(event, ev.JobEnded)] == [
        "on request",
        "the task was closed",
    ]
    assert halo.state().steps == 2


async def test_a_run_without_a_person_names_the_jobs_that_it_stops(halo: Halo) -> None:
    done = await halo.run("-p", "-y", "-m", halo.script(SERVE, HI), "go")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert done.err == "halo: Stopped 1 job: echo up; sleep 60\n"


def test_a_hand_over_goes_on_in_the_new_task_at_once(halo: Halo) -> None:
    # A script begins anew with each task, so the new one proposes another hand-over first.
    hand_over = {"call": [*SERVE["call"], call("new_task", context="# Work\n\nAll of it.")]}
    person = Person(halo, "-y", "-m", halo.script(hand_over, {"text": "Going on.", "expect": "stays"}), "go")
    person.sees("All of it.", "Go on with this in a new task?", "Start the new task").presses("1")
    person.sees(
        "goes on with this", "Stopped 1 job: echo up; sleep 60", "All of it.", "Handed over by task", "Stay in this one"
    ).presses("2")
    person.sees("Going on.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    logs = {task: halo.log(task) for task in halo.tasks}
    (old,) = [task for task, log in logs.items() if any(isinstance(event, ev.HandedOver) for event in log)]
    (handed,) = [event for event in logs[old] if isinstance(event, ev.HandedOver)]
    assert set(logs) == {old, handed.to}
    (begun,) = [event for event in logs[handed.to] if isinstance(event, ev.TurnStarted)]
    assert begun.content[0] == Text(f"# Work\n\nAll of it.\n\n(Handed over by task {old}.)")


def test_a_plan_is_read_as_markdown_and_its_options_are_keys(halo: Halo) -> None:
    reading = {"call": [call("plan_mode_respond", response="I *look*.", needs_more_exploration=True)]}
    asking = {"call": [call("plan_mode_respond", response="# Plan\n\n- one\n- two", options=["left", "right"])]}
    plan = {"call": [call("plan_mode_respond", response="**Then right.**")], "expect": "right"}
    person = Person(halo, "--mode", "plan", "-m", halo.script(reading, asking, plan), "go")
    person.sees("I ", "look", "Plan", "one", "left", "right").presses("2")
    person.sees("Then right.", "done", "plan", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0


def test_a_word_with_a_slash_lets_the_model_have_its_tool(halo: Halo) -> None:
    rule = {"call": [call("new_rule", path="kind", content="Be kind.")], "expect": "The user asks for new_rule"}
    person = Person(halo, "-m", halo.script(rule, HI))
    person.sees(COMPOSER).types("/newrule be kind\r").sees("New rule .clinerules/kind.md", "Be kind.").presses("y")
    person.sees("Hello.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert (halo.folder / ".clinerules/kind.md").read_text() == "Be kind.\n"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_word_is_in_the_reference_and_is_answered_once(row: Slash) -> None:
    from docs.generate import words

    assert all(f"`/{name}`" in words() for name in row.names)
    assert (row.name in ANSWERS) is not row.is_for_the_model
    assert [SLASH[name] for name in row.names] == [row] * len(row.names)


async def test_a_plan_is_the_answer_of_a_run_without_a_person(halo: Halo) -> None:
    asking = {"call": [call("plan_mode_respond", response="Two ways.", options=["a", "b"])]}
    plan = {"call": [call("plan_mode_respond", response="The way is a.")], "expect": "nobody is asked"}
    done = await halo.run("-p", "--mode", "plan", "-m", halo.script(asking, plan), "plan it")
    assert (done.code, done.out, done.err) == (0, "The way is a.\n", "")
