"""The card that waits on a screen: options that a person chooses with the keys and the safety of the live screen."""

from collections.abc import Callable, Container

from halocline.surfaces.cli.input.keys import ESCAPE
from halocline.surfaces.cli.input.menu import Options, ShowAgain
from halocline.surfaces.cli.live.card import Card

BACK, END = "back", "x"
"""The label of an option that only goes back, and the key of one that ends something."""
READ_ON = "Read the rest first: it is longer than the screen. Then choose again."


class CardMenu:
    """Shows one card at a time. `redraw` shows it, or that it is gone; `notice` stands above it.

    Escape only goes back here; an option of Escape that ends something has the key `x`.
    """

    def __init__(self, redraw: Callable[[], None]) -> None:
        self.card: Card | None = None
        self.closes_by_escape = False
        self.notice = ""
        self._redraw = redraw

    def may_choose(self, key: str) -> bool:
        """True if an option counts now; else `notice` says why it does not."""
        return True

    async def choose(
        self,
        title: str,
        options: Options,
        show_again: ShowAgain,
        on_card: Container[str] = (),
        selected: str | None = "",
        *,
        takes_words: bool = False,
    ) -> str:
        """Show the options until one is chosen."""
        self.closes_by_escape = options.get(ESCAPE) == BACK
        names = {key: END if key == ESCAPE and not self.closes_by_escape else key for key in options}
        shown = {names[key]: label for key, label in options.items()}
        while True:
            chosen = await self._show_card(Card(title, shown, self._redraw, selected, takes_words=takes_words))
            key = next((key for key, name in names.items() if name == chosen), chosen)
            if self.may_choose(key):
                self.notice = ""
                return key

    async def _show_card(self, card: Card) -> str:
        self.card = card
        self._redraw()
        try:
            return await card.answer
        finally:
            self.card = None
            self._redraw()
