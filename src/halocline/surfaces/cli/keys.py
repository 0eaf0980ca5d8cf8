"""Single keys from a terminal, without Enter; the terminal is given back as it was on every way out."""

import asyncio
import os
import termios
import tty
from contextlib import suppress
from types import TracebackType
from typing import Any

ARM_AFTER = 0.3
"""Seconds after which keys count, so that what was typed before a question cannot answer it."""

ESCAPE = "\x1b"


LEAVE = "\x02"
LEAVE_HINT = "Ctrl-B lets it go on without waiting"
ASK_NOW_HINT = "Ctrl-B asks now"
LEFT_BY_KEY = "execute_command"
"""The tool whose running call the key ends."""


class LeaveKey:
    """While it is on, Ctrl-B in the terminal sends a SIGQUIT, as Ctrl-\\ does otherwise.

    Nothing is read from the terminal, so what was typed ahead is there for the next prompt.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._saved: list[Any] | None = None

    def on(self) -> None:
        if self._saved is not None:
            return
        with suppress(termios.error):
            self._saved = termios.tcgetattr(self._fd)
            changed = [*self._saved[:6], [*self._saved[6]]]
            changed[6][termios.VQUIT] = LEAVE.encode()
            changed[3] |= termios.NOFLSH  # a signal would throw away what was typed before it
            termios.tcsetattr(self._fd, termios.TCSANOW, changed)

    def off(self) -> None:
        saved, self._saved = self._saved, None
        if saved is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSANOW, saved)


class Keyboard:
    """`async with Keyboard(fd)` reads keys of a terminal. Ctrl-C stays a signal."""

    def __init__(self, fd: int, arm_after: float = ARM_AFTER) -> None:
        self._fd = fd
        self._arm_after = arm_after

    async def __aenter__(self) -> "Keyboard":
        self._saved = termios.tcgetattr(self._fd)
        tty.setcbreak(self._fd, termios.TCSAFLUSH)
        try:
            await asyncio.sleep(self._arm_after)
            termios.tcflush(self._fd, termios.TCIFLUSH)
        except BaseException:
            self._restore()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    async def key(self) -> str:
        """The next key that counts. A closed terminal is an Escape; pasted text, arrows and the like do not count."""
        while True:
            data = await self._read()
            if data in (b"", b"\x04"):
                return ESCAPE
            text = data.decode(errors="replace")
            if len(text) == 1:
                return text

    async def one_of(self, keys: str) -> str:
        """The next key among these (letters in either case), or Escape."""
        while True:
            key = (await self.key()).lower()
            if key in keys or key == ESCAPE:
                return key

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        arrived = asyncio.Event()
        loop.add_reader(self._fd, arrived.set)
        try:
            await arrived.wait()
        finally:
            loop.remove_reader(self._fd)
        try:
            return os.read(self._fd, 1024)
        except OSError:
            return b""

    def _restore(self) -> None:
        with suppress(termios.error):  # a terminal that is gone needs nothing back
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._saved)
