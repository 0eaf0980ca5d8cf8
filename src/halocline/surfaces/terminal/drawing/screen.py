"""Line mode: prints a task's rows once into the terminal's scrollback.

Rows are printed in order, each when it is settled; unsettled work is shown in the status line.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from rich.console import Console, Group, RenderableType

from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentEnded, SubagentStarted
from halocline.protocol.kinds import CallStatus, Diff
from halocline.protocol.state.state import State
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.rows.fold import fold_event, transcript_of
from halocline.surfaces.rows.transcript import Transcript, forget_settled, is_settled, split_latest
from halocline.surfaces.terminal.drawing import call_cards, cards
from halocline.surfaces.terminal.drawing.activity_line import ActivityLine
from halocline.surfaces.terminal.drawing.approval_card import decision_line
from halocline.surfaces.terminal.drawing.asked_cards import AskedCards
from halocline.surfaces.terminal.drawing.call_cards import WHOLE, Foreign, indent_cards
from halocline.surfaces.terminal.drawing.diff_view import diff_view
from halocline.surfaces.terminal.drawing.replies import Replies
from halocline.surfaces.terminal.drawing.scrollback import Scrollback
from halocline.surfaces.terminal.drawing.shortened import ShortenedRows
from halocline.surfaces.terminal.drawing.status_line import Activity, StatusLine
from halocline.surfaces.terminal.drawing.stream import Stream
from halocline.surfaces.terminal.drawing.theme import Wide, line

TOLD_BY_OTHER_ROWS = frozenset({"update_todos", "ask_followup_question", "new_task", "report_bug"})
"""Tools whose success is shown by the row of the to-do list or question."""
NOT_DONE = frozenset({CallStatus.REJECTED, CallStatus.SKIPPED, CallStatus.CANCELLED})
"""Ends of a call that asked, which the row of the question shows."""
SAID = {"plan_mode_respond": "response"}
"""Tools with a message for the person, and the argument that holds it."""

RECALLED_ROWS = 150
"""Most rows of a task's past that are printed when it is opened."""
OLDER = "… {count:,} older rows above: {where}"


