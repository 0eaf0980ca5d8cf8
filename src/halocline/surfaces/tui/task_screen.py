"""One opened task: its rows, the card of what it asks, a composer, and its facts."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.screen import Screen

from halocline.client import read_branch
from halocline.protocol.errors import HaloclineError
from halocline.surfaces.cli.input.choice_lines import draw_choices
from halocline.surfaces.cli.live.activity import Fragments
from halocline.surfaces.rows.kinds import CallRow, Lane
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.dispatch import find_own_command
from halocline.surfaces.tui.block_view import BlockView
from halocline.surfaces.tui.card_pane import CardPane
from halocline.surfaces.tui.fragment_lines import FragmentLines
from halocline.surfaces.tui.hint_line import HintLine
from halocline.surfaces.tui.input.completions import Completions
from halocline.surfaces.tui.input.composer import Composer
from halocline.surfaces.tui.input.prompt_recall import PromptRecall
from halocline.surfaces.tui.input.typed_text import BoardActions, TypedText
from halocline.surfaces.tui.queue_pane import QueuePane
from halocline.surfaces.tui.review_screen import ReviewScreen
from halocline.surfaces.tui.row_blocks import EarlierBlock, RowBlock, RowBlocks, has_words
from halocline.surfaces.tui.task_asking import TaskAsking
from halocline.surfaces.tui.task_facts import draw_head, draw_status
from halocline.surfaces.tui.task_feed import TaskFeed
from halocline.surfaces.tui.task_menu import TaskCards, TaskMenu
from halocline.surfaces.tui.terminal import hand_terminal
from halocline.surfaces.tui.timeline_screen import TimelineScreen
from halocline.surfaces.web.open_tasks import OpenTasks

MOST_CHOICES, MOST_TYPED_ROWS, FIXED_ROWS = 8, 6, 6
"""Most completions and lines of a prompt that are shown, and the rows that they leave to the other parts."""
KEPT, KEPT_SECONDS = "Not sent: it would reject what waits. Tab: answer · Ctrl-S: send it all the same", 8.0
OPEN_HINT = "o opens this sub-agent · Enter expand · Esc board"
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
        Binding("o", "open_subagent", show=False),
    ]

    def __init__(self, tasks: OpenTasks, task: str, board: BoardActions) -> None:
        super().__init__()
        self._board = board
        self.feed = TaskFeed(tasks, task, self._request_frame)
        self._blocks = RowBlocks()
        self._timer: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        self._branch = ""
        self.view = BlockView(follows=True)
        recall = PromptRecall(self.feed.client.home.prompt_history)
        self.composer = Composer(self._send_prompt, self._focus_rows, lambda: self._label.redraw(), recall)
        cards = TaskCards(self.feed, self._blocks, self.view, self._show_rows)
        self._menu = TaskMenu(cards, self.composer, self._show_card, lambda: hand_terminal(self.app))
        self._pane = CardPane(self._menu, self.view.action_turn_page, self._focus_rows, self._take_text)
        self._asking = TaskAsking(self.feed, cards, self._menu, self._start)
        self._typed = TypedText(self.feed, cards, self._asking, board, self.action_show_timeline)
        self._cards = cards
        self._queue = QueuePane(self.feed, self.composer, lambda work: self._start(self._report(work)))
        self._choices = FragmentLines(self._list_choices, MOST_CHOICES)
        self._head = FragmentLines(self._list_head)
        self._label = HintLine(KEYS, self._describe_line)
        self._status = FragmentLines(self._list_status)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self.view
        yield self._pane
        yield self._queue
        yield self._choices
        yield self._label
        yield self.composer
        yield self._status

    def on_mount(self) -> None:
        self.composer.completions = Completions(self.feed, self._choices.redraw)
        self.view.on_move = self._label.redraw
        self.set_focus(self.view)
        self._start(self._report(self.feed.follow()))

    def on_unmount(self) -> None:
        if self.composer.completions:
            self.composer.completions.close()

    def on_resize(self, event: Resize) -> None:
        self.composer.styles.max_height = max(1, min(MOST_TYPED_ROWS, event.size.height // 4))
        self._pane.redraw()
        self._choices.redraw()

    async def _report(self, work: Coroutine[None, None, None]) -> None:
        """Do something in the task, and show why it failed."""
        try:
            await work
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
        self._queue.redraw()
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
        return [draw_head(self.feed, width)]

    def _list_status(self, width: int, rows: int) -> list[Fragments]:
        return [draw_status(self.feed, self._branch, width)]

    def _send_prompt(self, text: str, at_once: bool) -> bool:
        """Send what is typed. A prompt would decide what waits, so it stays where it is unless sent `at_once`."""
        if not at_once and self.feed.state.is_asking and not find_own_command(text) and text[0] not in "!#":
            self._label.show_notice(KEPT, KEPT_SECONDS)
            return False
        self._start(self._deliver(text, at_once))
        return True

    async def _deliver(self, text: str, at_once: bool) -> None:
        if not await self._typed.deliver(text, at_once=at_once):
            self.composer.insert(text)
        self.view.action_select_last()

    def _list_choices(self, width: int, rows: int) -> list[Fragments]:
        """The completions, in the rows that the other parts leave."""
        completions = self.composer.completions
        if completions is None or not self.composer.has_focus:
            return []
        choices = [(choice.shown, choice.meaning) for choice in completions.choices]
        room = min(rows, max(1, self.size.height - FIXED_ROWS))
        return draw_choices(choices, completions.selected, width, room) if choices else []

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
        """Take a completion, or go between the rows, the card and the composer."""
        if self.focused is self.composer and self.composer.has_choices:
            self.composer.take_choice()
            return
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

    def action_open_subagent(self) -> None:
        lanes = self._list_lanes()
        if len(lanes) == 1:
            self._board.open_task(lanes[0].child)
        elif lanes:
            self._start(self._choose_subagent(lanes))

    async def _choose_subagent(self, lanes: Sequence[Lane]) -> None:
        names = {f"{number}: {clean(lane.name)}": lane.child for number, lane in enumerate(lanes, 1)}
        self.call_after_refresh(self.set_focus, self._pane)
        if name := await self._asking.ask("Open which sub-agent?", [*names]):
            self._board.open_task(names[name])

    def _list_lanes(self) -> Sequence[Lane]:
        """The sub-agents of the selected row that were started."""
        block = self.view.selected_block
        row = block.row if isinstance(block, RowBlock) else None
        return [lane for lane in row.lanes if lane.model] if isinstance(row, CallRow) else ()

    def _describe_line(self) -> str:
        """The label of the line that is asked for, or the key of the selected row."""
        return self.composer.label or (OPEN_HINT if self._list_lanes() else "")

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
        shown = self.view.extract_text(block) if block else ""
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
