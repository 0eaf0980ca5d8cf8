"""Cards of approvals and questions: each is printed once, and again only on request; answers follow below them."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace
from rich.console import Console, Group, RenderableType

from halocline.protocol.events import ApprovalRequested, QuestionAsked
from halocline.surfaces.edits_together import asks_the_same
from halocline.surfaces.rows.kinds import CallRow, QuestionRow
from halocline.surfaces.terminal.drawing import cards
from halocline.surfaces.terminal.drawing.approval_card import approval_card
from halocline.surfaces.terminal.drawing.theme import Safe

ROWS_BELOW = 12
"""Rows that the options of a card and the composer take."""
Print = Callable[[RenderableType, str], None]


class AskedCards:
    """Prints with `draw`, which takes a card and its group, and multiple lines of a question with `draw_markdown`."""

    def __init__(self, draw: Print, draw_markdown: Callable[[str], None]) -> None:
        self._draw = draw
        self._draw_markdown = draw_markdown
        self._newest: RenderableType | None = None
        self._titles: dict[str, str] = {}
        self._answered: set[str] = set()
        self._ahead: dict[str, ApprovalRequested] = {}

    def title_of(self, request: str) -> str | None:
        """The title under which a request was shown; None if it was not."""
        return self._titles.get(request)

    def show_approval(self, event: ApprovalRequested, row: CallRow, *, again: bool, whole: bool) -> None:
        is_shown = event.request in self._titles or asks_the_same(self._ahead.get(event.call), event)
        self._titles[event.request] = event.title
        if again or not is_shown:
            self._newest = approval_card(row, whole=whole)
            self._draw(self._newest, row.call)

    def show_ahead(self, events: Sequence[ApprovalRequested], rows: Sequence[CallRow], room: Console | None) -> bool:
        """Print whole cards of calls that will be asked about; not if they have no `room` below the newest one."""
        drawn = [approval_card(row, whole=True) for row in rows]
        if room is not None and not (self._newest and _has_room(room, self._newest, *drawn)):
            return False
        for event, card in zip(events, drawn, strict=True):
            self._ahead[event.call] = event
            self._draw(card, event.call)
        return True

    def forget_ahead(self) -> None:
        """A new reply: models give its calls the same IDs again."""
        self._ahead = {}

    def is_in_sight(self, console: Console) -> bool:
        """True if the newest card has room in the window, above its options."""
        return self._newest is not None and _has_room(console, self._newest)

    def show_question(self, event: QuestionAsked | QuestionRow, *, again: bool = False) -> None:
        if event.request in self._titles and not again:
            return
        self._titles[event.request] = event.question
        question = event.question
        if "\n" in question.strip():
            self._draw_markdown(question)
            question = ""
        if question or event.options:
            row = QuestionRow(event.request, question, event.options, event.call)
            self._draw(cards.question_card(row), event.request)

    def show_answer(self, row: QuestionRow, *, only_below: bool = False) -> None:
        """Print the answer of a question, once, below the question; with `only_below`, only if that was shown."""
        if row.request not in self._answered and (row.request in self._titles or not only_below):
            self._answered.add(row.request)
            self.show_question(replace(row, options=()))
            self._draw(cards.answer_line(row), row.request)


def _has_room(console: Console, *cards: RenderableType) -> bool:
    drawn = console.render_lines(Safe(Group(*cards)), console.options, pad=False)
    return len(drawn) + len(cards) - 1 <= console.height - ROWS_BELOW