class Screen:
    """Consumes events one by one. `details` shows full thoughts, outputs and diffs; `can_leave` mentions Ctrl-B.

    The status line is drawn only within `async with`, and only on a terminal.
    """

    older_hint = "halo tasks show"
    """The place of the rows of the past that were not printed."""

    def __init__(
        self,
        console: Console | None = None,
        status: StatusLine | None = None,
        *,
        details: bool = False,
        can_leave: bool = False,
        aloud: bool = False,
    ) -> None:
        self._out = Scrollback(console or Console(highlight=False), status, aloud=aloud)
        self.foreign = Foreign()
        self._details = details
        self.activity = ActivityLine(self._out.status, can_leave=can_leave)
        self._transcript = Transcript()
        self._printed = 0
        self._looks: list[r.CallRow | r.ThoughtRow] = []
        self._stream = Stream()
        self._replies = Replies(self._out)
        self._shortened = ShortenedRows()
        self._asked = AskedCards(self._print, self._print_markdown)
        self._own: set[str] = set()
        """Their own commands that were passed and run, or were printed and not passed yet."""
        self._ahead: list[r.Row] = []
        """Rows that were printed, or are not to be, although others before them are not settled yet."""
        self._checkpoints = 0
        self._older: Sequence[r.Row] = ()

    @property
    def is_live(self) -> bool:
        """True if unfinished work is shown."""
        return self._out.status.is_live

    async def __aenter__(self) -> "Screen":
        self._out.status.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Print unfinished rows and restore the terminal."""
        self._out.status.stop()
        self._print_rows(self._stream.flush())
        self._stream.discard()
        self._print_looks()

    def begin_anew(self) -> None:
        """Reset for another task, whose calls and questions may have the same IDs."""
        self._print_looks()
        self._transcript, self._printed, self._own, self._older = Transcript(), 0, set(), ()
        self._asked = AskedCards(self._print, self._print_markdown)

    def recall(self, past: Iterable[ev.Durable], state: State) -> None:
        """Load past events, and print where the task stands and its latest turns; those before them are `_older`."""
        self._transcript = transcript_of(past)
        rows = self._transcript.rows
        while self._printed < len(rows) and is_settled(rows[self._printed]):
            self._printed += 1
        modes = (state.plan.mode, state.permissions.approval_mode)
        self._print_row(r.StartRow(state.workspace, state.model.name, *modes, state.roots))
        self._older, latest = split_latest(rows[: self._printed], RECALLED_ROWS)
        if self._older:
            self._print(line(OLDER.format(count=len(self._older), where=self.older_hint), "quiet"))
        self._reprint(latest)

    def _reprint(self, rows: Iterable[r.Row]) -> None:
        """Print rows of the past; where the task started is known."""
        for row in rows:
            if not isinstance(row, r.StartRow):
                self._print_row(row)
        self._print_looks()

    def show(self, event: ev.Event) -> None:
        """Show the next event."""
        match event:
            case ev.TextDelta():
                self._say(self._stream.write(event.text, apart=event.apart), "writing")
            case ev.ThinkingDelta():
                self._say(self._stream.think(event.text), "thinking")
            case ev.ToolCallDelta() | ev.EditPreviewed() | ev.ToolCallProgressed() | ev.HookProgressed():
                self.activity.follow(event, self._transcript, self._looks)
            case _:
                self._transcript = fold_event(self._transcript, event)
                self._settle(event)
                self.activity.follow(event, self._transcript, self._looks)

    def show_approval(self, event: ev.ApprovalRequested, *, again: bool = False, whole: bool = False) -> r.CallRow:
        """Print the card of an approval if not printed yet, or `again`; `whole`: with the full diff."""
        row = self._transcript.call(event.call) or r.CallRow(event.call, event.name, event.title, event.kind)
        if row.approval is None or row.approval.request != event.request:
            self._transcript = fold_event(self._transcript, event)
            row = self._transcript.call(event.call) or row
        self._asked.show_approval(event, row, again=again, whole=whole)
        return row

    def show_ahead(self, events: Sequence[ev.ApprovalRequested], *, if_in_sight: bool = False) -> bool:
        """Print edits before they are asked about; `if_in_sight`: only if all fit into the window below the newest."""
        rows = [
            fold_event(self._transcript, one).call(one.call) or r.CallRow(one.call, one.name, one.title, one.kind)
            for one in events
        ]
        return self._asked.show_ahead(events, rows, self._out.console if if_in_sight else None)

    def show_question(self, event: ev.QuestionAsked, *, again: bool = False) -> None:
        """Print the card of a question if not printed yet, or `again`; multiple lines are Markdown."""
        self._asked.show_question(event, again=again)

    def title_for(self, row: r.CallRow) -> str:
        """The title to ask with; empty where the card stands just above and is in sight."""
        return "" if self._out.group == row.call and self._asked.is_in_sight(self._out.console) else row.title

    def say(self, text: str, diffs: tuple[Diff, ...] = ()) -> None:
        """Print an answer of Halocline itself, and the changes that it shows."""
        body = Group(cards.message_card(text), *indent_cards(diff_view(diffs, WHOLE)))
        self._print(Wide(body) if diffs else body)

    def show_foreign(self, *, markdown: bool, collapse: bool) -> None:
        self.foreign = Foreign(markdown, collapse)

    def list_options(self, body: RenderableType) -> None:
        """Print options below what is asked."""
        self._out.status.set(None)
        self._print(body)

    def show_reply(self, text: str) -> None:
        """Print a reply of a model that is not in the conversation."""
        self._print_looks()
        Replies(self._out).print(text)

    def _settle(self, event: ev.Event) -> None:
        """Print what this event finished. While a reply is streaming, other rows wait for its end."""
        spoken = False
        match event:
            case ev.AssistantMessageCompleted():
                said, spoken = self._stream.end(event.message.text)
                self._print_rows(said)
                self._replies.begin()
                self._asked.forget_ahead()
            case ev.StepRetried():
                self._stream.discard()
                self._replies.begin()
            case ev.ErrorRaised():
                self._print_rows(self._stream.flush())
                self._advance()
            case ev.TurnStarted():
                self._older = ()
            case ev.TurnEnded():
                self._print_rows(self._stream.flush())
                self._stream.discard()
                self._replies.begin()
            case ev.ApprovalRequested():
                self.show_approval(event)
            case ev.QuestionAsked():
                self.show_question(event)
            case ev.ApprovalResolved():
                self._print_decision(event)
            case ev.QuestionAnswered():
                self._answer_below_its_question(event)
            case ev.OwnCommandEnded(run=run) if run in self._own or not self._stream.is_open:
                self._print_own(run)
            case SubagentStarted() | SubagentEnded():
                self._print_lane(event)
            case ev.PolicyChanged() | ev.ApprovalSwitched() if not self._stream.is_open:
                self._print_row(notice := self._transcript.rows[-1])
                self._ahead.append(notice)
        if not self._stream.is_open:
            self._advance(skip_said=spoken)
            self._transcript, self._printed = forget_settled(self._transcript, self._printed)

    def _advance(self, *, skip_said: bool = False) -> None:
        rows = self._transcript.rows
        while self._printed < len(rows) and (is_settled(rows[self._printed]) or _is_own(rows[self._printed])):
            row = rows[self._printed]
            self._printed += 1
            if any(row is one for one in self._ahead):
                self._ahead = [one for one in self._ahead if one is not row]
            elif isinstance(row, r.CallRow) and row.own and (row.call in self._own or not is_settled(row)):
                self._own ^= {row.call}
            elif not (skip_said and isinstance(row, r.ThoughtRow | r.ReplyRow)):
                self._print_row(row)

    def _print_own(self, run: str) -> None:
        """Print the person's own command at its end, before or after the rows above it are settled."""
        if row := self._transcript.call(run):
            self._own ^= {run}
            self._print_row(row)

    def _print_rows(self, rows: list[r.ThoughtRow | r.ReplyRow]) -> None:
        """Print rows of the streaming reply."""
        for row in rows:
            if isinstance(row, r.ReplyRow):
                self._print_looks()
                self._replies.print(row.text)
            else:
                self._print_row(row)

    def _print_row(self, row: r.Row) -> None:
        self._shortened.note(row, is_folded=bool(self._looks) and isinstance(row, r.ThoughtRow))
        match row:
            case r.CallRow():
                self._print_call(row)
            case r.ReplyRow():
                self._print_markdown(row.text)
            case r.ThoughtRow() if self._looks and not self._details:
                self._looks.append(row)  # more reads may follow it
            case r.ThoughtRow():
                self._print(cards.thought_card(row, details=self._details))
            case r.QuestionRow():
                self._asked.show_answer(row)
            case r.CheckpointRow():
                self._checkpoints += 1
            case r.TurnEndRow():
                self._print(cards.end_card(row, self._checkpoints))
                self._checkpoints = 0
            case _:
                draw, group = cards.CARDS[type(row)]
                self._print(draw(row), group)

    def _print_call(self, row: r.CallRow) -> None:
        completed = row.status is CallStatus.COMPLETED
        if completed and row.ends_turn:
            self._print_markdown(row.output)
        elif completed and row.name in SAID:
            if not self._was_asked(row):  # else a question showed the message
                self._print_markdown(str(row.arguments.get(SAID[row.name], "")))
        elif (
            (completed and (row.name in TOLD_BY_OTHER_ROWS or row.lanes))
            or (completed and row.approval and row.approval.agent and self._has_shown(row))
            or (row.status in NOT_DONE and self._was_asked(row))
        ):
            return
        elif completed and row.foreign and not (self.foreign.collapse and row.kind in call_cards.LOOKS):
            whole = self._details or not self.foreign.collapse
            headed = not self._is_below_its_card(row)
            self._print(
                call_cards.foreign_card(row, headed=headed, whole=whole, markdown=self.foreign.markdown), row.call
            )
        elif completed and row.kind in call_cards.LOOKS and row.approval is None and not self._details:
            self._looks.append(row)
        else:
            headed, details = not self._is_below_its_card(row), self._details
            shown = not headed or (self._has_shown(row) and not details)
            self._print(call_cards.call_card(row, headed=headed, shown=shown, details=details), row.call)

    def _print_lane(self, event: SubagentStarted | SubagentEnded) -> None:
        """Print the call's title with its first sub-agent, and a line for each one that ends."""
        row = self._transcript.call(event.call)
        if row is None:
            return
        if isinstance(event, SubagentStarted) and len(row.lanes) == 1 and not self._is_below_its_card(row):
            self._print(call_cards.call_head(row), row.call)
        for lane in row.lanes:
            if lane.child == event.child and lane.end:
                self._print(call_cards.lane_card(lane, details=self._details), row.call)

    def _was_asked(self, row: r.CallRow) -> bool:
        """True if the row of a question says what came of the call."""
        return any(isinstance(other, r.QuestionRow) and other.call == row.call for other in self._transcript.rows)

    def _is_below_its_card(self, row: r.CallRow) -> bool:
        """True if the last thing printed is this call's approval card and the call was not edited since."""
        return self._out.group == row.call and self._has_shown(row)

    def _has_shown(self, row: r.CallRow) -> bool:
        """True if this call's approval card was printed, and the call was not edited since."""
        return row.approval is not None and self._asked.title_of(row.approval.request) == row.title

    def _print_decision(self, event: ev.ApprovalResolved) -> None:
        row = self._transcript.call(event.call)
        if row and (decision := decision_line(row)):
            self._print(decision, row.call)

    def _answer_below_its_question(self, event: ev.QuestionAnswered) -> None:
        """Print the answer now, although the earlier row of the call that asked is not settled yet."""
        for row in self._transcript.rows:
            if isinstance(row, r.QuestionRow) and row.request == event.request:
                self._asked.show_answer(row, only_below=True)

    def _print_markdown(self, text: str) -> None:
        self._print_looks()
        self._replies.begin()
        self._replies.print(text)

    def _print_looks(self) -> None:
        """Print the reads that wait as one row, and then the thoughts after the last of them."""
        rows, self._looks = self._looks, []
        thoughts = [*takewhile(lambda row: isinstance(row, r.ThoughtRow), reversed(rows))]
        if looks := rows[: len(rows) - len(thoughts)]:
            self._out.print(call_cards.looks_card(looks), "line")
        for thought in reversed(thoughts):
            self._print_row(thought)

    def _print(self, body: RenderableType, group: str = "") -> None:
        self._print_looks()
        self._out.print(body, group)

    def _say(self, rows: list[r.ThoughtRow | r.ReplyRow], what: str) -> None:
        self._print_rows(rows)
        self._out.status.set(Activity(what, self._stream.tail))


def _is_own(row: r.Row) -> bool:
    """True for the user's own commands: they are printed when they end and delay no other row."""
    return isinstance(row, r.CallRow) and row.own
