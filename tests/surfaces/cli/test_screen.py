import asyncio
import io
import os
import re
import tracemalloc
from collections.abc import Iterable, Iterator
from functools import partial

import pytest
from msgspec.structs import replace
from rich.console import Console
from tests.samples import choose

from halocline.context.budget import describe_gap
from halocline.protocol import events as ev
from halocline.protocol.events.subagents import LaneEnd, SubagentEnded, SubagentProgressed, SubagentStarted
from halocline.protocol.kinds import (
    ApprovalMode,
    CallStatus,
    Choice,
    Diff,
    Grant,
    Mode,
    Remark,
    Todo,
    TodoStatus,
    ToolKind,
)
from halocline.protocol.messages import AssistantMessage, StopReason, Text, Thinking, ToolCall, ToolResult, Usage
from halocline.protocol.state.reducer import fold_events
from halocline.surfaces.rows.transcript import Transcript
from halocline.surfaces.terminal.application.activity import LiveActivity
from halocline.surfaces.terminal.drawing.activity_line import ActivityLine, describe_growth, describe_step
from halocline.surfaces.terminal.drawing.call_cards import Foreign
from halocline.surfaces.terminal.drawing.replies import DRAWN
from halocline.surfaces.terminal.drawing.screen import Screen

HUNK = "@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n"
DIFF = Diff("calc.py", f"--- a/calc.py\n+++ b/calc.py\n{HUNK}", 1, 1)
FAILED_RUN = "F\nE  assert -1 == 3\n1 failed in 0.02s\n[exit code 1 after 0.6 s]"


def message(text: str = "", *calls: ToolCall, thought: str = "") -> ev.AssistantMessageCompleted:
    parts = ((Thinking(thought),) if thought else ()) + ((Text(text),) if text else ()) + calls
    return ev.AssistantMessageCompleted(AssistantMessage(parts))


def called(
    name: str,
    title: str,
    kind: ToolKind,
    output: str = "ok",
    *,
    status: CallStatus = CallStatus.COMPLETED,
    diffs: tuple[Diff, ...] = (),
    ends_turn: bool = False,
) -> list[ev.Event]:
    call = f"call-{title}"
    return [
        message("", ToolCall(call, name)),
        ev.ToolCallStarted(call, name, title, kind, at=1.0),
        ev.ToolCallEnded(call, name, status, ToolResult(call, (Text(output),)), diffs, ends_turn, at=2.0),
    ]


def asked(call: str, command: str) -> ev.ApprovalRequested:
    grant = Grant(ToolKind.EXECUTE, command)
    return ev.ApprovalRequested(
        "r1", call, "execute_command", command, ToolKind.EXECUTE, "ask mode", tuple(Choice), command, grant=grant
    )


def shown(events: Iterable[ev.Event], width: int = 80, *, details: bool = False) -> str:
    """Return what a terminal shows. The same is also written into a pipe, which must be able to show all."""
    events = list(events)
    written_to_pipe(events, details=details)
    return drawn(Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None), events, details)


def written_to_pipe(events: Iterable[ev.Event], *, details: bool = False) -> str:
    return drawn(Console(file=io.StringIO(), width=20), events, details)


def drawn(console: Console, events: Iterable[ev.Event], details: bool) -> str:
    screen = Screen(console, details=details)
    for event in events:
        screen.show(event)
    screen.close()
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


JOURNEY: list[ev.Event] = [
    ev.TaskStarted("/home/ada/calc", "scripted/demo", Mode.ACT, ApprovalMode.ASK, "s", "1"),
    ev.TurnStarted((Text("Fix the failing test."),), at=100.0),
    ev.StepStarted("m"),
    ev.ThinkingDelta("I should run "),
    ev.ThinkingDelta("the tests."),
    ev.TextDelta("I'll run the **tests**"),
    ev.TextDelta(" first."),
    ev.UsageReported(Usage(input=12_000, output=345), 0.04),
    message("I'll run the **tests** first.", thought="I should run the tests."),
    *called("read_file", "Read calc.py", ToolKind.READ),
    *called("read_file", "Read test_calc.py", ToolKind.READ),
    *called("search_files", 'Search "add"', ToolKind.SEARCH),
    *called("execute_command", "pytest -q", ToolKind.EXECUTE, FAILED_RUN),
    *called("replace_in_file", "Edit calc.py", ToolKind.EDIT, diffs=(DIFF,)),
    ev.CheckpointTaken("0123456789abcdef", "Edit calc.py"),
    *called("attempt_completion", "Finish", ToolKind.OTHER, "The test passes **now**.", ends_turn=True),
    ev.TurnEnded(StopReason.END_TURN, at=121.0),
]


