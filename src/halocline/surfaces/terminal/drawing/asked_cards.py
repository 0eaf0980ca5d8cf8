"""Cards of approvals and questions: each is printed once, and again only on request; answers follow below them."""

from collections.abc import Callable

from rich.console import Console, RenderableType

from halocline.protocol.events import ApprovalRequested, QuestionAsked
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

    def title_of(self, request: str) -> str | None:
        """The title under which a request was shown; None if it was not."""
        return self._titles.get(request)

    def show_approval(self, event: ApprovalRequested, row: CallRow, *, again: bool, whole: bool) -> None:
        if again or event.request not in self._titles:
            self._titles[event.request] = event.title
            self._newest = approval_card(row, whole=whole)
            self._draw(self._newest, row.call)

    def is_in_sight(self, console: Console) -> bool:
        """True if the newest card has room in the window, above its options."""
        if self._newest is None:
            return False
        drawn = console.render_lines(Safe(self._newest), console.options, pad=False)
        return len(drawn) <= console.height - ROWS_BELOW

    def show_question(self, event: QuestionAsked, *, again: bool) -> None:
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
        """Print the answer of a question, once; with `only_below`, only if the question was shown."""
        if row.request not in self._answered and (row.request in self._titles or not only_below):
            self._answered.add(row.request)
            self._draw(cards.answer_line(row), row.request)
