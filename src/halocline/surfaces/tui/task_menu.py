"""The card of an opened task: what the questions of the live screen need to be asked here, with the same safety.

What must stay true: an option that allows something counts only once the whole card was on the screen.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from halocline.protocol.events import ApprovalRequested, QuestionAsked
from halocline.protocol.kinds import Diff
from halocline.surfaces.cli.input.approval_prompt import ALLOWING
from halocline.surfaces.cli.input.keys import ESCAPE
from halocline.surfaces.cli.input.text_editor import run_editor
from halocline.surfaces.rows.kinds import Approval, CallRow
from halocline.surfaces.sanitize import reveal
from halocline.surfaces.tui.block_view import BlockView
from halocline.surfaces.tui.card_menu import READ_ON, CardMenu
from halocline.surfaces.tui.input.composer import Composer
from halocline.surfaces.tui.row_blocks import RowBlocks, name_row
from halocline.surfaces.tui.task_feed import TaskFeed


class TaskCards:
    """Shows what is asked as a row of the transcript, and answers of Halocline below it."""

    def __init__(self, feed: TaskFeed, blocks: RowBlocks, view: BlockView, redraw: Callable[[], None]) -> None:
        self._feed = feed
        self._blocks = blocks
        self._view = view
        self._redraw = redraw

    def show_approval(self, event: ApprovalRequested, *, again: bool = False, whole: bool = False) -> CallRow:
        row = self._feed.transcript.call(event.call) or _make_row(event)
        self._blocks.asked = row
        key = name_row(row, 0)
        if whole:
            self._blocks.expand(key)
        self._redraw()
        self._view.watch_block(key)
        self._view.call_after_refresh(self._show_if_hidden)
        return row

    def show_question(self, event: QuestionAsked, *, again: bool = False) -> None:
        self.forget()

    def forget(self) -> None:
        """Nothing is asked any more that has to be read first."""
        self._blocks.asked = None
        self._view.watch_block("")

    def read_on(self) -> bool:
        """True if all of what is asked was on the screen; else scroll on towards its end."""
        if self._blocks.asked is None or self._view.was_shown_whole():
            return True
        self._view.show_unseen()
        return False

    def _show_if_hidden(self) -> None:
        """Scroll to the beginning of what is asked, unless all of it is on the screen."""
        if self._blocks.asked is not None and not self._view.was_shown_whole():
            self._view.show_unseen()

    def show_reply(self, text: str) -> None:
        """Show a reply of a model that is not in the conversation."""
        self._blocks.add_note(text, is_markdown=True)
        self._redraw()

    def say(self, text: str, diffs: tuple[Diff, ...] = ()) -> None:
        self._blocks.add_note(text, diffs)
        self._redraw()


def _make_row(event: ApprovalRequested) -> CallRow:
    """The row of a call that is not of this task: a sub-agent's."""
    approval = Approval(
        event.request,
        event.reason,
        event.detail,
        event.diffs,
        grant=event.grant,
        place=event.place,
        parts=event.parts,
        sandbox=event.sandbox,
        grade=event.grade,
    )
    return CallRow(event.call, event.name, event.title, event.kind, approval=approval)


class TaskMenu(CardMenu):
    """The card that waits in a task, as a menu for its questions."""

    def __init__(
        self,
        cards: TaskCards,
        composer: Composer,
        redraw: Callable[[], None],
        hand_terminal: Callable[[], AbstractContextManager[None]],
    ) -> None:
        super().__init__(redraw)
        self._hand_terminal = hand_terminal
        self._cards = cards
        self._composer = composer

    def may_choose(self, key: str) -> bool:
        if key not in ALLOWING or self._cards.read_on():
            return True
        self.notice = READ_ON
        return False

    def call_person(self, text: str) -> None:
        return None

    async def edit_files(self, paths: Sequence[Path]) -> None:
        with self._hand_terminal():
            await run_editor(paths)

    async def ask_line(self, prompt: str, hint: str = "", initial: str = "", *, needs_text: bool = False) -> str | None:
        """Read a line. Where an empty one is no answer, a card asks first, so that blind typing sends none."""
        if reveal(initial) != initial:
            self._cards.say("It has hidden characters, so it cannot be edited here.")
            return None
        if needs_text and await self.choose("", {"t": "type your answer", ESCAPE: "stop"}, lambda: None) == ESCAPE:
            return None
        return await self._composer.read_line(prompt.strip(), hint, initial)
