"""The one prompt_toolkit application of a conversation: it owns the terminal until it is stopped."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TextIO, cast

from prompt_toolkit.application import Application
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindingsBase, merge_key_bindings
from prompt_toolkit.layout import Layout
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import DynamicStyle, Style

from halocline.client.themes import TERMINAL
from halocline.first_frame import FirstFrame
from halocline.surfaces.terminal.application.layout import build_style
from halocline.surfaces.terminal.application.renderer import QUIET, LiveOutput, LiveRenderer
from halocline.surfaces.terminal.application.terminal_answers import QUERY, AnsweringReader, Rgb, answers_queries
from halocline.surfaces.terminal.application.terminal_keys import (
    DISABLE,
    ENABLE,
    bind_unused_keys,
    find_escape_timeout,
    has_unambiguous_keys,
    split_recall,
    teach_sequences,
)
from halocline.surfaces.terminal.application.terminal_state import TerminalState, let_signals_arrive

FRAME = 0.12
"""Seconds between two frames that no key asked for."""
ANSWER = 0.2
"""Most seconds in which the terminal tells where the cursor is."""
NEXT_KEY = 0.05
"""Seconds after Escape in which Enter makes another key of it."""


class _Application(Application[None]):
    """Tells `on_resize`, if it is set, of a new size, in place of drawing at once."""

    on_resize: Callable[[], None] | None = None

    def _on_resize(self) -> None:
        if self.on_resize:
            self.on_resize()
        else:
            super()._on_resize()


class LiveApplication:
    """Runs the application. `before_frame` is called before each frame that no key asked for.

    `typed_before` is what was typed before the screen was there, `first` what stood there instead. With
    `full_screen`, it draws on the terminal's other screen, and leaves nothing behind.
    """

    def __init__(
        self, before_frame: Callable[[], None], first: FirstFrame | None = None, *, full_screen: bool = False
    ) -> None:
        self._first = first
        self._before_frame = before_frame
        self._full_screen = full_screen
        self._app: Application[None] | None = None
        self._running: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._resized: asyncio.TimerHandle | None = None
        self._drawn_at = 0.0
        self.typed_before = ""
        self.undo_signs: Callable[[], str] = str
        """Returns the codes that take back signs such as the title, for an end by a signal."""
        self.on_background: Callable[[Rgb], None] = lambda color: None
        """Gets the color behind the text, if the terminal tells it."""
        self.terminal = TerminalState(self._undo_codes, first.modes if first else None)
        self._has_unambiguous_keys = has_unambiguous_keys()
        self._output = cast(LiveOutput, LiveOutput.from_pty(sys.stdout))
        self._output.enable_cpr = False
        self._style: Style = build_style(TERMINAL)
        self.renderer = LiveRenderer(DynamicStyle(lambda: self._style), self._output)

    async def start(
        self, layout: Layout, keys: KeyBindingsBase, on_key: Callable[[], None], after_key: Callable[[], None]
    ) -> None:
        """Take over the terminal and draw the first frame. The callbacks are called before and after each key."""
        self.terminal.quieten()
        recall = self._read_typed()
        if self._first:
            self._first.erase()
        if self._has_unambiguous_keys:
            teach_sequences()
            self._output.write_raw(ENABLE)
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, self.terminal.end_by, number)
        app = _Application(
            layout=layout,
            style=self.renderer.style,
            key_bindings=merge_key_bindings([bind_unused_keys(self.suspend), keys]),
            erase_when_done=True,
            full_screen=self._full_screen,
            editing_mode=EditingMode.EMACS,
            color_depth=_find_color_depth(),
            include_default_pygments_style=False,
            max_render_postpone_time=None,
            terminal_size_polling_interval=None,
            input=self._open_keyboard(recall),
            output=self._output,
        )
        if not self._full_screen:
            app.renderer, app.on_resize = self.renderer, self._note_size
            self.renderer.on_resize = self._note_size
        app.ttimeoutlen, app.timeoutlen = find_escape_timeout(os.environ), NEXT_KEY
        app.key_processor.before_key_press += lambda processor: on_key()
        app.key_processor.after_key_press += lambda processor: after_key()
        app.after_render += self._note_frame
        self._app = app
        self._running = asyncio.create_task(app.run_async(handle_sigint=False, set_exception_handler=False))
        self._running.add_done_callback(self._end)
        asyncio.get_running_loop().add_signal_handler(signal.SIGCONT, self._take_back)
        await asyncio.sleep(0)
        self.terminal.note_raw()

    def exit(self) -> None:
        """End the application; `wait` returns then. A second end, as by a key and a signal at once, changes nothing."""
        if self._app and self._app.future and not self._app.future.done():
            self._app.exit()

    async def wait(self) -> None:
        """Wait until the application ends."""
        if self._running:
            await asyncio.wait([self._running])

    async def stop(self) -> None:
        """Print the rows that wait, erase the screen and restore the terminal."""
        if self._timer:
            self._timer.cancel()
        if self._resized:
            self._resized.cancel()
        self.renderer.is_resizing = False
        if self._running is None or self._app is None:
            return
        asyncio.get_running_loop().remove_signal_handler(signal.SIGCONT)
        running, self._running = self._running, None
        self.exit()
        await asyncio.wait([running])
        self._write_key_mode(DISABLE)
        self.terminal.restore()
        if not running.cancelled() and (error := running.exception()) and not isinstance(error, EOFError):
            raise error

    def print_above(self, text: str) -> None:
        """Print rows above the screen, with the next frame."""
        self.renderer.print_above(text)
        self.request_frame()

    def print_rows(self) -> None:
        """Print the rows that wait at once: options stand below what they are about from the first frame."""
        self.renderer.stop_holding()
        if self._timer:
            self._timer.cancel()
        self._draw()

    def write_signal(self, codes: str) -> None:
        """Write escape codes that move nothing, such as a title or a bell."""
        self._output.write_raw(codes)
        self._output.flush()

    def choose_style(self, style: Style) -> None:
        """Draw with these styles from now on."""
        self._style = style
        self.request_frame()

    def use_vi_keys(self, vi: bool) -> None:
        """Edit text with the keys of vi, or with those of Emacs, which readline has."""
        if self._app:
            self._app.editing_mode = EditingMode.VI if vi else EditingMode.EMACS

    def request_frame(self) -> None:
        """Draw a frame soon, at most every `FRAME` seconds."""
        if self._timer is None and self._running is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._drawn_at + FRAME), self._draw)

    def redraw(self) -> None:
        """Draw at once."""
        if self._app:
            self._app.invalidate()

    async def suspend(self) -> None:
        """Stop the program until the shell continues it, with the terminal as it was."""
        if self._app and not self._app._running_in_terminal:
            async with self.release_terminal():
                signal.raise_signal(signal.SIGTSTP)
                await let_signals_arrive()  # that of the continuation, while the screen is not ours

    @asynccontextmanager
    async def release_terminal(self, *, quietly: bool = False) -> AsyncIterator[None]:
        """Release the terminal to another program, as it was before the screen, or first without an echo."""
        async with in_terminal():
            self._write_key_mode(DISABLE)
            if quietly:
                self.terminal.quieten()
            try:
                yield
            finally:
                self._write_key_mode(ENABLE)

    def take_typed(self) -> str:
        """Take what was typed since the terminal was released `quietly`, and not read since; from now on it echoes."""
        typed = self.terminal.read_typed()
        self.terminal.restore()
        return typed

    def _undo_codes(self) -> str:
        return (DISABLE if self._has_unambiguous_keys and self._running else "") + self.undo_signs()

    def _write_key_mode(self, mode: str) -> None:
        if self._has_unambiguous_keys:
            self.write_signal(mode)

    def _draw(self) -> None:
        self._timer = None
        self._before_frame()
        self.redraw()

    def _read_typed(self) -> str:
        """Read what was typed before. Return the part that the screen reads as keys; in a full screen, keys decide."""
        typed = self.terminal.read_typed()
        self.typed_before, recall = (typed, "") if self._full_screen else split_recall(typed)
        return recall

    def _open_keyboard(self, typed: str) -> Vt100Input:
        """Open standard input for keys, after those `typed` before; ask the terminal for the color behind the text."""
        keyboard = Vt100Input(cast(TextIO, sys.stdin))
        keyboard.stdin_reader = AnsweringReader(sys.stdin, self.on_background)
        keyboard.vt100_parser.feed(typed)
        store_typeahead(keyboard, keyboard.read_keys())
        if answers_queries():
            self._output.write_raw(QUERY)
        return keyboard

    def _note_size(self) -> None:
        """Draw again once the size was quiet: what is drawn between two sizes ends up anywhere."""
        self.renderer.begin_resize()
        if self._resized:
            self._resized.cancel()
        self._resized = asyncio.get_running_loop().call_later(QUIET, self._end_resize)

    def _end_resize(self) -> None:
        """The size is quiet: draw once the terminal has told where the cursor is, or does not.

        A program that has the terminal would take the answer for keys, so it is not asked then.
        """
        if self._app and self._app._running_in_terminal:
            self._draw_resized()
            return
        self._resized = asyncio.get_running_loop().call_later(ANSWER, self._draw_resized)
        self.renderer.on_place = self._draw_resized
        self.renderer.ask_place()

    def _draw_resized(self) -> None:
        if self._app and self._resized:
            self._resized.cancel()
            self._resized, self.renderer.is_resizing = None, False
            self.renderer.erase_resized()
            self.redraw()

    def _note_frame(self, app: Application[None]) -> None:
        self._drawn_at = asyncio.get_running_loop().time()

    def _take_back(self) -> None:
        """The program continues after it was stopped from outside: set the modes again and draw everything.

        After a stop of its own, `suspend` draws it, and a second screen would leave parts of the first.
        """
        if self._app and not self._app._running_in_terminal:
            self.terminal.make_raw()
            self._app.renderer.reset()
            self.redraw()

    def _end(self, running: asyncio.Task[None]) -> None:
        """A closed terminal, or an error of the screen, ends the conversation; `stop` raises the error."""
        if not running.cancelled() and (error := running.exception()) and self._running is not None:
            os.kill(os.getpid(), signal.SIGHUP if isinstance(error, EOFError) else signal.SIGTERM)


def _find_color_depth() -> ColorDepth:
    """Return how many colors the terminal says it has; the named ones are sent by their names in any case."""
    if os.environ.get("NO_COLOR"):
        return ColorDepth.DEPTH_1_BIT
    if os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        return ColorDepth.DEPTH_24_BIT
    return ColorDepth.DEPTH_8_BIT if "256color" in os.environ.get("TERM", "") else ColorDepth.DEPTH_4_BIT