def test_a_task_reads_as_a_calm_transcript() -> None:
    assert (
        shown(JOURNEY)
        == """\
◇ scripted/demo · act mode · approvals: ask · /home/ada/calc

❯ Fix the failing test.

∴ I should run the tests.

  I'll run the tests first.

▸ Read calc.py, test_calc.py · Search "add"

$ pytest -q
│ F
│ E  assert -1 == 3
│ 1 failed in 0.02s
└ ✗ exit code 1 after 0.6 s

± Edit calc.py  +1 −1
  1   def add(a, b):
  2 -     return a - b
  2 +     return a + b

  The test passes now.

✓ done · 1 step · 12.3k tokens · $0.04 · 1 checkpoint · 21 s
"""
    )


def test_a_replayed_log_looks_like_the_live_task() -> None:
    assert shown(event for event in JOURNEY if isinstance(event, ev.Durable)) == shown(JOURNEY)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    long = [
        "word " * 60
        + "\n\n- "
        + "item " * 50
        + "\n\n```\n"
        + "x" * 300  # code is the terminal's to wrap
        + "\n```\n\n| a | b |\n| - | - |\n| "
        + "c " * 90
        + "| d |\n"
    ]
    events = [
        *JOURNEY,
        ev.TextDelta(long[0]),
        message(long[0]),
        *called("x", "t" * 300, ToolKind.EXECUTE, "y" * 500),
    ]
    lines = shown(events, width).splitlines()
    assert max(len(line) for line in lines if line != "x" * 300) <= width


def test_code_of_a_reply_stands_at_the_left_edge_line_by_line_as_it_is() -> None:
    code = "def f(argument):\n    return '" + "x" * 150 + "'\n\n    # the end"
    reply = f"So:\n\n```python\n{code}\n```\n\nDone.\n"
    assert shown([message(reply)], 80) == f"  So:\n\n{code}\n\n  Done.\n"


def test_a_task_that_is_resumed_shows_its_latest_turns_and_how_much_is_before_them() -> None:
    events = [
        event
        for number in range(60)
        for event in (
            ev.TurnStarted((Text(f"prompt {number}"),)),
            *called("execute_command", f"step {number}", ToolKind.EXECUTE, "[exit code 0 in 0.1 s]"),
            ev.TurnEnded(StopReason.END_TURN),
        )
    ]
    output = io.StringIO()
    screen = Screen(Console(file=output, width=80))
    screen.recall(events, fold_events(()))
    text = output.getvalue()
    assert "… 30 older rows above: halo tasks show" in text
    assert [number for number in range(60) if f"prompt {number}\n" in text] == [*range(10, 60)]
    assert text.count("$ step ") == 50


def test_a_question_of_the_past_stands_above_its_answer() -> None:
    events = [
        ev.TurnStarted((Text("go"),)),
        ev.QuestionAsked("q", "Tabs or spaces?", ("Tabs", "Spaces")),
        ev.QuestionAnswered("q", "Tabs", "user"),
        ev.TurnEnded(StopReason.END_TURN),
    ]
    output = io.StringIO()
    Screen(Console(file=output, width=80)).recall(events, fold_events(()))
    assert "? Tabs or spaces?\n└ Tabs\n" in output.getvalue()


def test_an_edit_that_was_shown_ahead_is_shown_again_in_a_later_reply_with_the_same_id() -> None:
    output = io.StringIO()
    screen, asked = Screen(Console(file=output, width=80)), []
    for number in range(2):
        screen.show(message("", ToolCall("c", "write_to_file")))
        edit = ev.ApprovalRequested("", "c", "write_to_file", "Write a.txt", ToolKind.EDIT, "", (), diffs=(DIFF,))
        if number == 0:
            screen.show_ahead([edit])
        screen.show_approval(replace(edit, request=f"r{number}"))
        asked.append(output.getvalue().count("Write a.txt"))
    assert asked == [1, 2]


def test_the_person_s_own_command_is_printed_at_its_end_although_a_call_waits_above_it() -> None:
    call = ToolCall("c", "execute_command", {"command": "make"})
    ended = ev.OwnCommandEnded("o", "echo mine", "mine", "exit code 0 in 0.1 s]", 0)
    asked = ev.ApprovalRequested("r", "c", "execute_command", "make", ToolKind.EXECUTE, "", (), "make")
    before = [message("", call), asked, ev.OwnCommandStarted("o", "echo mine")]
    text = shown([*before, ended])
    assert text.index("$ make") < text.index("$ echo mine")
    after = shown([*before, ended, *called("execute_command", "make", ToolKind.EXECUTE, "[exit code 0 in 0.1 s]")[1:]])
    assert after.count("echo mine") == 1


def test_prose_is_kept_to_a_readable_width_on_a_wide_terminal() -> None:
    assert max(len(line) for line in shown([message("word " * 200)], 200).splitlines()) <= 110


