"""One opened task: its rows, the card of what it asks, a composer, and its facts."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from halocline.client import read_branch
from halocline.protocol.errors import HaloclineError
from halocline.surfaces.cli.live.activity import Fragments, cut_line
from halocline.surfaces.cli.live.status_bar import context_left, fit_facts, status_facts
from halocline.surfaces.figures import format_money
from halocline.surfaces.sanitize import clean
from halocline.surfaces.tui.block_view import BlockView
from halocline.surfaces.tui.card_pane import CardPane
from halocline.surfaces.tui.composer import Composer
from halocline.surfaces.tui.fragment_lines import FragmentLines
from halocline.surfaces.tui.hint_line import HintLine
from halocline.surfaces.tui.review_screen import ReviewScreen
from halocline.surfaces.tui.row_blocks import EarlierBlock, RowBlock, RowBlocks, has_words
from halocline.surfaces.tui.task_asking import TaskAsking
from halocline.surfaces.tui.task_entry import NARROW
from halocline.surfaces.tui.task_feed import TaskFeed
from halocline.surfaces.tui.task_menu import TaskCards, TaskMenu
from halocline.surfaces.tui.timeline_screen import TimelineScreen
from halocline.surfaces.web.open_tasks import OpenTasks

FRAME = 0.08
"""Seconds between two frames that no key asked for."""
KEYS = "Esc board · Tab write · Enter expand · / search · d changes · t timeline · Ctrl-X stop the turn"


class TaskScreen(Screen[None]):
    """Shows a task until the person leaves it."""

    DEFAULT_CSS = "TaskScreen { layout: vertical; background: transparent; }"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("tab", "move_focus(1)", show=False, priority=True),
        Binding("shift+tab", "move_focus(-1)", show=False, priority=True),
        Binding("enter,space", "expand", show=False),
        Binding("slash", "search", show=False),
        Binding("n", "find_next(1)", show=False),
        Binding("N", "find_next(-1)", show=False),
        Binding("ctrl+x", "interrupt", show=False, priority=True),
        Binding("d", "review", show=False),
        Binding("t", "show_timeline", show=False),
    ]

    def __init__(self, tasks: OpenTasks, task: str) -> None:
        super().__init__()
        self.feed = TaskFeed(tasks, task, self._request_frame)
        self._blocks = RowBlocks()
        self._timer: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        self._branch = ""
        self.view = BlockView(follows=True)
        self.composer = Composer(self._send_prompt, self._focus_rows, lambda: self._label.redraw())
        cards = TaskCards(self.feed, self._blocks, self.view, self._show_rows)
        self._menu = TaskMenu(cards, self.composer, self._show_card)
        self._pane = CardPane(self._menu, self.view.action_turn_page, self._focus_rows, self._take_text)
        self._asking = TaskAsking(self.feed, cards, self._menu, self._start)
        self._cards = cards
        self._head = FragmentLines(self._list_head)
        self._label = HintLine(KEYS, lambda: self.composer.label)
        self._status = FragmentLines(self._list_status)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self.view
        yield self._pane
        yield self._label
        yield self.composer
        yield self._status

    def on_mount(self) -> None:
        self.set_focus(self.view)
        self.run_worker(self._follow(), exit_on_error=True)

    async def _follow(self) -> None:
        try:
            await self.feed.follow()
        except HaloclineError as error:
            self._cards.say(f"{error.text} {error.hint}".rstrip())

    def _start(self, work: Coroutine[None, None, None]) -> Callable[[], None]:
        return self.run_worker(work, exit_on_error=True).cancel

    def _request_frame(self) -> None:
        """Draw the rows soon, at most every `FRAME` seconds."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._drawn_at + FRAME), self._draw_frame)

    def _draw_frame(self) -> None:
        self._timer = None
        self._drawn_at = asyncio.get_running_loop().time()
        if not self.is_attached:
            return
        if not self._branch and self.feed.state.workspace:
            self._branch = read_branch(self.feed.state.workspace)
        self._asking.update()
        self._show_rows()
        self._head.redraw()
        self._status.redraw()

    def _show_rows(self) -> None:
        self.view.show_blocks(self._blocks.build(self.feed.transcript))

    def _show_card(self) -> None:
        """Draw the card, and go to it if the person neither types nor reads elsewhere."""
        has_card, was_there = self._menu.card is not None, self.focused is self._pane
        self._pane.redraw()
        self._label.redraw()
        is_free = not self.composer.text and not self.composer.is_asking
        if has_card and not was_there and is_free and (self.view.follows or self.focused is self.composer):
            self.set_focus(self._pane)
        elif not has_card and was_there:
            self.set_focus(self.view)

    def _list_head(self, width: int, rows: int) -> list[Fragments]:
        state = self.feed.state
        name = " ".join(clean(state.title).split()) or self.feed.task
        doing = "" if self.feed.is_open else " · not running"
        if not self.feed.is_read:
            doing = " · reading"
        elif self.feed.is_open and not state.turn_is_over:
            doing = " · needs you" if state.is_asking else " · running"
        use = self._describe_use() if width < NARROW else ""
        known = f" · {use}" if use else ""
        title = cut_line(name, max(8, width - len(doing) - len(known) - 3))
        return [[("class:accent", "◆ "), ("class:title", title), ("class:warn", doing), ("class:quiet", known)]]

    def _describe_use(self) -> str:
        """Context and cost, for which the status line of a narrow screen has no room."""
        left, cost = context_left(self.feed.state), self.feed.state.budget.cost
        return " · ".join(filter(None, ["" if left is None else f"{left}% left", format_money(cost) if cost else ""]))

    def _list_status(self, width: int, rows: int) -> list[Fragments]:
        feed = self.feed
        if not feed.is_read:
            return [[("", "")]]
        jobs = [job for job in feed.client.jobs(feed.task) if job.state != "ended"] if feed.is_open else []
        return [fit_facts(status_facts(feed.state, branch=self._branch, jobs=len(jobs)), width - 1)]

    def _send_prompt(self, text: str) -> None:
        self._start(self._deliver(text))

    async def _deliver(self, text: str) -> None:
        try:
            refused = await self.feed.send_prompt(text)
        except HaloclineError as error:
            refused = f"{error.text} {error.hint}".rstrip()
        if refused:
            self._cards.say(refused)
            self.composer.insert(text)
        self.view.action_select_last()

    def _take_text(self, text: str) -> None:
        """Take text that was typed on the card but is not for it."""
        self.composer.insert(text)
        self.set_focus(self.composer)

    def _focus_rows(self) -> None:
        self.set_focus(self.view)

    def action_close(self) -> None:
        if self.view.words:
            self.view.words = ""
            self.view.refresh()
        else:
            self.dismiss()

    def action_move_focus(self, step: int) -> None:
        """Go between the rows, the card and the composer."""
        stops = [self.view, *([self._pane] if self._menu.card else []), self.composer]
        at = next((at for at, stop in enumerate(stops) if stop is self.focused), 0)
        self.set_focus(stops[(at + step) % len(stops)])

    def action_expand(self) -> None:
        block = self.view.selected_block
        if isinstance(block, RowBlock | EarlierBlock):
            self._blocks.toggle(block)
            self.view.follows = False
            self._show_rows()
            self.view.show_selected()

    def action_review(self) -> None:
        if self.feed.is_read:
            self.app.push_screen(ReviewScreen(self.feed))

    def action_show_timeline(self) -> None:
        if self.feed.is_read:
            self.app.push_screen(TimelineScreen(self.feed))

    def action_search(self) -> None:
        self._start(self._search())

    async def _search(self) -> None:
        words = await self.composer.read_line("Search in this task:")
        self.set_focus(self.view)
        if words and words.strip():
            self._blocks.show_all()
            self._show_rows()
            self._find(words.strip(), 1)

    def action_find_next(self, step: int) -> None:
        if self.view.words:
            self._find(self.view.words, step)

    def _find(self, words: str, step: int) -> None:
        """Select the next row that has the words, and show it whole if they are in what is hidden."""
        if not self.view.find_words(words, step, has_words):
            self._cards.say(f"Not found: {words}")
            return
        block = self.view.selected_block
        shown = "\n".join(strip.text for strip in block.draw_lines(self.view.block_width)) if block else ""
        if isinstance(block, RowBlock) and not block.is_expanded and self.view.words not in shown.casefold():
            self._blocks.toggle(block)
            self._show_rows()
            self.view.show_selected()

    def drop_line(self) -> bool:
        """Drop the line that is typed; False if there is none."""
        if self.composer.is_asking:
            self.composer.finish_line(None)
            self._focus_rows()
            return True
        if self.composer.text:
            self.composer.load_text("")
            return True
        return False

    def action_interrupt(self) -> None:
        if not self.feed.interrupt():
            self._cards.say("No turn runs.")
