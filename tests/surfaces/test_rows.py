from pathlib import Path

import pytest
from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.events.context_updates import ChangedFile
from halocline.protocol.kinds import ApprovalMode, CallStatus, Choice, Mode, Todo, TodoStatus, ToolKind
from halocline.protocol.messages import (
    AssistantMessage,
    Image,
    Note,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from halocline.surfaces.figures import describe_compaction
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.rows.calls import LIVE_OUTPUT, propose_call
from halocline.surfaces.rows.fold import AT_ONCE, fold_event, rows_of, transcript_of
from halocline.surfaces.rows.transcript import Transcript, is_settled
from halocline.surfaces.rows.words import describe_decision, strip_markdown
from halocline.task.log import read_log
from halocline.tools.toolset import every_tool

LOGS = sorted((Path(__file__).parents[1] / "golden" / "format-1").glob("*.jsonl"))

CALL = ToolCall("c1", "execute_command", {"command": "make"})
SPOKEN = ev.AssistantMessageCompleted(AssistantMessage((Thinking("hm"), Text("Hello"), CALL)))
STARTED = ev.ToolCallStarted("c1", "execute_command", "make", ToolKind.EXECUTE, at=10.0)
ENDED = ev.ToolCallEnded(
    "c1", "execute_command", CallStatus.COMPLETED, ToolResult("c1", (Text("ok"), Text("for the model"))), at=12.5
)


def only(events: list[ev.Event], kind: type) -> list[r.Row]:
    return [row for row in rows_of(events) if isinstance(row, kind)]


def test_a_shortened_conversation_says_by_how_much_and_why() -> None:
    made = ev.Compacted(CompactionCause.CROWDED, (), 9, 12, 98_000, 31_200)
    (row, undone) = only([made, ev.CompactionUndone()], r.CompactionRow)
    assert describe_compaction(row) == "compacted from 98.0k to 31.2k tokens (the context window was nearly full)"
    assert describe_compaction(undone) == "compaction undone: the model sees the full conversation again"


def test_a_plan_that_was_changed_in_a_turn_and_is_not_finished_at_its_end_has_one_line() -> None:
    todos = ev.TodosChanged((Todo("a", TodoStatus.COMPLETED), Todo("b")))
    end = ev.TurnEnded(StopReason.END_TURN)
    begin = ev.TurnStarted((Text("go"),))
    left = r.NoticeRow("The plan is not finished: 1 of 2 done, next: b")
    assert only([begin, todos, end, begin, end], r.NoticeRow) == [left]
    assert only([begin, todos, ev.TurnEnded(StopReason.CANCELLED)], r.NoticeRow) == []
    assert left not in only([ev.ModeChanged(Mode.PLAN), begin, todos, end], r.NoticeRow)
    finished = ev.TodosChanged((Todo("a", TodoStatus.COMPLETED),))
    assert only([begin, todos, finished, end], r.NoticeRow) == []


def test_files_that_somebody_changed_are_a_row_and_those_of_a_command_are_not() -> None:
    files = (ChangedFile("a", "sha256:0"), ChangedFile("b", None), ChangedFile("c", None, by="make"))
    undone = ChangedFile("d", None, restored=True)
    assert rows_of([ev.FilesChangedOutside((undone,), ())]) == ()
    assert rows_of([ev.FilesChangedOutside((*files, undone), ())]) == (
        r.NoticeRow("Changed outside this task: a, b (deleted)"),
    )
    assert rows_of([ev.FilesChangedOutside(files[2:], ())]) == ()


def test_a_prompt_row_holds_the_words_of_the_person_without_the_notes_for_the_model() -> None:
    content = (Text("Fix it"), Note("cwd is /x", "environment"), Image("image/png", "sha256:0"))
    assert rows_of([ev.TurnStarted(content, seq=7)]) == (
        r.PromptRow("Fix it\n[image]", 7, attached=content[1:], typed="Fix it", names=("[image]",)),
    )


def test_steering_is_a_prompt_row_that_says_so() -> None:
    assert rows_of([ev.SteeringReceived((Text("Stop at two"),), seq=9)]) == (r.PromptRow("Stop at two", 9, True),)


def test_deltas_grow_one_draft_row_for_each_stretch_of_thought_or_text() -> None:
    deltas = [ev.ThinkingDelta("a"), ev.ThinkingDelta("b"), ev.TextDelta("c"), ev.TextDelta("d"), ev.ThinkingDelta("e")]
    assert rows_of(deltas) == (
        r.ThoughtRow("ab", draft=True),
        r.ReplyRow("cd", draft=True),
        r.ThoughtRow("e", draft=True),
    )


def test_the_completed_message_replaces_the_draft() -> None:
    rows = rows_of([ev.ThinkingDelta("h"), ev.TextDelta("Hel"), SPOKEN])
    assert rows == (
        r.ThoughtRow("hm"),
        r.ReplyRow("Hello"),
        r.CallRow("c1", "execute_command", "make", ToolKind.EXECUTE, arguments={"command": "make"}),
    )


def test_a_retry_makes_the_draft_void() -> None:
    assert rows_of([ev.TextDelta("Hel"), ev.StepRetried(2, 4.0, "overloaded")]) == (r.RetryRow(2, 4.0, "overloaded"),)


def test_a_wait_that_was_ended_is_no_second_retry() -> None:
    waited, ended = ev.StepRetried(2, 4.0, "overloaded"), ev.StepRetried(2, 0.0, "overloaded")
    assert rows_of([waited, ended]) == (r.RetryRow(2, 0.0, "overloaded"),)
    assert len(rows_of([waited, ev.StepRetried(2, 0.0, "overloaded", "other/model")])) == 2


def test_a_call_row_is_settled_only_by_its_end() -> None:
    [open_row] = only([SPOKEN, STARTED], r.CallRow)
    [ended] = only([SPOKEN, STARTED, ENDED], r.CallRow)
    assert (is_settled(open_row), is_settled(ended)) == (False, True)


def test_a_finished_call_knows_its_title_kind_status_and_duration_in_seconds() -> None:
    [row] = only([SPOKEN, STARTED, ENDED], r.CallRow)
    assert isinstance(row, r.CallRow)
    assert (row.title, row.kind, row.status, row.seconds) == ("make", "execute", "completed", 2.5)


def test_the_output_of_a_call_leaves_out_words_added_for_the_model() -> None:
    [row] = only([SPOKEN, STARTED, ENDED], r.CallRow)
    assert isinstance(row, r.CallRow)
    assert row.output == "ok"


def test_a_running_call_keeps_only_the_end_of_its_output() -> None:
    events = [SPOKEN, STARTED, ev.ToolCallProgressed("c1", "x" * LIVE_OUTPUT), ev.ToolCallProgressed("c1", "end")]
    [row] = only(events, r.CallRow)
    assert isinstance(row, r.CallRow)
    assert (len(row.output), row.output[-3:]) == (LIVE_OUTPUT, "end")


def test_a_call_row_tells_who_decided_about_it_and_why_it_was_asked() -> None:
    asked = ev.ApprovalRequested(
        "r1", "c1", "execute_command", "make", ToolKind.EXECUTE, "ask mode", tuple(Choice), "make"
    )
    decided = ev.ApprovalResolved("r1", "c1", Choice.REJECT_ONCE, "user", "not now")
    [row] = only([SPOKEN, asked, decided], r.CallRow)
    assert isinstance(row, r.CallRow)
    assert row.approval == r.Approval("r1", "ask mode", "make", (), Choice.REJECT_ONCE, "user", "not now")


def test_a_call_that_never_started_has_no_duration() -> None:
    [row] = only([SPOKEN, ENDED], r.CallRow)
    assert isinstance(row, r.CallRow)
    assert row.seconds is None


@pytest.mark.parametrize(
    ("title", "named"),
    [
        ("git hub/list_issues open", ("git", "hub__list_issues", "")),
        ("github/list_issues open\nby me", ("github", "list_issues", "open\nby me")),
        ("github/list_issues", ("github", "list_issues", "")),
    ],
)
def test_the_call_of_a_servers_tool_names_server_tool_and_subject(title: str, named: tuple[str, str, str]) -> None:
    name = "git__hub__list_issues" if named[1].startswith("hub") else "github__list_issues"
    made = ev.AssistantMessageCompleted(AssistantMessage((ToolCall("c", name),)), seq=4)
    started = ev.ToolCallStarted("c", name, title, ToolKind.OTHER)
    (before,) = only([made], r.CallRow)
    (row,) = only([made, started], r.CallRow)
    assert isinstance(before, r.CallRow)
    assert isinstance(row, r.CallRow)
    assert (before.server, before.seq) == (named[0], 4)
    assert (row.server, row.tool, row.subject) == named


def test_our_own_tools_are_no_servers() -> None:
    (row,) = only([SPOKEN, STARTED, ENDED], r.CallRow)
    assert isinstance(row, r.CallRow)
    assert (row.server, row.tool, row.subject) == ("", "", "")


def test_a_call_names_the_job_that_its_command_became() -> None:
    (row,) = only([SPOKEN, STARTED, ENDED, ev.JobStarted("job-1", "make", "c1", "model")], r.CallRow)
    own = [
        ev.OwnCommandStarted(run="o", command="make", seq=3),
        ev.OwnCommandEnded(run="o", command="make", job="job-2"),
    ]
    (mine,) = only(own, r.CallRow)
    assert isinstance(row, r.CallRow)
    assert isinstance(mine, r.CallRow)
    assert (row.job, mine.job, mine.seq) == ("job-1", "job-2", 3)


def test_a_call_that_hands_the_work_over_names_the_task_that_goes_on() -> None:
    made = ev.AssistantMessageCompleted(AssistantMessage((ToolCall("n", "new_task"),)))
    (row,) = only([made, ev.HandedOver("t-2", "the context")], r.CallRow)
    assert isinstance(row, r.CallRow)
    assert row.child == "t-2"


def test_a_call_of_a_long_task_is_still_changed_after_its_end() -> None:
    made = ev.AssistantMessageCompleted(AssistantMessage((ToolCall("n", "new_task"),)))
    ended = ev.ToolCallEnded("n", "new_task", CallStatus.COMPLETED, ToolResult("n", (Text("ok"),)))
    before = [ev.Noticed("x")] * (AT_ONCE - 1)
    (row,) = only([*before, made, ended, *before[:9], ev.HandedOver("t-2", "the context")], r.CallRow)
    assert isinstance(row, r.CallRow)
    assert row.child == "t-2"


def test_a_browser_action_has_the_lines_of_the_console_and_no_others() -> None:
    page = "<web_content>\nTitle: x\nConsole:\nerror: no\nlog: yes\nText:\nConsole:\nnot this\n</web_content>"
    made = ev.AssistantMessageCompleted(AssistantMessage((ToolCall("b", "browser_action"),)))
    ended = ev.ToolCallEnded("b", "browser_action", CallStatus.COMPLETED, ToolResult("b", (Text("at x"), Text(page))))
    (row,) = only([made, ended], r.CallRow)
    assert isinstance(row, r.CallRow)
    assert row.console == ("error: no", "log: yes")


def test_the_end_of_a_turn_counts_its_files_and_says_if_an_error_above_has_its_text() -> None:
    turn = [
        ev.TurnStarted((Text("go"),)),
        *(ev.FileChanged(path, None, "sha256:0", "c") for path in ("a", "b", "a")),
        ev.ErrorRaised("overloaded", "Busy."),
        ev.TurnEnded(StopReason.ERROR, text="Busy."),
    ]
    first, second = only([*turn, turn[0], ev.TurnEnded(StopReason.ERROR, text="Busy.")], r.TurnEndRow)
    assert isinstance(first, r.TurnEndRow)
    assert isinstance(second, r.TurnEndRow)
    assert [len(end.evidence.changed) for end in (first, second)] == [2, 0]
    assert (first.repeats, second.repeats) == (True, False)


def test_files_and_conversation_that_went_back_together_are_one_rewind() -> None:
    back = ev.CheckpointRestored("c", "u", seq=8)
    (both,) = only([back, ev.ConversationRestored(2, seq=9)], r.RestoredRow)
    (apart,) = only([back, ev.ConversationRestored(2, seq=11)], r.RestoredRow)
    assert isinstance(both, r.RestoredRow)
    assert isinstance(apart, r.RestoredRow)
    assert (both.both, apart.both) == (True, False)


def rewound(*rewinds: tuple[int, int], prompts: tuple[int, ...] = (2, 12)) -> list[r.RestoredRow | r.NoticeRow]:
    """The rows of prompts and rewinds with files, given as (event, event that it went to)."""
    events: list[ev.Durable] = [ev.TurnStarted((Text(f"Prompt {seq}"),), seq=seq) for seq in prompts]
    for seq, to in rewinds:
        events += [ev.CheckpointRestored("c", "u", seq=seq - 1), ev.ConversationRestored(to, seq=seq)]
    rows = rows_of(sorted(events, key=lambda event: event.seq))
    return [row for row in rows if isinstance(row, r.RestoredRow | r.NoticeRow)]


def test_an_undone_rewind_says_what_the_model_sees_again_and_folds_into_one_row() -> None:
    rows = rewound((21, 11), (23, 19))
    assert [row.undone for row in rows] == [True, True, True, False]
    assert rows[-1] == r.NoticeRow(
        "Undone: the model sees “Prompt 12” and what came after it again.", seq=23, undoes=21
    )


def test_a_rewind_further_back_undoes_nothing_and_an_undo_can_be_undone() -> None:
    further = rewound((21, 11), (23, 1))
    assert [row.undone for row in further] == [False] * 4
    assert getattr(further[-1], "text", "").startswith("Rewound to before “Prompt 2”. The model no longer sees")
    again = rewound((21, 11), (23, 19), (25, 11))
    assert getattr(again[-1], "text", "").startswith("Rewound to before “Prompt 12”.")
    assert not getattr(again[-1], "undone", True)


def test_a_rewind_past_a_later_prompt_says_both() -> None:
    rows = rewound((21, 11), (43, 19), prompts=(2, 12, 30))
    assert [row.undone for row in rows] == [False] * 4
    assert getattr(rows[-1], "text", "") == (
        "Rewound to before “Prompt 30”. The model no longer sees what came after it. It sees “Prompt 12” again."
    )


def test_an_answer_settles_its_question() -> None:
    asked = ev.QuestionAsked("q1", "Which?", ("a", "b"))
    assert rows_of([asked, ev.QuestionAnswered("q1", "b", "user")]) == (
        r.QuestionRow("q1", "Which?", ("a", "b"), answer="b", by="user"),
    )


def test_the_end_of_a_turn_sums_what_this_turn_took() -> None:
    turn = [
        ev.TurnStarted((Text("go"),), at=100.0),
        ev.StepStarted("m"),
        ev.UsageReported(Usage(input=10, output=5), 0.25),
        ev.StepStarted("m"),
        ev.UsageReported(Usage(input=1, cache_read=4), 0.5),
        ev.TurnEnded(StopReason.END_TURN, at=121.0),
    ]
    ends = only([*turn, *turn], r.TurnEndRow)
    expected = r.TurnEndRow(
        StopReason.END_TURN, usage=Usage(input=11, output=5, cache_read=4), cost=0.75, steps=2, seconds=21.0, at=121.0
    )
    assert ends == [expected, expected]


def test_one_unknown_price_makes_the_cost_of_the_turn_unknown() -> None:
    reports = [ev.UsageReported(Usage(), 0.25), ev.UsageReported(Usage(), None), ev.UsageReported(Usage(), 0.25)]
    [end] = only([ev.TurnStarted(()), *reports, ev.TurnEnded(StopReason.END_TURN)], r.TurnEndRow)
    assert isinstance(end, r.TurnEndRow)
    assert end.cost is None


@pytest.mark.parametrize(
    ("event", "row"),
    [
        (ev.TodosChanged((Todo("a"),)), r.TodosRow((Todo("a"),))),
        (ev.CheckpointTaken("c", "before"), r.CheckpointRow("c", "before")),
        (ev.CheckpointRestored("c", "u", ("a.py",)), r.RestoredRow("c", "u", ("a.py",))),
        (ev.JobEnded("job-1", "make", 2), r.JobEndRow("job-1", "make", 2)),
        (ev.Noticed("mind this"), r.NoticeRow("mind this")),
        (ev.ErrorRaised("auth", "no key", "set one"), r.ErrorRow("auth", "no key", "set one", "key")),
        (ev.ModeChanged(Mode.PLAN), r.NoticeRow("Mode: plan")),
        (
            ev.TaskStarted("/w", "m", Mode.ACT, ApprovalMode.ASK, "s", "1"),
            r.StartRow("/w", "m", Mode.ACT, ApprovalMode.ASK),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_fact_a_person_should_see_has_its_row(event: ev.Event, row: r.Row) -> None:
    assert rows_of([event]) == (row,)


def test_an_event_of_an_unknown_type_changes_nothing() -> None:
    before = fold_event(Transcript(), SPOKEN)
    assert fold_event(before, ev.Unrecognised("later")) == before


def test_the_durable_events_alone_give_the_settled_rows_of_the_live_task() -> None:
    live = [
        ev.TurnStarted((Text("go"),)),
        ev.TextDelta("Hello"),
        SPOKEN,
        STARTED,
        ev.ToolCallProgressed("c1", "o"),
        ENDED,
    ]
    replayed = [event for event in live if isinstance(event, ev.Durable)]
    assert rows_of(live) == rows_of(replayed)


def test_folding_does_not_change_the_transcript_it_began_with() -> None:
    before = fold_event(Transcript(), SPOKEN)
    kept = replace(before)
    fold_event(before, ENDED)
    assert before == kept


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_many_rows_are_the_same_all_at_once_as_one_after_the_other(log: Path) -> None:
    events = [event for _ in range(40) for event in read_log(log)]
    events = [*events, SPOKEN, STARTED, *events[: len(events) // 3]]
    transcript = Transcript()
    for event in events:
        transcript = fold_event(transcript, event)
    assert len(transcript.rows) > AT_ONCE
    assert transcript_of(events) == transcript


@pytest.mark.parametrize(
    ("status", "failure", "answer"),
    [
        ("exit code 0 in 0.1 s", "", ""),
        ("exit code 3 in 0.1 s", "exit 3", ""),
        ("exit code 127 (command not found) in 0.0 s", "exit 127", ""),
        ("exit code 137 (SIGKILL) in 2.0 s; the folder x no longer exists, so it ran in the workspace", "exit 137", ""),
        ("killed by SIGSEGV after 2.0 s", "SIGSEGV", ""),
        ("stopped: it was still running after 5 s; for a long command set timeout", "timed out", ""),
        ("still running as job-1", "", ""),
        ("exit code 1: nothing was found, in 0.1 s", "", "nothing was found"),
        ("exit code 1 in 0.1 s", "exit 1", ""),
        ("exit code 12: nothing was found, in 0.1 s", "", ""),
    ],
)
def test_a_command_that_failed_says_how_although_its_call_was_carried_out(
    status: str, failure: str, answer: str
) -> None:
    said = ToolResult("c1", (Text(f"[exit code 9 in 1 s]\n[{status}]"), Text("for the model")))
    (row,) = only([SPOKEN, STARTED, replace(ENDED, result=said)], r.CallRow)
    assert isinstance(row, r.CallRow)
    assert (row.status, row.failure, row.answer) == (CallStatus.COMPLETED, failure, answer)


def test_an_edited_command_is_the_one_of_the_row() -> None:
    asked = ev.ApprovalRequested("r1", "c1", "execute_command", "make", ToolKind.EXECUTE, "ask mode", (), "make")
    typed = {"command": "rm -rf /"}
    decided = ev.ApprovalResolved("r1", "c1", Choice.ALLOW_ONCE, "user", arguments=typed)
    (row,) = only([SPOKEN, asked, decided], r.CallRow)
    assert isinstance(row, r.CallRow)
    assert row.approval is not None
    assert (row.title, row.arguments, row.approval.edited) == ("rm -rf /", typed, True)


def test_the_answer_to_a_question_about_a_limit_is_not_shown_again_as_a_message() -> None:
    asked = ev.QuestionAsked("q1", "3 tool calls in a row failed. Go on?", ("Go on", "Stop"))
    answered = ev.QuestionAnswered("q1", "look at the log first", "user")
    guidance = ev.SteeringReceived((Text("look at the log first"),))
    rows = rows_of([asked, answered, ev.LimitExtended("failures"), guidance])
    assert [type(row) for row in rows] == [r.QuestionRow]
    other = rows_of([asked, answered, ev.LimitExtended("failures"), ev.SteeringReceived((Text("and another"),))])
    assert [type(row) for row in other] == [r.QuestionRow, r.PromptRow]


@pytest.mark.parametrize(
    ("call", "title"),
    [
        (ToolCall("c1", "write_to_file", {"content": "long text", "path": "b.txt"}), "Write b.txt"),
        (ToolCall("c1", "execute_command", {"requires_approval": False, "command": "git status\nls"}), "git status"),
        (ToolCall("c1", "web_search", {"query": "jitter"}), "web_search jitter"),
        (
            ToolCall("c1", "apply_patch", {"input": "*** Begin Patch\n*** Update File: a.py \n@@\n-x\n+y\n"}),
            "Edit a.py",
        ),
    ],
)
def test_a_call_that_waits_is_named_by_what_it_is_about(call: ToolCall, title: str) -> None:
    (row,) = rows_of([ev.AssistantMessageCompleted(AssistantMessage((call,)))])
    assert isinstance(row, r.CallRow)
    assert row.title == title


def test_a_call_of_each_tool_that_waits_names_its_file() -> None:
    patch = "*** Begin Patch\n*** Add File: src/a.py\n+x\n*** Delete File: b.py\n*** End Patch"
    files = [tool.spec for tool in every_tool() if {"path", "input"} & tool.spec.schema["properties"].keys()]
    assert len(files) >= 7
    for spec in files:
        given = {name: patch if name == "input" else "src/a.py" for name in ("content", "input", "path")}
        call = ToolCall("c", spec.name, {n: v for n, v in given.items() if n in spec.schema["properties"]})
        title = propose_call(call, 1).title
        assert "src/a.py" in title, spec.name
        assert "***" not in title


def test_a_call_that_waits_has_the_kind_of_its_tool() -> None:
    kinds = {tool.spec.name: tool.kind for tool in every_tool() if tool.kind is not ToolKind.OTHER}
    rows = {name: propose_call(ToolCall("c", name, {}), 1) for name in kinds}
    assert {name: row.kind for name, row in rows.items()} == kinds


def test_a_call_of_ours_is_about_the_same_before_and_after_it_starts() -> None:
    call = ToolCall("c", "search_files", {"path": "net", "regex": "sleep\\("})
    asked = ev.AssistantMessageCompleted(AssistantMessage((call,)), seq=1)
    started = ev.ToolCallStarted("c", call.name, "Search net for sleep\\(", ToolKind.SEARCH, seq=2)
    for events in ((asked,), (asked, started)):
        (row,) = [row for row in rows_of(events) if isinstance(row, r.CallRow)]
        assert row.subject == "sleep\\("


def test_what_an_agent_asks_has_a_row_of_its_own_that_ends_with_the_decision():
    asked = ev.ApprovalRequested(
        "c.r1", "c.call_1", "write_to_file", "Write a.py", ToolKind.EDIT, "why", (), agent="alpha"
    )
    rows = rows_of([asked])
    assert [(row.title, row.approval.agent, row.status) for row in rows] == [("Write a.py", "alpha", None)]
    for choice, status in ((Choice.ALLOW_ONCE, CallStatus.COMPLETED), (Choice.REJECT_ONCE, CallStatus.REJECTED)):
        decided = ev.ApprovalResolved("c.r1", "c.call_1", choice, "user", agent="alpha")
        assert [row.status for row in rows_of([asked, decided])] == [status]


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("All **tests pass**", "All tests pass"),
        ("> - see [the *guide*](https://x.org/a_b) and `make test`.", "see the guide and make test."),
        ("## ***Done***: ~~no~~ __yes__", "Done: no yes"),
        ("1. 2 * 3 * 4 = snake_case_name and *args, **kwargs", "2 * 3 * 4 = snake_case_name and *args, **kwargs"),
    ],
)
def test_a_line_of_markdown_is_plain_text_where_none_is_drawn(line: str, plain: str) -> None:
    assert strip_markdown(line) == plain


def test_a_request_that_ended_with_its_turn_was_not_decided_by_anyone() -> None:
    asked = ev.ApprovalRequested("r", "c1", "execute_command", "make", ToolKind.EXECUTE, "asks", (), agent="helper")
    (row,) = rows_of([asked, ev.ApprovalResolved("r", "c1", Choice.REJECT_ONCE, "interrupt", agent="helper")])
    assert isinstance(row, r.CallRow)
    assert row.approval
    assert (row.status, describe_decision(row.approval)) == (CallStatus.CANCELLED, "not decided")