def test_in_a_pipe_nothing_is_wrapped_or_cut_and_replies_stay_markdown() -> None:
    text = written_to_pipe(JOURNEY)
    assert "\n◇ scripted/demo · act mode · approvals: ask · /home/ada/calc\n" in f"\n{text}"
    assert "\n  I'll run the **tests** first.\n" in text
    assert '\n▸ Read calc.py, test_calc.py · Search "add"\n' in text
    assert "\n  2 -     return a - b\n  2 +     return a + b\n" in text
    assert "\n✓ done · 1 step · 12.3k tokens · $0.04 · 1 checkpoint · 21 s\n" in text


STEPS = choose(800, 300)
"""Steps of a long task."""


def test_a_long_task_is_printed_whole_and_its_texts_are_forgotten() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    screen = Screen(console)
    tracemalloc.start()
    try:
        for number in range(STEPS):
            for event in called("execute_command", f"step {number}", ToolKind.EXECUTE, "printed\n" * 10_000):
                screen.show(event)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    screen.close()
    assert isinstance(console.file, io.StringIO)
    assert re.findall(r"step (\d+)", console.file.getvalue()) == [str(number) for number in range(STEPS)]
    assert kept < STEPS * 80_000 / 2


def test_a_finished_block_is_printed_before_the_reply_is_over() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    screen = Screen(console)
    screen.show(ev.TextDelta("First.\n\nSecond is not"))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "  First.\n"
    screen.close()


def test_what_was_not_streamed_of_a_reply_is_printed_with_its_end() -> None:
    assert shown([ev.TextDelta("One.\n\nTw"), message("One.\n\nTwo.")]) == "  One.\n\n  Two.\n"


def test_a_reply_that_is_not_what_was_streamed_is_printed_whole() -> None:
    assert shown([ev.TextDelta("Wrong"), message("Right.")]) == "  Wrong\n\n  Right.\n"


def test_a_message_of_its_own_begins_a_new_paragraph() -> None:
    parts = (Text("Looking.", phase="commentary"), Text("Done.", phase="final_answer"))
    end = ev.AssistantMessageCompleted(AssistantMessage(parts))
    assert shown([ev.TextDelta("Looking."), ev.TextDelta("Done.", apart=True), end]) == "  Looking.\n\n  Done.\n"


def test_a_reply_that_broke_off_stands_before_the_error() -> None:
    events = [ev.TextDelta("Half of"), ev.ErrorRaised("network", "The line broke.", "Try again."), message("Half of")]
    assert shown(events) == "  Half of\n\n✗ The line broke.\n  Try again.\n"


def test_a_retry_drops_the_unfinished_block_and_says_why() -> None:
    events = [
        ev.TextDelta("Half of"),
        ev.StepRetried(2, 4.0, "Overloaded.", most=3),
        ev.TextDelta("Whole."),
        message("Whole."),
    ]
    assert shown(events) == "↻ Overloaded: retrying in 4 s (2 of 3)\n\n  Whole.\n"


def test_a_notice_waits_until_the_reply_is_over() -> None:
    events = [ev.TextDelta("One "), ev.Noticed("Checkpoints are off."), ev.TextDelta("two."), message("One two.")]
    assert shown(events) == "  One two.\n\n! Checkpoints are off.\n"


def test_a_change_of_approvals_stands_where_it_came_although_a_call_before_it_still_runs() -> None:
    call = ToolCall("a", "x")
    started = ev.ToolCallStarted("a", "x", "Do a", ToolKind.OTHER)
    ended = ev.ToolCallEnded("a", "x", CallStatus.COMPLETED, ToolResult("a", ()))
    events = [message("", call), started, ev.PolicyChanged(ApprovalMode.AUTO, client="page"), ended]
    assert shown(events) == "! Approvals: auto, set by page\n\n• Do a\n"


def test_calls_that_ran_together_are_printed_in_the_order_they_were_asked_for() -> None:
    calls = (ToolCall("a", "x"), ToolCall("b", "x"))
    started = [ev.ToolCallStarted(call.id, "x", f"Do {call.id}", ToolKind.OTHER) for call in calls]
    ended = [ev.ToolCallEnded(c.id, "x", CallStatus.COMPLETED, ToolResult(c.id, ())) for c in reversed(calls)]
    assert shown([message("", *calls), *started, *ended]) == "• Do a\n\n• Do b\n"


def test_only_the_last_lines_of_a_long_output_are_shown() -> None:
    output = "\n".join(f"line {number}" for number in range(1, 101)) + "\nexit code 0 in 1.0 s"
    lines = shown(called("execute_command", "make", ToolKind.EXECUTE, output)).splitlines()
    assert lines[1:3] == ["│ … 88 earlier lines", "│ line 89"]
    assert lines[-2:] == ["│ line 100", "└ exit code 0 in 1.0 s"]


def test_lines_that_were_not_kept_are_not_counted_as_if_they_were_all() -> None:
    kept = "\n".join(f"line {number}" for number in range(1, 101))
    gap = describe_gap("the middle of 108,894 bytes is", "/tmp/output.txt has all of it")
    output = f"{kept}{gap}{kept}\nexit code 0 in 1.0 s"
    lines = shown(called("execute_command", "make", ToolKind.EXECUTE, output)).splitlines()
    assert lines[1] == "│ … more than 189 earlier lines"


