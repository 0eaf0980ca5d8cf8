"""A scrolling list of blocks of lines, of which one is selected. Only lines that are on the screen are drawn.

While the last block is selected, the view follows what is added below it.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from halocline.surfaces.tui.drawing import Pen, find_pen, mark_matches

GUTTER = 1
"""Columns left of the blocks, for the mark of the selected one."""


class Block(Protocol):
    """Some lines that belong together. `key` names it when the blocks are set again."""

    @property
    def key(self) -> str: ...

    @property
    def is_selectable(self) -> bool: ...

    def draw_lines(self, width: int, pen: Pen) -> Sequence[Strip]: ...


class BlockView(ScrollView, can_focus=True):
    """Shows blocks. `on_move` is called when a person selects another one."""

    DEFAULT_CSS = """
    BlockView { height: 1fr; scrollbar-size: 0 0; background: transparent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "select(-1)", show=False),
        Binding("down,j", "select(1)", show=False),
        Binding("pageup,ctrl+b", "turn_page(-1)", show=False),
        Binding("pagedown,ctrl+f", "turn_page(1)", show=False),
        Binding("home", "select_first", show=False),
        Binding("end,G", "select_last", show=False),
    ]

    def __init__(self, *, follows: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.blocks: Sequence[Block] = ()
        self.selected = 0
        self.follows = follows
        self.words = ""
        self.on_move: Callable[[], None] = lambda: None
        self._starts_at_end = follows
        self._tops: list[int] = [0]
        self._drawn: list[Sequence[Strip]] = []
        self._watched = ""
        self._seen: set[tuple[int, int]] = set()
        self._is_held = False
        """True while the watched block is shown in place of the end."""

    @property
    def selected_block(self) -> Block | None:
        return self.blocks[self.selected] if self.selected < len(self.blocks) else None

    @property
    def block_width(self) -> int:
        return max(1, self.size.width - GUTTER)

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        """Set the blocks; the selected one stays selected if it is still there."""
        before = self.selected_block
        self.blocks = blocks
        if self.follows:
            self.selected = self._find_selectable(len(blocks) - 1, -1)
        elif before is not None:
            same = next((at for at, block in enumerate(blocks) if block.key == before.key), self.selected)
            self.selected = self._find_selectable(min(same, len(blocks) - 1), -1)
        else:
            self.selected = self._find_selectable(0, 1)
        self.measure()

    def extract_text(self, block: Block) -> str:
        """The text of a block as it is drawn."""
        return "\n".join(strip.text for strip in block.draw_lines(self.block_width, find_pen(self)))

    def measure(self) -> None:
        """Find the place of each block, after one of them changed, and draw."""
        pen = find_pen(self)
        self._tops, self._drawn = [0], [block.draw_lines(self.block_width, pen) for block in self.blocks]
        for strips in self._drawn:
            self._tops.append(self._tops[-1] + len(strips))
        size = Size(self.size.width, self._tops[-1])
        if size != self.virtual_size:
            self.virtual_size = size
        if self.follows and not self._is_held:
            self._scroll_to_line(self._tops[-1])
        self.refresh()

    def select_block(self, at: int) -> None:
        """Select a block and scroll to it."""
        self.selected = at
        self.follows = self._starts_at_end and at == self._find_selectable(len(self.blocks) - 1, -1)
        self.show_selected()
        self.on_move()

    def show_selected(self) -> None:
        """Scroll until the selected block is on the screen: all of it, or its beginning."""
        if not self.blocks:
            return
        top, bottom = self._tops[self.selected], self._tops[self.selected + 1]
        if self.selected == self._find_selectable(0, 1):
            top = 0
        if bottom > self._first_line + self.size.height:
            self._scroll_to_line(bottom - self.size.height)
        if top < self._first_line:
            self._scroll_to_line(top)
        self.refresh()

    def watch_block(self, key: str) -> None:
        """Take note from now on which lines of this block were on the screen."""
        if key != self._watched:
            self._watched, self._seen, self._is_held = key, set(), False

    def was_shown_whole(self) -> bool:
        """True if every line of the watched block was on the screen."""
        return self._find_unseen() is None and self._find_block(self._watched) is not None

    def show_unseen(self) -> None:
        """Scroll to the first line of the watched block that was not on the screen."""
        at, line = self._find_block(self._watched), self._find_unseen()
        if at is not None and line is not None:
            self._is_held = True
            self._scroll_to_line(self._tops[at] + line)
            self.refresh()

    def _find_unseen(self) -> int | None:
        at = self._find_block(self._watched)
        lines = range(self._tops[at + 1] - self._tops[at]) if at is not None else ()
        return next((line for line in lines if (self.size.width, line) not in self._seen), None)

    def _find_block(self, key: str) -> int | None:
        return next((at for at, block in enumerate(self.blocks) if block.key == key), None)

    def find_words(self, words: str, step: int, has_words: Callable[[Block, str], bool]) -> bool:
        """Select the next block that has the words, around the end; False if none has."""
        self.words = words.casefold()
        places = [at for at, block in enumerate(self.blocks) if block.is_selectable and has_words(block, self.words)]
        if not places or not words:
            self.refresh()
            return False
        ordered = places if step > 0 else places[::-1]
        self.select_block(next((at for at in ordered if (at - self.selected) * step > 0), ordered[0]))
        return True

    def action_select(self, step: int) -> None:
        """Select a neighbour; in a block that is higher than the screen, scroll first."""
        if not self.blocks:
            return
        top, bottom = self._tops[self.selected], self._tops[self.selected + 1]
        last = self._first_line + self.size.height
        if (step > 0 and bottom > last) or (step < 0 and top < self._first_line):
            self.follows = False
            self._scroll_to_line(self._first_line + step * max(1, self.size.height // 2))
            self.refresh()
            return
        self.select_block(self._find_selectable(self.selected + step, step))

    def action_turn_page(self, step: int) -> None:
        self._scroll_to_line(self._first_line + step * max(1, self.size.height - 1))
        line = self._first_line + (self.size.height - 1 if step > 0 else 0)
        at = min(bisect_right(self._tops, line) - 1, len(self.blocks) - 1)
        if self.blocks:
            self.selected = self._find_selectable(max(0, at), step)
            is_last = self._first_line >= self._tops[-1] - self.size.height
            self.follows = self._starts_at_end and is_last
            self.refresh()
            self.on_move()

    def action_select_first(self) -> None:
        self.select_block(self._find_selectable(0, 1))

    def action_select_last(self) -> None:
        self.select_block(self._find_selectable(len(self.blocks) - 1, -1))
        if self.follows:
            self._scroll_to_line(self._tops[-1])

    def on_resize(self, event: Resize) -> None:
        self.measure()
        if self._watched and not self.was_shown_whole():
            self.show_unseen()
        elif not self.follows:
            self.show_selected()

    def render_line(self, y: int) -> Strip:
        line = y + self._first_line
        width = self.size.width
        if line >= self._tops[-1]:
            return Strip.blank(width)
        at = bisect_right(self._tops, line) - 1
        strip = self._drawn[at][line - self._tops[at]]
        if self.blocks[at].key == self._watched:
            self._seen.add((width, line - self._tops[at]))
        if self.words:
            strip = mark_matches(strip, self.words)
        is_marked = (
            at == self.selected and not self.follows and self.blocks[at].is_selectable and bool(strip.text.strip())
        )
        style = find_pen(self).find_style("accent" if self.has_focus else "quiet")
        return Strip.join([Strip([Segment("▌" if is_marked else " ", style)]), strip]).crop_extend(0, width, None)

    @property
    def _first_line(self) -> int:
        return self.scroll_offset.y

    def _scroll_to_line(self, line: int) -> None:
        most = max(0, self._tops[-1] - self.size.height)
        self.scroll_to(y=max(0, min(line, most)), animate=False, force=True, immediate=True)

    def _find_selectable(self, at: int, step: int) -> int:
        """The nearest block that can be selected, first in one direction, then in the other."""
        ahead = range(at, len(self.blocks)) if step > 0 else range(min(at, len(self.blocks) - 1), -1, -1)
        found = next((place for place in ahead if place >= 0 and self.blocks[place].is_selectable), None)
        if found is not None:
            return found
        return next((place for place, block in enumerate(self.blocks) if block.is_selectable), 0)
