"""The part of the screen with the options of what is asked; it takes the keys that the card wants.

What must stay true: a key that the card does not take becomes text in the composer, and decides nothing.
"""

from collections.abc import Callable

from textual.events import Key, Paste

from halocline.surfaces.cli.live.activity import Fragments, cut_line
from halocline.surfaces.cli.live.decision_keys import DOWN, ENTER, TAB, UP
from halocline.surfaces.sanitize import clean
from halocline.surfaces.tui.composer import Composer
from halocline.surfaces.tui.fragment_lines import FragmentLines
from halocline.surfaces.tui.task_menu import TaskMenu

MOST_LINES = 12
_KEYS = {"enter": ENTER, "up": UP, "down": DOWN}
_SCROLLING = {"pageup": -1, "pagedown": 1}


class CardPane(FragmentLines, can_focus=True):
    """Shows the card of a menu while there is one. `turn_page` scrolls the rows above, `go_back` goes to them."""

    def __init__(
        self, menu: TaskMenu, composer: Composer, turn_page: Callable[[int], None], go_back: Callable[[], None]
    ) -> None:
        super().__init__(self._list_lines, MOST_LINES)
        self._menu = menu
        self._composer = composer
        self._turn_page = turn_page
        self._go_back = go_back

    def _list_lines(self, width: int, rows: int) -> list[Fragments]:
        if self._menu.card is None:
            return []
        notice: list[Fragments] = []
        if self._menu.notice:
            notice = [[("class:warn", cut_line(self._menu.notice, width - 1))]]
        if not self.has_focus and not self._composer.is_asking:
            notice.append([("class:accent", "Tab: answer here")])
        return [*notice, *self._menu.card.lines(width, rows - len(notice), has_text=self._has_text)]

    @property
    def _has_text(self) -> bool:
        return bool(self._composer.text) and not self.has_focus

    def watch_has_focus(self, value: bool) -> None:
        super().watch_has_focus(value)
        self.redraw()

    def on_key(self, event: Key) -> None:
        card = self._menu.card
        if card is None or event.key in (TAB, "shift+tab"):
            return
        if held := card.release():
            self._composer.insert(held)
            self._composer.focus()
        key = _KEYS.get(event.key, event.character or "")
        if event.key in _SCROLLING:
            event.stop()
            self._turn_page(_SCROLLING[event.key])
        elif event.key == "escape":
            event.stop()
            card.stop() if self._menu.closes_by_escape else self._go_back()
        elif not held and key and card.wants(key, has_text=False):
            event.stop()
            card.press(key)
            self.redraw()
        elif event.is_printable and event.character:
            event.stop()
            self._composer.insert(event.character)
            self._composer.focus()
        card.note_key()

    def on_paste(self, event: Paste) -> None:
        event.stop()
        self._composer.insert(clean(event.text))
        self._composer.focus()
        if card := self._menu.card:
            card.note_key()