def test_a_silent_command_shows_only_how_it_ended() -> None:
    events = called("execute_command", "true", ToolKind.EXECUTE, "[no output]\n[exit code 0 after 0.0 s]")
    assert shown(events) == "$ true\n└ exit code 0 after 0.0 s\n"


def test_a_terminal_without_unicode_loses_marks_and_nothing_else() -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    Screen(Console(file=terminal, width=80)).show(ev.Noticed("naïve words"))
    terminal.seek(0)
    assert terminal.read() == "! na?ve words\n"


def test_details_show_whole_thoughts_and_outputs() -> None:
    output = "\n".join(f"line {number}" for number in range(1, 101)) + "\nexit code 0 in 1.0 s"
    events = [message("", thought="First.\nSecond."), *called("execute_command", "make", ToolKind.EXECUTE, output)]
    text = shown(events, details=True)
    assert "Second." in text
    assert "│ line 1\n" in text


@pytest.mark.parametrize(
    ("status", "end"),
    [
        (CallStatus.FAILED, "└ No such file.\n"),
        (CallStatus.SKIPPED, "└ No such file.\n"),
        (CallStatus.CANCELLED, "└ interrupted\n"),
        (CallStatus.REJECTED, "└ No such file.\n"),
    ],
)
def test_a_call_that_did_not_succeed_says_how_it_ended(status: CallStatus, end: str) -> None:
    events = called("read_file", "Read a", ToolKind.READ, "No such file.", status=status)
    assert shown(events) == "▸ Read a\n" + end


def test_a_command_continues_below_its_approval_card() -> None:
    call = ToolCall("c", "execute_command", {"command": "make"})
    events = [
        message("", call),
        asked("c", "make"),
        ev.ApprovalResolved("r1", "c", Choice.ALLOW_ALWAYS, "user", grant=Grant(ToolKind.EXECUTE, "make")),
        ev.ToolCallStarted("c", "execute_command", "make", ToolKind.EXECUTE),
        ev.ToolCallEnded("c", "execute_command", CallStatus.COMPLETED, ToolResult("c", (Text("exit code 0"),))),
    ]
    assert shown(events) == "$ make\n→ ask mode\n│ always allow `make` in this task\n└ exit code 0\n"


def test_an_edited_command_is_named_anew_when_it_ends() -> None:
    events = [
        message("", ToolCall("c", "execute_command", {"command": "make"})),
        asked("c", "make"),
        ev.ApprovalResolved("r1", "c", Choice.ALLOW_ONCE, "user"),
        ev.ToolCallStarted("c", "execute_command", "make check", ToolKind.EXECUTE),
        ev.ToolCallEnded("c", "execute_command", CallStatus.COMPLETED, ToolResult("c", (Text("exit code 0"),))),
    ]
    assert shown(events) == "$ make\n→ ask mode\n$ make check\n└ exit code 0\n"


def test_a_rejection_shows_the_reason_that_the_person_gave() -> None:
    events = [
        message("", ToolCall("c", "execute_command", {"command": "make"})),
        asked("c", "make"),
        ev.ApprovalResolved("r1", "c", Choice.REJECT_ONCE, "user", "not now"),
        ev.ToolCallEnded("c", "execute_command", CallStatus.REJECTED, ToolResult("c", (Text("told the model"),))),
    ]
    assert shown(events).endswith("└ rejected: not now\n")


def test_the_plan_shows_what_is_done_and_what_is_next() -> None:
    todos = (
        Todo("Run", TodoStatus.COMPLETED),
        Todo("Fix", TodoStatus.IN_PROGRESS),
        Todo("Rest"),
    )
    assert describe_step(todos) == " · 1/3 Fix"
    assert describe_step(todos[:1]) == ""
    assert shown([ev.TodosChanged(todos, by="person")]).startswith("≡ Plan  1/3, edited by you\n")
    assert shown([ev.TodosChanged(todos)]) == "≡ Plan  1/3\n  ✓ Run\n  ▸ Fix\n  ○ Rest\n"


def test_a_question_stands_with_its_options_and_its_answer() -> None:
    events = [ev.QuestionAsked("q", "Which?", ("SQLite", "JSON")), ev.QuestionAnswered("q", "JSON", "user")]
    assert shown(events) == "? Which?\n  1 SQLite\n  2 JSON\n└ JSON\n"


