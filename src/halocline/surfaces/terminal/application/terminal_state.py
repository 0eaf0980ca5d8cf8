"""The terminal's modes: as they were before, and those of the live screen."""

import asyncio
import os
import select
import signal
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_REST = 0.1
"""Seconds to wait for more of a paste that has begun: cut off, its lines would be typed ones."""
_TURNS = 4
"""Turns of the event loop in which a signal that came before reaches its handler."""


async def let_signals_arrive() -> None:
    """Let the handlers of signals that came before run now."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)


class TerminalState:
    """Remembers the modes of standard input, or `before`, those before its first frame.

    A closed terminal has none, and needs no restoring. `undo` returns the codes that take back what else was turned on,
    for an end by a signal.
    """

    def __init__(self, undo: Callable[[], str] = str, before: list[Any] | None = None) -> None:
        self._undo = undo
        self._before = before or self._read()
        self._raw: list[Any] | None = None

    def quieten(self) -> None:
        """Echo nothing and keep Enter apart from Ctrl-J until the screen reads keys."""
        if self._before:
            modes = [*self._before[:6], [*self._before[6]]]
            modes[0] &= ~termios.ICRNL
            modes[3] &= ~(termios.ECHO | termios.ICANON)
            modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
            self._set(modes)

    def read_typed(self) -> str:
        """Read what was typed before the screen was there, in the modes of `quieten`; of a paste, also the rest."""
        typed, wait = b"", 0.0
        with suppress(OSError, ValueError):
            while select.select([sys.stdin], [], [], wait)[0] and (data := os.read(sys.stdin.fileno(), 4096)):
                typed = typed + data
                wait = _REST if typed.rfind(b"\x1b[200~") > typed.rfind(b"\x1b[201~") else 0.0
        return typed.decode("utf-8", "replace")

    def note_raw(self) -> None:
        """Remember the modes of the live screen."""
        self._raw = self._read()

    def make_raw(self) -> None:
        """Set the modes of the live screen again, after another program changed them."""
        self._set(self._raw)

    def restore(self) -> None:
        self._set(self._before)

    def end_by(self, number: int) -> None:
        """End the program by a signal, with the terminal as it was: no brackets around pastes, the cursor shown."""
        with suppress(OSError):
            sys.stdout.write(f"{self._undo()}\x1b[?2004l\x1b[?25h\x1b[?7h\x1b[0m\r\n")
            sys.stdout.flush()
        self.restore()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _read(self) -> list[Any] | None:
        with suppress(termios.error, OSError):
            return termios.tcgetattr(sys.stdin.fileno())
        return None

    def _set(self, modes: list[Any] | None) -> None:
        if modes:
            with suppress(termios.error, OSError):
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, modes)
