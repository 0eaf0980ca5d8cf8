import re

import pytest
from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolCall
from halocline.protocol.queries.tasks import TaskInfo
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import PROCESS_ENDED
from halocline.surfaces.board.entries import Group, TaskEntry, fits_filter, list_rows, list_tasks, order_entries
from halocline.surfaces.cli.board.drawing import draw_row

EVIL = "\x1b[31mred\x1b[0m \x1b]52;c;ZXZpbA==\a \x9b2J \u202egnp.exe\u202c zero\u200bwidth \x07bell \x7f\nline"
UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CALL = ToolCall("c", "execute_command", {"command": "make test"})
START = ev.TaskStarted("/code/shop", "scripted/a", Mode.ACT, ApprovalMode.ASK, "", "1")
PROMPT = ev.TurnStarted((Text("make it"),))
SAYS = ev.AssistantMessageCompleted(AssistantMessage((Text("First.\nI run the tests."), CALL)))
RUNS = ev.ToolCallStarted("c", "execute_command", "make test", ToolKind.EXECUTE)
ASKS = ev.ApprovalRequested("r", "c", "execute_command", "make test", ToolKind.EXECUTE, "ask", ())
QUESTION = ev.QuestionAsked("q", "Red or blue?", call="c")
WAITS = ev.MessageQueued((Text("then this"),), after=("261130-1-aaaa", "261130-1-bbbb"))
HELD = ev.QueueHeld((2,), "Task a failed.")


def end(reason: StopReason, text: str = "") -> ev.TurnEnded:
    return ev.TurnEnded(reason, text=text)


TABLE = {
    "runs a command": ((PROMPT, SAYS, RUNS), "7", Group.RUNNING, "running make test", ""),
    "waits for the model": ((PROMPT,), "7", Group.RUNNING, "the model is working", ""),
    "asks for approval": ((PROMPT, SAYS, ASKS), "7", Group.NEEDS_YOU, "approve: make test", "approval"),
    "asked, and was killed": (
        (PROMPT, SAYS, ASKS), "", Group.NEEDS_YOU, "approve: make test · no process runs it", "approval",
    ),
    "asks a question": ((PROMPT, SAYS, QUESTION), "7", Group.NEEDS_YOU, "asks: Red or blue?", "answer"),
    "was killed in a command": ((PROMPT, SAYS, RUNS), "", Group.CUT_SHORT, "cut short: running make test", ""),
    "was opened after that": ((PROMPT, end(StopReason.CANCELLED, PROCESS_ENDED)), "", Group.CUT_SHORT, "cut short", ""),
    "waits for others": ((WAITS,), "7", Group.RUNNING, "waits for aaaa, bbbb", ""),
    "waited, and was killed": ((WAITS,), "", Group.CUT_SHORT, "cut short: waits for aaaa, bbbb", ""),
    "waited for one that failed": ((WAITS, HELD), "7", Group.NEEDS_YOU, "not started: Task a failed.", "start"),
    "was stopped while it waited": (
        (WAITS, ev.QueueHeld((2,))), "", Group.ENDED, "stopped before it started", "",
    ),
    "has failed": ((PROMPT, end(StopReason.ERROR)), "", Group.ENDED, "failed", ""),
    "is held by a process after its end, which may show it to no one": (
        (PROMPT, end(StopReason.ERROR)), "7", Group.ENDED, "failed", "",
    ),
}  # fmt: skip


def make_info(task: str, at: float = 0.0, parent: str = "", text: str = "a title") -> TaskInfo:
    return TaskInfo(task, text, text, text, 0.0, at, "end_turn", 0, parent=parent)


@pytest.mark.parametrize("name", TABLE)
def test_each_task_is_in_the_group_of_what_it_needs(name: str) -> None:
    events, writer, group, activity, asked = TABLE[name]
    numbered = (replace(event, seq=at, at=1.0, task="t") for at, event in enumerate((START, *events), 1))
    info = replace(make_info("t"), status="error" if end(StopReason.ERROR) in events else "unfinished")
    row = TaskEntry(info, fold_events(numbered), writer).row
    assert (row.group, row.activity, row.asked) == (group, activity, asked)
    assert row.changed_at == info.changed_at  # as in all other lists
    assert row.can_resume is (not writer and group in (Group.CUT_SHORT, Group.NEEDS_YOU))


@pytest.mark.parametrize("width", [20, 50, 120])
def test_a_hostile_task_is_drawn_as_text(width: int) -> None:
    row = TaskEntry(make_info("1", text=EVIL), worktree=EVIL).row
    for line in draw_row(row, width, 1.0):
        assert not UNSAFE.search("".join(text for _, text in line))


def test_sub_agents_stand_below_their_task_in_its_group() -> None:
    tasks = [make_info("old", 1.0), make_info("child", 9.0, "old"), make_info("new", 5.0)]
    tasks.append(make_info("grandchild", 9.0, "child"))
    entries = [TaskEntry(info, writer="7" if info.parent else "") for info in tasks]
    assert [entry.info.task for entry in order_entries(entries)[Group.ENDED]] == ["new", "old", "child", "grandchild"]
    rows = list_rows(entries)
    assert {row.group for row in rows} == {Group.ENDED}
    assert [row.task for row in list_tasks(rows)] == ["new", "old"]
    assert [row.task for row in list_tasks(rows[2:])] == ["child"]


def test_a_row_names_the_repository_of_its_worktree_and_the_tasks_that_it_waits_for() -> None:
    numbered = (replace(event, seq=at, at=1.0, task="t") for at, event in enumerate((START, WAITS), 1))
    state = fold_events(numbered)
    row = TaskEntry(make_info("t"), state, "7", "w", None, "shop", ("mend it", "")).row
    assert row.activity == "waits for mend it, bbbb"
    text = "".join(part for line in draw_row(row, 120, 1.0) for _, part in line)
    assert "shop ⎇ w" in text


def test_the_latest_words_of_a_task_are_its_last_line_with_words_without_markdown() -> None:
    said = ev.AssistantMessageCompleted(AssistantMessage((Text("Look:\n\nAll **tests pass**:\n\n```\n---\n```\n"),)))
    numbered = (replace(event, seq=at, at=1.0, task="t") for at, event in enumerate((START, PROMPT, said), 1))
    assert TaskEntry(make_info("t"), fold_events(numbered)).row.reply == "All tests pass:"


def test_a_filter_finds_words_in_what_is_known_of_a_task() -> None:
    info = TaskInfo("261130-1-k4ru", "Mend the Parser", "/code/shop", "vendor/opus", 0.0, 0.0, "end_turn", 0)
    row = TaskEntry(info, worktree="side").row
    for words in ("", "parser", "MEND shop", "k4ru", "opus ended", "side"):
        assert fits_filter(row, words), words
    assert not fits_filter(row, "parser other")