def test_a_question_of_several_lines_is_markdown_and_its_answer_stands_below_it() -> None:
    asking = ToolCall("c", "new_task", {"context": "x"})
    events = [
        message("", asking),
        ev.ToolCallStarted("c", "new_task", "Hand over", ToolKind.OTHER),
        ev.QuestionAsked("q", "It is *all*.\n\nGo on?", ("Yes", "No"), "c"),
        ev.QuestionAnswered("q", "Yes", "user"),
        ev.ToolCallEnded("c", "new_task", CallStatus.COMPLETED, ToolResult("c", (Text("Gone."),)), (), True),
    ]
    assert shown(events) == "  It is all.\n\n  Go on?\n\n? 1 Yes\n  2 No\n└ Yes\n\n  Gone.\n"


def test_a_plan_is_said_once_whether_it_asks_or_goes_on() -> None:
    said = {"response": "I **look**.", "options": ["a"]}
    begun = [
        message("", ToolCall("c", "plan_mode_respond", said)),
        ev.ToolCallStarted("c", "plan_mode_respond", "Plan", ToolKind.THINK),
    ]
    ended = ev.ToolCallEnded("c", "plan_mode_respond", CallStatus.COMPLETED, ToolResult("c", (Text("Noted."),)))
    question = [ev.QuestionAsked("q", "I **look**.", ("a",), "c"), ev.QuestionAnswered("q", "a", "user")]
    assert shown([*begun, ended]) == "  I look.\n"
    assert shown([*begun, *question, ended]).count("look") == 1


def test_remarks_stand_below_their_lines_and_no_diff_that_has_some_is_cut() -> None:
    lines = "".join(f"+{number}\n" for number in range(1, 101))
    diff = Diff("a.py", f"--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,100 @@\n{lines}", 100, 0, (Remark(99, "Why."),))
    text = shown(called("generate_explanation", "The change", ToolKind.OTHER, diffs=(diff,)))
    assert "   99 + 99\n        └ Why.\n  100 + 100\n" in text


def test_an_address_alone_is_in_one_piece_to_be_copied() -> None:
    address = "https://example.org/" + "x" * 200
    assert f"\n{address}\n" in shown(called("x", "t", ToolKind.OTHER, f"Open:\n\n{address}\n", ends_turn=True))


def test_links_show_where_they_lead_and_html_is_text() -> None:
    text = "See [here](https://evil.example/x) and <b>this</b> ![pic](http://a/b.png) <https://auto.example>"
    assert shown([message(text)], 120) == (
        "  See here (https://evil.example/x) and <b>this</b> [image: pic] (http://a/b.png) https://auto.example\n"
    )


def test_an_html_block_is_shown_and_not_swallowed() -> None:
    assert "<script>alert(1)</script>" in shown([message("<script>alert(1)</script>")])


HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m[bold red]x[/] \u202e \x07\x08 &#x202e; :smile:\r"


def hostile_events() -> list[ev.Event]:
    todo = Todo(HOSTILE, TodoStatus.IN_PROGRESS)
    diff = Diff(HOSTILE, f"@@ -1 +1 @@\n-{HOSTILE}\n+{HOSTILE}\n", 1, 1)
    return [
        ev.TaskStarted(HOSTILE, HOSTILE, Mode.ACT, ApprovalMode.ASK, "s", "1"),
        ev.TurnStarted((Text(HOSTILE),)),
        ev.ThinkingDelta(HOSTILE),
        ev.TextDelta(f"{HOSTILE}\n\n```{HOSTILE}\n{HOSTILE}\n```\n\n# {HOSTILE}\n\n[{HOSTILE}](http://{HOSTILE})\n"),
        ev.EditPreviewed(HOSTILE, HOSTILE, HOSTILE, 1, 1, 1, 1, (HOSTILE,)),
        *called(HOSTILE, HOSTILE, ToolKind.READ),
        *called(HOSTILE, HOSTILE, ToolKind.EXECUTE, f"{HOSTILE}\n{HOSTILE}"),
        *called(HOSTILE, HOSTILE, ToolKind.EDIT, diffs=(diff, diff)),
        *called(HOSTILE, HOSTILE, ToolKind.OTHER, HOSTILE, status=CallStatus.FAILED),
        message("", ToolCall("c", "execute_command")),
        asked("c", HOSTILE),
        ev.ApprovalResolved("r1", "c", Choice.ALLOW_ALWAYS, "user", HOSTILE, grant=Grant(ToolKind.EXECUTE, HOSTILE)),
        ev.ToolCallEnded("c", "x", CallStatus.REJECTED, ToolResult("c", (Text(HOSTILE),))),
        ev.QuestionAsked("q", HOSTILE, (HOSTILE,)),
        ev.QuestionAnswered("q", HOSTILE, "user"),
        ev.TodosChanged((todo,)),
        ev.CheckpointTaken(HOSTILE, HOSTILE),
        ev.CheckpointRestored(HOSTILE, HOSTILE),
        ev.StepRetried(1, 1.0, HOSTILE),
        ev.Noticed(HOSTILE),
        ev.ErrorRaised(HOSTILE, HOSTILE, HOSTILE),
        ev.TurnEnded(StopReason.MAX_TURN_REQUESTS, HOSTILE, HOSTILE),
    ]


