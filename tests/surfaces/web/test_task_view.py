"""The view of a task: whatever the moment at which pages come, leave and come back, all of them know the same."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from tests.samples import choose
from tests.surfaces.web.task_copy import TaskCopy
from tests.tables import for_each

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode, CallStatus, Choice, Mode, ToolKind
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolCall, ToolResult
from halocline.surfaces.rows.calls import LIVE_OUTPUT
from halocline.surfaces.rows.fold import rows_of
from halocline.surfaces.web.task_view.view import MOST_ROWS, PageView, TaskView
from halocline.surfaces.web.task_watch import EventBatch
from halocline.surfaces.web.wire import Watch
from halocline.task.log import read_log

LOGS = sorted((Path(__file__).parents[2] / "golden" / "format-1").glob("*.jsonl"))


def new_view(events: Sequence[ev.Event]) -> TaskView:
    view = TaskView("t")
    view.take(EventBatch(events, fresh=False, live=True))
    return view


@dataclass(slots=True)
class Reader:
    """A page: what it knows, and its watch while it has one."""

    copy: TaskCopy = field(default_factory=TaskCopy)
    page: PageView | None = None
    frames: list[bytes] = field(default_factory=list)

    def read(self, view: TaskView, *, leaves: bool = False) -> "Reader":
        """Take in all that there is to be read; come back for it, if it had left."""
        self.page = self.page or PageView(
            view, msgspec.convert({"type": "watch", "task": "t", **self.copy.known()}, Watch)
        )
        while (frame := self.page.next_frame()) is not None:
            self.frames.append(frame)
            self.copy.take(json.loads(frame))
        self.page = None if leaves else self.page
        return self


def as_sent(events: Iterable[ev.Event]) -> list[object]:
    return [json.loads(msgspec.json.encode(row)) for row in rows_of(events)]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
@settings(max_examples=choose(12, 3))
@given(data=st.data())
def test_a_page_that_comes_and_goes_has_the_rows_of_the_log(log: Path, data: st.DataObject) -> None:
    events = [*read_log(log)]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=6)))
    view = new_view(events[: cuts[0] if cuts else len(events)])
    steady, hasty = Reader().read(view), Reader().read(view, leaves=True)
    for begin, end in pairwise([*cuts, len(events)] if cuts else []):
        view.take(EventBatch(events[begin:end], fresh=data.draw(st.booleans()), live=True))
        steady.read(view)
        if data.draw(st.booleans()):
            hasty.read(view, leaves=data.draw(st.booleans()))
    for reader in (steady, hasty.read(view), Reader().read(view)):
        assert reader.copy.rows == as_sent(events)
        assert reader.copy.facts == Reader().read(new_view(events)).copy.facts


def streaming(pieces: int, text: str) -> list[ev.Event]:
    """A turn that writes a reply, calls a command that prints as much, and ends."""
    call = ToolCall("c", "execute_command", {"command": "make"})
    return [
        ev.TurnStarted((Text("go"),), seq=1, at=1.0),
        ev.StepStarted("m", seq=2, at=1.0),
        *(ev.TextDelta(text) for _ in range(pieces)),
        ev.AssistantMessageCompleted(AssistantMessage((Text(text * pieces), call)), seq=3, at=2.0),
        ev.ToolCallStarted("c", "execute_command", "make", ToolKind.EXECUTE, seq=4, at=2.0),
        *(ev.ToolCallProgressed("c", text) for _ in range(pieces)),
        ev.ToolCallEnded("c", "execute_command", CallStatus.COMPLETED, ToolResult("c", (Text("done"),)), seq=5, at=3.0),
        ev.TurnEnded(StopReason.END_TURN, seq=6, at=3.0),
    ]


def test_growing_text_is_sent_in_pieces_and_every_page_has_all_of_it() -> None:
    text = "a line of forty characters, or nearly so\n"
    events = streaming(600, text)
    view, steady, hasty = new_view([]), Reader(), Reader()
    for number, event in enumerate(events):
        view.take(EventBatch([event], fresh=False, live=True))
        steady.read(view)
        if number % 97 == 0:
            hasty.read(view, leaves=number % 2 == 0)
        if isinstance(event, ev.ToolCallProgressed):
            assert len(steady.copy.of("call_row")[0]["output"]) <= LIVE_OUTPUT
    assert steady.copy.rows == hasty.read(view).copy.rows == as_sent(events)
    assert sum(map(len, steady.frames)) < 1_200 * (len(text) + 200) + 2 * 600 * len(text)


def test_letters_of_a_reply_that_is_being_written_cost_a_page_little_more_than_themselves() -> None:
    view = new_view(streaming(2, "letters. ")[:4])
    reader = Reader().read(view)
    for _ in range(100):
        view.take(EventBatch([ev.TextDelta("letters. ")], fresh=False, live=True))
        reader.read(view)
    assert reader.copy.of("reply_row")[-1]["text"] == "letters. " * 102
    assert sum(map(len, reader.frames[-100:])) < 100 * 75


def test_what_is_in_no_log_is_forgotten_before_it_is_sent_again() -> None:
    began = streaming(3, "One. ")[:5]
    view = new_view(began)
    reader = Reader().read(view)
    view.take(EventBatch([ev.StepRetried(1, 2.5, "Too many requests.")], fresh=False, live=True))
    assert [row["type"] for row in reader.read(view).copy.rows] == ["prompt_row", "retry_row"]
    view.take(EventBatch([ev.TextDelta("One. One. One. Two.")], fresh=True, live=True))
    assert [row.get("text") for row in reader.read(view).copy.rows] == ["go", "One. One. One. Two."]


def test_a_page_gets_the_last_rows_first_and_others_when_it_asks_for_them() -> None:
    events = [ev.CheckpointFailed(f"notice {number}", seq=number) for number in range(1, 1_001)]
    view = new_view(events)
    reader = Reader().read(view)
    rows = as_sent(events)
    assert reader.copy.rows == [*[{}] * 800, *rows[-MOST_ROWS:]]
    assert reader.page
    reader.page.show_rows(150, 600)
    reader.read(view)
    assert reader.copy.rows == [*[{}] * 150, *rows[150:600], *[{}] * 200, *rows[800:]]
    assert [len(json.loads(frame)["rows"]) for frame in reader.frames] == [200, 200, 200, 50]


def test_what_a_page_asks_for_next_comes_instead_of_what_it_did_not_get_yet() -> None:
    events = [ev.CheckpointFailed(f"notice {number}", seq=number) for number in range(1, 1_001)]
    view = new_view(events)
    reader = Reader().read(view)
    assert reader.page
    reader.page.show_rows(0, 600)
    reader.page.show_rows(10, 20)
    reader.read(view)
    assert reader.copy.rows == [*[{}] * 10, *as_sent(events)[10:20], *[{}] * 780, *as_sent(events)[800:]]


def test_a_page_of_another_view_gets_the_last_rows_anew() -> None:
    events = [ev.CheckpointFailed(f"notice {number}", seq=number) for number in range(1, 1_001)]
    reader = Reader().read(new_view(events[:900]))
    reader.page = None
    reader.read(new_view(events))
    assert reader.copy.rows == [*[{}] * 800, *as_sent(events)[800:]]


@for_each("first", [-5, 0, 7, 10**9])
@for_each("until", [-5, 0, 9, 10**9])
@for_each("revision", [-1, 0, 1, 10**9])
@for_each("is_same_view", [True, False])
def test_whatever_a_page_says_that_it_knows_it_gets_few_frames(
    first: int, until: int, revision: int, is_same_view: bool
) -> None:
    view = new_view([ev.CheckpointFailed(f"notice {number}", seq=number) for number in range(1, 1_001)])
    page = PageView(view, Watch("t", view.id if is_same_view else "other", revision))
    page.show_rows(first, until)
    assert len([*takewhile(lambda frame: frame is not None, (page.next_frame() for _ in range(100)))]) < 10


def test_a_call_that_waits_for_a_decision_is_always_among_the_first_rows() -> None:
    calls = tuple(ToolCall(f"c{number}", "read_file", {"path": "a"}) for number in range(2 * MOST_ROWS))
    asked = ev.ApprovalRequested("r", "c0", "read_file", "Read a", ToolKind.READ, "outside", (), seq=3)
    events = [ev.TurnStarted((Text("go"),), seq=1), ev.AssistantMessageCompleted(AssistantMessage(calls), seq=2), asked]
    copy = Reader().read(new_view(events)).copy
    assert copy.facts["waiting"][0]["call"] == copy.of("call_row")[0]["call"] == "c0"


def test_a_long_prompt_is_a_fact_by_its_beginning_and_whole_in_its_row() -> None:
    long = "word " * 2_000
    copy = Reader().read(new_view([ev.TurnStarted((Text(long),), seq=1)])).copy
    (fact,) = copy.facts["prompts"]
    assert (len(fact["text"]), fact["is_cut"], copy.of("prompt_row")[0]["text"]) == (4_000, True, long)


def test_what_was_asked_before_a_crash_waits_no_more_once_it_is_asked_again() -> None:
    events = [
        ev.TurnStarted((Text("go"),), seq=1),
        ev.QuestionAsked("q1", "Which?", seq=2),
        ev.TurnResumed(seq=3),
        ev.QuestionAsked("q2", "Which?", seq=4),
    ]
    assert [one["request"] for one in Reader().read(new_view(events)).copy.facts["waiting"]] == ["q2"]


def test_rows_that_a_rewind_left_behind_are_marked_until_it_is_undone() -> None:
    events: list[ev.Event] = [
        ev.TaskStarted("/w", "m", Mode.ACT, ApprovalMode.ASK, "s", "1", seq=1),
        *(ev.TurnStarted((Text(f"prompt {number}"),), seq=number) for number in (2, 3, 4)),
        ev.CheckpointRestored("c", "u", seq=5),
        ev.ConversationRestored(2, seq=6),
    ]
    view = new_view(events)
    reader = Reader().read(view)
    assert reader.copy.facts["left"] == [[2, 4]]
    assert reader.copy.of("restored_row")[0]["both"]
    view.take(EventBatch([ev.ConversationRestored(5, seq=7)], fresh=False, live=True))
    assert reader.read(view).copy.facts["left"] == []
    assert [row.get("undone", False) for row in reader.copy.of("notice_row")] == [True, False]


def test_the_end_of_the_newest_turn_is_that_which_the_model_sees() -> None:
    events: list[ev.Event] = [
        ev.TurnStarted((Text("one"),), seq=2),
        ev.TurnEnded(StopReason.END_TURN, failed=("the last edit",), seq=3),
        ev.TurnStarted((Text("two"),), seq=4),
        ev.TurnEnded(StopReason.END_TURN, seq=5),
    ]
    view = new_view(events)
    reader = Reader().read(view)
    ends = []
    for seq, to in enumerate((3, 1, 5), 6):
        view.take(EventBatch([ev.ConversationRestored(to, seq=seq)], fresh=False, live=True))
        last = reader.read(view).copy.facts["last"]
        ends.append(last and (last["seq"], last["failed"]))
    assert ends == [(3, ["the last edit"]), None, (5, [])]


def test_a_call_without_approval_is_counted_and_one_with_approval_is_not() -> None:
    events: list[ev.Event] = [
        ev.ToolCallStarted("a", "read_file", "Read a", ToolKind.READ, seq=1),
        ev.ApprovalRequested("r", "b", "read_file", "Read b", ToolKind.READ, "outside", (), seq=2),
        ev.ApprovalResolved("r", "b", Choice.ALLOW_ONCE, "user", seq=3),
        ev.ToolCallStarted("b", "read_file", "Read b", ToolKind.READ, seq=4),
    ]
    facts = Reader().read(new_view(events)).copy.facts
    assert (facts["unasked"], facts["waiting"], facts["decided"][0]["by"]) == ({"read": 1}, [], "user")


def test_the_colors_of_an_output_stay_when_its_command_ends() -> None:
    view = TaskView("t")
    events = (
        ev.OwnCommandStarted(run="r", command="make"),
        ev.ToolCallProgressed.of("r", "\x1b[31mred\x1b[0m\n", str),
        ev.OwnCommandEnded(run="r", command="make", output="red\n", said="exit code 0", exit_code=0),
    )
    view.take(EventBatch(events, fresh=False, live=True))
    assert rb"\u001b[31mred\u001b[0m\n[exit code 0]" in view.begin()
