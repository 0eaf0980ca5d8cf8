"""The points of a task to go back to, with what each would restore, and the undo of that."""

import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.strip import Strip

from halocline.client import Restored, SnapshotPoint, find_undo_target, preview_restore
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events.rewind import brief_target
from halocline.surfaces.cli.input.keys import ESCAPE
from halocline.surfaces.cli.live.activity import Fragments, cut_line
from halocline.surfaces.figures import format_age
from halocline.surfaces.restore_plan import (
    describe_plan,
    describe_restored,
    describe_rewind,
    explain_no_change,
    name_paths,
)
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.checkpoints import NO, YES
from halocline.surfaces.slash.rewind import BOTH, CONVERSATION, FILES
from halocline.surfaces.tui.block_view import BlockView
from halocline.surfaces.tui.card_menu import BACK, READ_ON, CardMenu
from halocline.surfaces.tui.card_pane import CardPane, CardScreen
from halocline.surfaces.tui.drawing import Pen
from halocline.surfaces.tui.fragment_lines import FragmentLines
from halocline.surfaces.tui.hint_line import HintLine
from halocline.surfaces.tui.task_feed import TaskFeed
from halocline.surfaces.wrapping import wrap_line

KEYS = "Esc back · ↑↓ points · Enter go back to one · u undo the last change of files"
PAUSE = 0.15
"""Seconds that a point stays selected before its preview is made."""
KEEP = "n"
"""The option that changes nothing."""
_MARKS = {"prompt": ("❯", "class:accent"), "end": ("✓", "class:good")}


class PointBlock:
    """A point of the task."""

    is_selectable = True

    def __init__(self, point: SnapshotPoint) -> None:
        self.point = point
        self.key = f"point {point.seq}"

    @property
    def target(self) -> int:
        """The last event that is kept: a prompt itself is not."""
        return self.point.seq - 1 if self.point.kind == "prompt" else self.point.seq

    def draw_lines(self, width: int, pen: Pen) -> Sequence[Strip]:
        mark, style = _MARKS.get(self.point.kind, ("◦", "class:quiet"))
        age = format_age(self.point.at, time.time())
        text = " ".join(clean(self.point.text).split())
        head: Fragments = [(style, f"{mark} "), ("class:quiet", f"{self.point.seq:>6}  {age:<12}")]
        return [pen.draw_fragments([*head, ("", cut_line(text, max(1, width - 24)))])]


class TextBlock:
    """Plain lines, wrapped to the width."""

    is_selectable = False
    key = "text"

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = [line for text in lines for line in clean(text).split("\n")]

    def draw_lines(self, width: int, pen: Pen) -> Sequence[Strip]:
        return [pen.draw_text(part) for line in self._lines for part in wrap_line(line, max(1, width - 1))]


class RestoreMenu(CardMenu):
    """Asks whether to restore, once all of the preview was on the screen."""

    def __init__(self, redraw: Callable[[], None], preview: BlockView) -> None:
        super().__init__(redraw)
        self._preview = preview

    def may_choose(self, key: str) -> bool:
        if key in (KEEP, ESCAPE) or self._preview.was_shown_whole():
            return True
        self._preview.show_unseen()
        self.notice = READ_ON
        return False