@pytest.mark.parametrize("details", [False, True])
def test_no_control_character_of_any_text_reaches_the_terminal(details: bool) -> None:
    assert not re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown(hostile_events(), details=details))


def test_what_looks_like_markup_is_shown_as_it_is() -> None:
    assert shown([ev.Noticed("[bold red]x[/] :smile:")]) == "! [bold red]x[/] :smile:\n"


def test_colours_are_the_only_escape_codes_on_a_terminal() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    screen = Screen(console)
    for event in [*JOURNEY, *hostile_events()]:
        screen.show(event)
    screen.close()
    assert isinstance(console.file, io.StringIO)
    without_colours = re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())
    assert "\x1b" not in without_colours
    assert without_colours != console.file.getvalue()


@pytest.mark.parametrize(
    ("environment", "pattern"),
    [({"NO_COLOR": "1", "TERM": "xterm"}, r"\x1b\[[0-9;]*3[0-7]"), ({"TERM": "dumb"}, r"\x1b")],
    ids=["NO_COLOR", "dumb"],
)
def test_the_environment_can_turn_colours_off(environment: dict[str, str], pattern: str) -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, _environ=environment)
    screen = Screen(console)
    for event in JOURNEY:
        screen.show(event)
    assert isinstance(console.file, io.StringIO)
    assert not re.findall(pattern, console.file.getvalue())


def test_a_recorded_screen_can_be_exported_as_a_picture() -> None:
    console = Console(file=io.StringIO(), width=80, record=True, force_terminal=True)
    screen = Screen(console)
    for event in JOURNEY:
        screen.show(event)
    assert "pytest" in console.export_svg(title="halo")


async def until(fd: int, wanted: str) -> str:
    loop, seen, arrived = asyncio.get_running_loop(), "", asyncio.Event()
    loop.add_reader(fd, arrived.set)
    try:
        while wanted not in seen:
            await arrived.wait()
            arrived.clear()
            seen += os.read(fd, 4096).decode()
    finally:
        loop.remove_reader(fd)
    return seen


@pytest.fixture
def pty() -> Iterator[tuple[int, Console]]:
    master, slave = os.openpty()
    with open(slave, "w") as terminal:
        yield master, Console(file=terminal, force_terminal=True, width=80, _environ={"TERM": "xterm"})
    os.close(master)


async def test_the_moving_line_is_erased_before_anything_is_printed(pty: tuple[int, Console]) -> None:
    master, console = pty
    async with asyncio.timeout(5), Screen(console) as screen:
        screen.show(ev.TextDelta("First par"))
        assert "writing" in await until(master, "First par")
        screen.show(ev.TextDelta("agraph.\n\n"))
        assert "\r\x1b[K" in (await until(master, "First paragraph.")).partition("  First")[0]


async def test_nothing_is_left_of_the_moving_line_when_nothing_happens(pty: tuple[int, Console]) -> None:
    master, console = pty
    async with asyncio.timeout(5), Screen(console) as screen:
        screen.show(ev.ThinkingDelta("Hm."))
        await until(master, "thinking")
        screen.show(ev.TurnEnded(StopReason.CANCELLED))
        screen.show(ev.Noticed("still"))
        seen = await until(master, "still")
    assert "thinking" not in seen.rpartition("\r\x1b[K")[2]


def test_an_edit_that_grows_is_counted_in_the_moving_line_and_leaves_nothing_behind() -> None:
    edit = ev.EditPreviewed("c1", "replace_in_file", "src/a.py", 2, 41, 3, 1, ("-old", "+new"))
    assert describe_growth(edit) == "edit 2 at line 41 · +3 −1"
    assert describe_growth(ev.EditPreviewed("c1", "write_to_file", "a", 0, None, 3, 0)) == "+3 −0"
    delta = ev.ToolCallDelta("c1", "replace_in_file", "x")
    assert shown([delta, edit, delta]) == ""


FOREIGN = "# Found\n\nIt is **here**: [notes](https://x.example).\n\n" + "\n\n".join(f"line {n}" for n in range(20))


def foreign(how: Foreign) -> str:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    screen = Screen(console)
    screen.foreign = how
    for event in called("notes__find", "notes/find", ToolKind.EXECUTE, FOREIGN):
        screen.show(event)
    screen.close()
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_result_of_an_mcp_server_is_shown_as_markdown_and_in_its_beginning() -> None:
    text = foreign(Foreign())
    assert "│ It is here: notes (https://x.example)." in text
    assert "… 31 more lines" in text
    assert "line 19" not in text


def test_the_result_of_an_mcp_server_is_shown_whole_or_as_it_is_where_a_person_wants_that() -> None:
    assert "line 19" in foreign(Foreign(collapse=False))
    assert "│ It is **here**: [notes](https://x.example)." in foreign(Foreign(markdown=False))


