"""Completions of slash commands and mentions in the composer of the board, from the sources of the live screen."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from halocline.client import Mentionable
from halocline.surfaces.cli.input.completion import Choice, Mentions, is_begun
from halocline.surfaces.cli.input.slash_menu import Menu
from halocline.surfaces.slash.handlers import is_offered_on_board
from halocline.surfaces.tui.task_feed import TaskFeed


class Completions:
    """The choices for what is typed. `redraw` is called when they change."""

    def __init__(self, feed: TaskFeed, redraw: Callable[[], None]) -> None:
        self._feed = feed
        self._redraw = redraw
        self._looking: asyncio.Task[None] | None = None
        self._menu = Menu(feed.client, feed.task, lambda: feed.state, is_offered_on_board)
        self._mentions = Mentions(self._load_mentionable)
        self.choices: Sequence[Choice] = ()
        self.selected: int | None = None

    def look_up(self, before: str) -> None:
        """Find what may follow the text before the cursor; a later call replaces this one."""
        self.close()
        if self._feed.is_read and (is_begun(before) or Menu.is_open(before)):
            self._looking = asyncio.get_running_loop().create_task(self._find(before))

    async def _find(self, before: str) -> None:
        found = [*await self._menu.offers(before), *await asyncio.to_thread(self._mentions, before)]
        self.choices = found
        self._redraw()

    async def _load_mentionable(self) -> Mentionable:
        state = self._feed.state
        return await self._feed.client.handing.mentionable_in(Path(state.workspace), self._feed.task, state.roots)

    def close(self) -> bool:
        """Show none any more; False if none were shown."""
        if self._looking:
            self._looking.cancel()
        had_any, self.choices, self.selected, self._looking = bool(self.choices), (), None, None
        if had_any:
            self._redraw()
        return had_any

    def begin_prompt(self) -> None:
        """Read the commands again for the next prompt, as their files may have changed."""
        self._menu.begin()

    def move(self, step: int) -> None:
        first = 0 if step > 0 else len(self.choices) - 1
        self.selected = first if self.selected is None else (self.selected + step) % len(self.choices)
        self._redraw()

    def take(self) -> Choice:
        """Return the selected choice, or the first, and close."""
        choice = self.choices[self.selected or 0]
        self.close()
        return choice
