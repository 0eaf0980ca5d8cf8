"""Memory through whole tasks: proposed, read by a person, and given to the next task."""

import re

import pytest

from halocline.context.user_files.memory import LONGEST, PROJECT, personal_file
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

DONE = Turn(text="done")
FACT = "The tests need make db first."
ATTENDED = TaskOptions(approval_mode=ApprovalMode.AUTO, attended=True)


def remember(id="c1", note=FACT, **more):
    return Call("remember", {"note": note, **more}, id=id)


def deciding(choice):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=choice)
        return None

    return answer


def own(journey):
    return personal_file(journey.home.memory, journey.workspace)


def prompt_of(journey) -> str:
    return journey.logged[0].system_prompt


async def test_an_accepted_note_is_a_line_with_date_and_task_that_the_next_task_begins_with(journey):
    turns = (Turn(calls=(remember(),)), DONE)
    await journey.run(*turns, options=ATTENDED, answer=deciding(Choice.ALLOW_ONCE), memory=True)
    assert [kind for kind in journey.kinds if kind != "CheckpointTaken"][:9] == [
        *("TaskStarted", "ToolsOffered", "TurnStarted", "StepStarted", "UsageReported"),
        *("AssistantMessageCompleted", "ApprovalRequested", "ApprovalResolved", "ToolCallStarted"),
    ]
    assert journey.of(ev.FileChanged) == []
    (asked,) = journey.of(ev.ApprovalRequested)
    assert (asked.rule, asked.grant, asked.wider) == ("memory", None, None)
    (line,) = [line for line in own(journey).read_text().splitlines() if line.startswith("- ")]
    assert re.fullmatch(rf"- {re.escape(FACT)} \(\d{{4}}-\d\d-\d\d, task {journey.task}\)", line)
    assert f"+{line}" in asked.diffs[0].text
    await journey.run(DONE, memory=True)
    assert FACT in prompt_of(journey)
    assert "Personal, of the user:" in prompt_of(journey)


async def test_a_note_for_the_project_is_a_file_of_the_project(journey):
    turns = (Turn(calls=(remember(scope="project"),)), DONE)
    await journey.run(*turns, memory=True)
    (changed,) = journey.of(ev.FileChanged)
    assert changed.path == PROJECT
    assert FACT in (journey.workspace / PROJECT).read_text()
    assert not journey.home.memory.exists()


async def test_a_note_that_is_declined_leaves_no_trace(journey):
    turns = (Turn(calls=(remember(), remember("c2", scope="project"))), DONE)
    await journey.run(*turns, options=ATTENDED, answer=deciding(Choice.REJECT_ONCE), memory=True)
    assert not own(journey).exists()
    assert not (journey.workspace / PROJECT).exists()


async def test_without_the_setting_nothing_is_read_and_nothing_offered(journey):
    journey.write(PROJECT, "- a note\n")
    await journey.run(Turn(calls=(remember(), remember("c2", scope="project"))), DONE)
    assert "a note" not in prompt_of(journey)
    assert journey.of(ev.ToolsOffered) == []
    assert journey.ends == [("c1", "failed"), ("c2", "failed")]
    assert "There is no tool 'remember'" in journey.results[1]
    assert not own(journey).exists()


async def test_a_task_that_is_resumed_without_the_setting_has_the_tool_no_more(journey):
    await journey.run(DONE, DONE, memory=True)
    await journey.run(DONE, DONE, resume=journey.task)
    assert [event.tools for event in journey.logged if isinstance(event, ev.ToolsOffered)] == [("remember",), ()]


async def test_where_nobody_can_accept_a_note_none_is_asked_for(journey):
    await journey.run(DONE, options=TaskOptions(approval_mode=ApprovalMode.AUTO), memory=True)
    assert journey.of(ev.ToolsOffered) == []


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("The key is AKIAIOSFODNN7EXAMPLE.", "a secret"),
        ("Log in with password: hunter22", "a secret"),
        (" ", "empty"),
        ("x" * 501, "501 characters"),
        ("a <!-- hidden -->", "cannot see"),
        ("a\u202eb", "cannot see"),
    ],
)
async def test_what_is_no_note_is_refused_before_anybody_is_asked(journey, note, said):
    turns = (Turn(calls=(remember(note=note),)), DONE)
    await journey.run(*turns, options=ATTENDED, answer=deciding(Choice.ALLOW_ONCE), memory=True)
    assert said in journey.results[0]
    assert "hunter22" not in journey.results[0]
    assert journey.of(ev.ApprovalRequested) == []
    assert not own(journey).exists()


async def test_a_note_takes_the_place_of_one_that_is_out_of_date(journey):
    journey.write(PROJECT, "# Ours\n- The tests need make data.\n- Another\n")
    again = remember("c2", scope="project", replaces="The tests need make data")
    unclear = remember("c1", scope="project", replaces="Nothing such")
    await journey.run(Turn(calls=(unclear,)), Turn(calls=(again,)), DONE, memory=True)
    assert journey.ends == [("c1", "failed"), ("c2", "completed")]
    lines = (journey.workspace / PROJECT).read_text().splitlines()
    assert [lines[0], lines[2]] == ["# Ours", "- Another"]
    assert lines[1].startswith(f"- {FACT} (")


async def test_notes_that_are_full_take_no_more(journey):
    journey.write(PROJECT, "- " + "x" * LONGEST + "\n")
    await journey.run(Turn(calls=(remember(scope="project"),)), DONE, memory=True)
    assert "The notes are full" in journey.results[0]


async def test_a_link_that_leads_out_of_the_project_is_not_written_through(journey, tmp_path):
    (tmp_path / "other").mkdir()
    (journey.workspace / ".halocline").symlink_to(tmp_path / "other")
    await journey.run(Turn(calls=(remember(scope="project"),)), DONE, memory=True)
    assert journey.ends == [("c1", "failed")]
    assert list((tmp_path / "other").iterdir()) == []