def lanes() -> list[ev.Event]:
    call = ToolCall("c", "use_subagents")
    return [
        message("", call),
        ev.ToolCallStarted("c", "use_subagents", "Ask 2 sub-agents: one, two", ToolKind.READ, at=1.0),
        SubagentStarted("c", "t1", "one", "Where is it?", model="m/x", at=1.0),
        SubagentStarted("c", "t2", "two", "What is it?", model="m/x", at=1.0),
        SubagentProgressed("c", "t1", "Read a.py", 1, 1, 900),
        SubagentEnded("c", "t2", "two", LaneEnd.FAILED, problem="No such model.", at=2.0),
        SubagentEnded("c", "t1", "one", LaneEnd.DONE, "In a.py.", "", 2, 1, Usage(input=1200), 0.01, at=5.0),
        ev.ToolCallEnded("c", "use_subagents", CallStatus.COMPLETED, ToolResult("c", (Text("…"),)), at=5.0),
    ]


def test_sub_agents_are_a_line_each_when_they_end_below_what_they_were_asked_for():
    lines = [line.strip() for line in shown(lanes()).splitlines() if line.strip()]
    assert lines == [
        "▸ Ask 2 sub-agents: one, two",
        "✗ two  failed · No such model. · task t2",
        "✓ one  2 steps · 1.2k tokens · $0.01 · 4.0 s · task t1",
    ]


def test_details_show_what_a_sub_agent_was_asked_and_what_it_said():
    assert "Where is it?" in shown(lanes(), details=True)
    assert "In a.py." in shown(lanes(), details=True)


