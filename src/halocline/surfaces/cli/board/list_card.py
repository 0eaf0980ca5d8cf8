"""The card below the list: what the selected task asks, and the options that decide it, with the keys of every card.

What must stay true: nothing is allowed before all of it was shown, and a key decides only as on other cards: pressed
alone, with silence since the card appeared.
"""

import io
from collections.abc import Callable, Container, Sequence
from pathlib import Path

from prompt_toolkit.formatted_text import ANSI, to_formatted_text
from prompt_toolkit.formatted_text.utils import split_lines
from rich.console import Console, Group, RenderableType

from halocline.client.themes import Theme
from halocline.protocol.errors import UsageError
from halocline.protocol.events import ApprovalRequested, QuestionAsked
from halocline.protocol.kinds import Diff
from halocline.surfaces.cli.board.line_field import LineField
from halocline.surfaces.cli.live.card import Card
from halocline.surfaces.rows.kinds import CallRow, QuestionRow
from halocline.surfaces.terminal.asking.approval_prompt import ALLOWING, MOST_OPTIONS
from halocline.surfaces.terminal.asking.menu import ESCAPE, Kind, Options
from halocline.surfaces.terminal.composing.prompt import Prompt
from halocline.surfaces.terminal.drawing import cards
from halocline.surfaces.terminal.drawing.approval_card import approval_card
from halocline.surfaces.terminal.drawing.call_cards import WHOLE, indent_cards
from halocline.surfaces.terminal.drawing.diff_view import diff_view
from halocline.surfaces.terminal.drawing.theme import Safe, ThemeChoice
from halocline.surfaces.wrapping import Fragments, cut_line

BACK = "back"
_CONFIRMING = ("y",)
_ANSWER = {"t": "type your answer"}
_MORE = "Space: show the rest ({left} more)"
_MORE_FIRST = f"{_MORE}, before it can be allowed"


class ListCard:
    """Shows what is asked and its options. `row` is the call of an approval, with all that is known of it."""

    def __init__(self, theme: Theme, field: LineField, redraw: Callable[[], None]) -> None:
        self.row: CallRow | None = None
        self.card: Card | None = None
        self._field = field
        self._redraw = redraw
        self._theme = theme
        self._bodies: list[RenderableType] = []
        self._drawn: tuple[int, list[Fragments]] = (0, [])
        self._top = 0
        self._room = 1
        self._is_seen = False
        self._goes_back = False
        self._has_chosen = False
        self._guarded: Sequence[str] = ()

    def clear(self) -> None:
        """Show nothing."""
        self.row = self.card = None
        self._bodies, self._has_chosen = [], False
        self._restart()
        self._redraw()

    @property
    def is_shown(self) -> bool:
        return bool(self._bodies)

    @property
    def can_go_back(self) -> bool:
        """True if Escape goes back to the options before."""
        return self.card is not None and self._goes_back

    def wants(self, key: str) -> bool:
        """True if a key is for the card and not for the list."""
        return self.card is not None and self.card.wants(key, has_text=False)

    def show_approval(self, event: ApprovalRequested, *, again: bool = False, whole: bool = False) -> CallRow:
        row = self.row or CallRow(event.call, event.name, event.title, event.kind)
        self._show(approval_card(row, whole=whole), ALLOWING)
        return row

    def show_question(self, event: QuestionAsked, *, again: bool = False) -> None:
        is_listed = len(event.options) <= MOST_OPTIONS  # by the keys below it
        options = () if is_listed else event.options
        self._show(cards.question_card(QuestionRow(event.request, event.question, options, event.call)))

    def title_for(self, row: CallRow) -> str:
        return ""

    def show_text(self, text: str) -> None:
        """Show a text in place of a card."""
        self._show(cards.message_card(text))

    def say(self, text: str, diffs: tuple[Diff, ...] = ()) -> None:
        self._bodies.append(Group(cards.message_card(text), *indent_cards(diff_view(diffs, WHOLE))))
        self._restart()
        self._redraw()

    def call_person(self, text: str) -> None:
        """The person looks at the list."""

    def put_back(self, message: Prompt) -> None:
        self.say(f"Not sent: {message.text.strip()}")

    async def edit_files(self, paths: Sequence[Path]) -> None:
        raise UsageError("An editor opens on the screen of the task.", "Open it: Enter")

    async def choose(
        self,
        title: str,
        options: Options,
        on_card: Container[str] = (),
        selected: str | None = "",
        kind: Kind = Kind.ORDINARY,
    ) -> str:
        """Wait for the key of an option. Enter belongs to the list; so does Escape, unless it goes back.

        A word leaves no text behind here, so its last letter must not make up for a silence: as where it is grave.
        """
        self._goes_back = options.get(ESCAPE) == BACK
        shown = {key: label for key, label in options.items() if key != ESCAPE or self._goes_back}
        while True:
            heading = title if self._goes_back else ""
            self.card = Card(heading, shown, self._redraw, None, Kind.GRAVE, by_key=True)
            self._redraw()
            try:
                key = await self.card.answer
            finally:
                self.card = None
            if key not in self._guarded or "d" in options or self._is_seen:
                self._has_chosen = True
                return key
            self.show_more()

    async def ask_line(self, prompt: str, hint: str = "", initial: str = "", *, needs_text: bool = False) -> str | None:
        """Read a line below the list, once a key asked for it: letters belong to the list until then."""
        if not self._has_chosen:
            await self.choose("", _ANSWER)
        self._has_chosen = False
        return await self._field.read(prompt, initial)

    def show_more(self) -> None:
        """Show the next part of what is asked, from the beginning after the end."""
        self._top = 0 if self._top + self._room >= len(self._drawn[1]) else self._top + self._room
        self._redraw()

    def draw(self, width: int, rows: int) -> list[Fragments]:
        """Return the lines of the card: what is asked, as much as fits, then the options."""
        if not self._bodies or rows < 3:
            return []
        options = self.card.lines(width, max(2, rows // 2), has_text=False) if self.card else []
        if self._drawn[0] != width:
            self._drawn = (width, self._render(width))
        lines = self._drawn[1]
        self._room = max(1, rows - len(options) - 2)
        shown = lines[self._top : self._top + self._room]
        left = max(0, len(lines) - self._top - self._room)
        self._is_seen |= not left
        text = _MORE_FIRST if self.row else _MORE
        more = text.format(left=left) if left else ("Space: from the beginning" if self._top else "")
        rule: list[Fragments] = [[("class:quiet", "─" * (width - 1))]]
        told: list[Fragments] = [[("class:warn", cut_line(f"  {more}", width - 1))]] if more else []
        return [*rule, *shown, *told, *options][:rows]

    def _render(self, width: int) -> list[Fragments]:
        file = io.StringIO()
        console = Console(file=file, width=max(20, width - 1), force_terminal=True, highlight=False)
        ThemeChoice(console).begin(self._theme)
        console.print(Safe(Group(*self._bodies)))
        text = to_formatted_text(ANSI(file.getvalue().rstrip("\n")))
        return [[(style, part) for style, part, *_ in line] for line in split_lines(text)]

    def _show(self, body: RenderableType, guarded: Sequence[str] = _CONFIRMING) -> None:
        """Show this alone. The `guarded` keys choose nothing before all of it was shown."""
        self._bodies, self._guarded = [body], guarded
        self._restart()
        self._redraw()

    def _restart(self) -> None:
        self._drawn, self._top, self._is_seen = (0, []), 0, False