class TimelineScreen(CardScreen):
    """Shows the points under the arrow keys, and what going back to the selected one would do."""

    DEFAULT_CSS = """
    TimelineScreen { layout: vertical; background: transparent; }
    TimelineScreen #preview { height: 40%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", show=False),
        Binding("enter", "go_back", show=False),
        Binding("u", "undo", show=False),
        Binding("tab", "move_focus", show=False, priority=True),
    ]

    def __init__(self, feed: TaskFeed) -> None:
        super().__init__()
        self._feed = feed
        self._has_files = False
        self.view = BlockView()
        self.view.on_move = self._preview_soon
        self.preview = BlockView(id="preview")
        self._menu = RestoreMenu(self._show_card, self.preview)
        self._is_restoring = False
        self._pane = CardPane(self._menu, self.preview.action_turn_page, self._focus_view)
        self._head = FragmentLines(lambda width, rows: [[("class:accent", "↺ "), ("class:title", "Timeline")]])
        self._rule = FragmentLines(lambda width, rows: [[("class:quiet", "─" * width)]])
        self._foot = HintLine(KEYS)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self.view
        yield self._rule
        yield self.preview
        yield self._pane
        yield self._foot

    def on_mount(self) -> None:
        self.set_focus(self.view)
        self._load()

    def _load(self) -> None:
        points = self._feed.client.time.points(self._feed.task)
        self.view.show_blocks([PointBlock(point) for point in points])
        self.call_after_refresh(self.view.action_select_last)

    def _say(self, *lines: str) -> None:
        self.preview.watch_block("")
        self.preview.show_blocks([TextBlock(lines)])
        self.preview.scroll_home(animate=False)
        self.preview.watch_block(TextBlock.key)

    def _preview_soon(self) -> None:
        self.set_timer(PAUSE, self._start_preview)

    def _start_preview(self) -> None:
        if isinstance(block := self.view.selected_block, PointBlock) and not self._is_restoring:
            self.run_worker(self._show_preview(block), group="preview", exclusive=True, exit_on_error=True)

    async def _show_preview(self, block: PointBlock) -> None:
        try:
            lines = await self._describe(block)
        except HaloclineError as error:
            lines = [f"{error.text} {error.hint}"]
        self._say(*lines)

    def _start_restore(self, work: Coroutine[None, None, None]) -> None:
        """Ask about a restore. What it says stays until another point is selected."""
        self._is_restoring = True
        self.workers.cancel_group(self, "preview")
        self.run_worker(self._run_restore(work), exit_on_error=True)

    async def _run_restore(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except HaloclineError as error:
            self._say(f"{error.text} {error.hint}")
        finally:
            self._is_restoring = False

    async def _describe(self, block: PointBlock) -> list[str]:
        """Describe what going back to a point would do now."""
        client, task = self._feed.client, self._feed.task
        seen = await preview_restore(client.time, client.past(task), task, block.target, overwrite=False)
        self._has_files = seen.plan is not None and bool(seen.plan.changes)
        where = "before this prompt" if block.point.kind == "prompt" else "to this point"
        return describe_rewind(seen, where)

    def action_go_back(self) -> None:
        if isinstance(block := self.view.selected_block, PointBlock) and not self._is_restoring:
            self._start_restore(self._rewind(block))

    async def _rewind(self, block: PointBlock) -> None:
        """Show what a rewind would do, ask, and rewind."""
        self._say(*await self._describe(block))
        files = {"1": BOTH, "3": FILES} if self._has_files else {}
        options = dict(sorted({**files, "2": CONVERSATION}.items())) | {KEEP: "nothing", ESCAPE: BACK}
        chosen = options[await self._menu.choose("Go back, and restore what?", options, lambda: None)]
        if chosen in (BOTH, CONVERSATION, FILES):
            await self._run(
                cmd.GoBack(
                    task=self._feed.task, to=block.target, files=chosen != CONVERSATION, conversation=chosen != FILES
                )
            )

    async def _run(self, command: cmd.GoBack) -> None:
        """Rewind where the task runs; of a task that no process runs, here."""
        client = self._feed.client
        if self._feed.is_open:
            client.send(command)
            self._say("Going back: the rows of the task tell when it is done.")
            return
        restored = await client.time.go_back(command)
        self._finish(*(_describe_restored(restored) if restored else ["Done."]))

    def action_undo(self) -> None:
        if not self._is_restoring:
            self._start_restore(self._undo())

    async def _undo(self) -> None:
        """Restore the files of the checkpoint before, after a confirmation."""
        client, task, workspace = self._feed.client, self._feed.task, Path(self._feed.state.workspace)
        store = client.checkpoints(workspace)
        step = await find_undo_target(store, task, lambda name: client.time.plan(workspace, name))
        if step is None:
            return self._say("Nothing to undo: the files match all checkpoints of this task.")
        if not step.plan.changes:
            return self._say(*describe_plan(step.plan), explain_no_change(step.plan))
        self._say(f"Checkpoint {step.to.n}, {step.to.label}:", *describe_plan(step.plan))
        if await self._menu.choose(f"{YES}?", {"y": YES, KEEP: NO, ESCAPE: BACK}, lambda: None) == "y":
            restored = await client.time.restore(workspace, f"{task}/{step.to.n}")
            self._finish(*_describe_restored(restored))
        return None

    def _finish(self, *lines: str) -> None:
        """Show the new points, and what was done."""
        self.view.on_move = lambda: None
        self._load()
        self._say(*lines)
        self.call_after_refresh(self._preview_again)

    def _preview_again(self) -> None:
        self.view.on_move = self._preview_soon

    def action_move_focus(self) -> None:
        if self._menu.card and self.focused is not self._pane:
            self.set_focus(self._pane)
        elif self.focused is self.view:
            self.set_focus(self.preview)
        else:
            self.set_focus(self.view)


def _describe_restored(restored: Restored) -> list[str]:
    lines = describe_restored(restored, f"halo checkpoints restore {brief_target(restored.undo, 10)}")
    return [*lines, *name_paths("not restored (saved content is damaged)", restored.lost)]