LONG = {
    "list": "- an item with **bold** words\n" * 4_000,
    "prose": "Some **bold** words.\n\n" * 6_000,
    "code": f"```python\n{'value = 1' + chr(10)}{'more = 2' + chr(10) * 1}" + "more = 3\n" * 12_000 + "```\n",
    "line": "word " * 30_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("streamed", [False, True])
def test_a_long_reply_is_drawn_up_to_a_bound_and_then_printed_as_it_was_written(kind: str, *, streamed: bool) -> None:
    text = LONG[kind] + "\n\nThe **end**.\n"
    deltas = [ev.TextDelta(text[start : start + 999]) for start in range(0, len(text), 999)] if streamed else []
    said = shown([*deltas, message(text), message("A **new** reply.")])
    assert said.count("long reply: the rest is plain text") == 1
    assert said.index("long reply: the rest") < 1.5 * DRAWN
    letters = [letter for letter in said.replace("long reply: the rest is plain text", "") if letter.isalpha()]
    assert "".join(letters).replace("python", "") == "".join(
        letter for letter in text + "A new reply." if letter.isalpha()
    ).replace("python", "")
    assert "The **end**." in said
    assert "A new reply." in said


def test_what_is_printed_as_it_was_written_holds_no_escape_sequence() -> None:
    said = shown([message("plain\n" * (DRAWN // 3) + "\x1b[31mred\x1b]0;title\x07 \u202e end")])
    assert "\x1b" not in said
    assert "red <U+202E> end" in said


def test_the_beginning_of_a_long_prompt_is_shown_however_long_its_lines_are() -> None:
    said = shown([ev.TurnStarted(content=(Text("word " * 100_000),))])
    assert len(said) < 20_000
    assert "more characters" in said


@pytest.mark.parametrize(
    ("call", "head"),
    [
        (ToolCall("c1", "execute_command", {"command": "touch made"}), "$ touch made\n"),
        (ToolCall("c1", "replace_in_file", {"path": "a.py", "diff": "x"}), "± Edit a.py\n"),
    ],
)
def test_a_call_that_never_started_is_named_by_what_it_would_do(call: ToolCall, head: str) -> None:
    end = ev.ToolCallEnded(call.id, call.name, CallStatus.SKIPPED, ToolResult(call.id, (Text("Nothing was run."),)))
    assert f"{head}└ Nothing was run.\n" in shown([message("", call), end])


def test_the_file_with_the_rest_of_an_output_is_named_in_full() -> None:
    place = "/home/me/.halocline/tasks/" + "long-name/" * 8 + "output"
    output = f"[binary output, 12 bytes, not shown; saved to {place}]\n[exit code 0 in 0.1 s]"
    text = shown(called("execute_command", "cat it", ToolKind.EXECUTE, output), width=40)
    assert place in "".join(part.strip("│ ") for part in text.split("\n"))


def read(number: int, thought: str = "") -> list[ev.Event]:
    path = f"a/rather/long/path/to/module_{number}.py"
    return [message("", thought=thought), *called("read_file", f"Read {path}", ToolKind.READ, f"body {number}")]


def test_reads_with_only_thoughts_between_them_are_one_row_that_counts_what_does_not_fit() -> None:
    events = [*read(1), *read(2, "Now the second."), *read(3), message("", thought="I know enough."), message("Done.")]
    assert shown(events, width=60) == "▸ Read 3 files · 1 thought\n\n∴ I know enough.\n\n  Done.\n"
    assert "∴ Now the second." in shown(events, details=True)


def test_code_in_a_list_or_a_quote_is_printed_as_it_is() -> None:
    code = "result = some_function(argument_one, argument_two, argument_three)"
    nested = (
        f"- one\n\n  ```python\n  if x:\n      {code}\n  ```\n\n- two\n  1. deep\n\n     ```\n     {code}\n     ```\n"
    )
    quoted = f"> said\n>\n> ```js\n> {code}\n> ```\n"
    text = shown([message(f"{nested}\nand\n\n{quoted}\n    {code}\n")], width=40)
    lines = text.split("\n")
    assert lines.count(code) == 3
    assert f"if x:\n    {code}" in text
    assert [line.strip() for line in lines if line.strip() and code not in line] == [
        *("• one", "if x:", "• two", "1 deep", "and", "▌ said")
    ]


def test_a_question_that_was_stopped_ends_once() -> None:
    call = ToolCall("c", "ask_followup_question", {"question": "Which one?"})
    ended = ev.ToolCallEnded("c", call.name, CallStatus.CANCELLED, ToolResult("c", (Text("Interrupted."),)))
    events = [
        message("", call),
        ev.ToolCallStarted("c", call.name, "Which one?", ToolKind.OTHER),
        ev.QuestionAsked("q", "Which one?", ("a", "b"), "c"),
        ev.QuestionAnswered("q", "", "interrupt"),
        ended,
    ]
    assert shown(events).count("interrupted") == 1


def test_a_call_that_failed_after_it_asked_is_shown() -> None:
    call = ToolCall("c", "new_task", {"context": "x"})
    events = [
        message("", call),
        ev.ToolCallStarted("c", call.name, "Hand over", ToolKind.OTHER),
        ev.QuestionAsked("q", "Go on?", ("Yes", "No"), "c"),
        ev.QuestionAnswered("q", "Yes", "user"),
        ev.ToolCallEnded("c", call.name, CallStatus.FAILED, ToolResult("c", (Text("The disk is full."),))),
    ]
    assert "The disk is full." in shown(events)


def test_what_an_agent_changed_and_ran_stands_below_its_line_without_the_diff() -> None:
    review = "[It changed 1 file: +1 -1 lines.]\nAfter the last edit: `make test` (exit 2).\nTo take them: …\n--- a/x"
    *before, done, end = lanes()
    assert isinstance(done, SubagentEnded)
    text = shown([*before, replace(done, review=review), end])
    assert "  [It changed 1 file: +1 -1 lines.]\n  After the last edit: `make test` (exit 2).\n" in text
    assert "To take them" not in text
    assert "--- a/x" not in text


def test_what_an_agent_asked_is_shown_once() -> None:
    asked = ev.ApprovalRequested("r", "t1.c", "execute_command", "make test", ToolKind.EXECUTE, "", (), agent="one")
    decided = ev.ApprovalResolved("r", "t1.c", Choice.ALLOW_ONCE, "user", agent="one")
    *before, done, end = lanes()
    assert shown([*before, asked, decided, done, end]).count("make test") == 1


def test_what_a_sub_agent_was_refused_stands_below_its_line() -> None:
    refused = ("rm -rf /: blocked: it deletes / (no mode allows that)",)
    *before, done, end = lanes()
    assert isinstance(done, SubagentEnded)
    text = shown([*before, replace(done, refused=refused), end])
    assert "  refused: rm -rf /: blocked: it deletes / (no mode allows that)\n" in text
    long = [replace(done, refused=("x" * 90,)), end]
    assert f"refused: {'x' * 68}…" in shown([*before, *long])
    assert f"{'x' * 12}\n" in shown([*before, *long], details=True)


def test_what_the_person_s_own_command_prints_stands_below_its_own_row_beside_the_agent_s() -> None:
    status = LiveActivity(Console(file=io.StringIO(), width=80), lambda: None)
    follow = partial(ActivityLine(status, can_leave=False).follow, transcript=Transcript(), looks=())
    follow(ev.ToolCallStarted("c1", "execute_command", "sleep 25", ToolKind.EXECUTE))
    follow(ev.ToolCallProgressed("c1", "theirs\n"))
    follow(ev.OwnCommandStarted(run="!1", command="echo mine"))
    follow(ev.ToolCallProgressed("!1", "mine\n"))

    def drawn() -> list[str]:
        return ["".join(text for _, text in line)[2:] for line in status.lines(80, 10)]

    agent, own = ["running sleep 25", "│ theirs"], ["running !echo mine · Esc stops", "│ mine"]
    assert drawn() == [*agent, *own]
    follow(ev.OwnCommandEnded(run="!1", command="echo mine", stopped=True))
    follow(ev.ToolCallProgressed("!1", "late\n"))
    assert drawn() == ["running sleep 25 · Esc stops", "│ theirs"]
