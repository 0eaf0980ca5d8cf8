"""The keyboard of a terminal while no line is edited: nothing is echoed, and nothing typed is lost.

What must stay true: a key decides only when pressed alone, with silence before and after it. Everything else typed is a
draft for the next prompt; only a line typed and ended after Ctrl-C is sent. The terminal's modes are restored on every
exit.
"""

import asyncio
import codecs
import os
import select
import signal
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from halocline.surfaces.terminal.asking.menu import ESCAPE
from halocline.surfaces.terminal.composing.prompt import type_keys

BEAT = 0.1
"""Seconds between checks for keys. Silence is counted in checks without keys, so a busy program is not silence."""
SILENCE = 0.7
"""Seconds of silence since the question and the last key before a key can decide."""
ALONE = 0.3
"""Seconds of silence after a key that decides; while typing a word, the next key follows sooner."""

END = "\x04"
RESUMED = "resumed"
"""Stands for a key when the program continues after Ctrl-Z: the question must be shown again."""

AWAY = 10.0
"""Seconds without a key after which the person is notified, as they may be elsewhere."""

LEAVE = "\x02"


class Keyboard:
    """Reads a terminal from `open` to `close`. Ctrl-C stays a signal, and Ctrl-Z suspends the program as usual."""

    def __init__(self, fd: int, *, silence: float = SILENCE, alone: float = ALONE) -> None:
        self.draft = ""
        self.on_leave: Callable[[], object] | None = None
        self.on_suspend: Callable[[], object] = lambda: None
        self._fd = fd
        self._silence = silence
        self._alone = alone
        self._saved: list[Any] | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._presses: list[str] = []
        self._arrived = asyncio.Event()
        self._chooses = False
        self._listens = False
        self._sends = False
        self.is_gone = False
        """True once the terminal was closed."""
        self._used_at = time.monotonic()

    @property
    def is_idle(self) -> bool:
        """True if nothing was typed for `AWAY` seconds."""
        return time.monotonic() - self._used_at > AWAY

    def open(self) -> None:
        """Take over the terminal, with anything typed before."""
        if self._listens:
            return
        if self._saved is None:
            with suppress(termios.error):  # a closed terminal has no modes; reading it reports that
                self._saved = termios.tcgetattr(self._fd)
        self._listens = True
        self._quieten()
        loop = asyncio.get_running_loop()
        loop.add_reader(self._fd, self._read)
        loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        loop.add_signal_handler(signal.SIGCONT, self._resume)

    def close(self) -> None:
        """Restore the terminal."""
        self._stop_listening()
        self._restore()
        self._saved = None

    def _stop_listening(self) -> None:
        self._listens = False
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._fd)
        loop.remove_signal_handler(signal.SIGTSTP)
        loop.remove_signal_handler(signal.SIGCONT)

    @contextmanager
    def hand_over(self) -> Iterator[None]:
        """Lend the terminal to a line editor, after reading everything typed so far into the draft.

        Echo stays off and keys stay raw until the editor reads them; otherwise Enter would become Ctrl-J.
        """
        self.open()
        while not self.is_gone and select.select([self._fd], [], [], 0)[0]:
            self._read()
        self._stop_listening()
        try:
            yield
        finally:
            self._used_at = time.monotonic()
            self.open()

    def take_draft(self) -> str:
        """Take the text typed ahead, to start a line with. A trailing Enter sends nothing."""
        draft, self.draft, self._sends = self.draft.strip("\n"), "", False
        return draft

    def expect_line(self) -> None:
        """Treat a line typed and ended from now on as sent, because the person pressed Ctrl-C."""
        self._sends = not self.draft

    def take_line(self) -> str:
        """Take the one line typed and ended since `expect_line`; empty when there is none."""
        line = self.draft.removesuffix("\n")
        if not self._sends or line == self.draft or "\n" in line:
            return ""
        return self.take_draft()

    def type(self, keys: str) -> None:
        """Add keys that were read elsewhere."""
        self.draft = type_keys(self.draft, keys)

    async def wait_for_silence(self) -> None:
        """Wait until nothing was typed for a while; keys until then go to the draft."""
        self.open()
        quiet, before = 0.0, self.draft
        while quiet < self._silence and not self.is_gone:
            await asyncio.sleep(BEAT)
            quiet, before = (quiet + BEAT if self.draft == before else 0.0), self.draft

    async def choose(self, keys: str, read_line: Callable[[str], str | None] | None = None) -> str:
        """Return the next of these keys (in either case) that is pressed alone, or Escape or RESUMED.

        The end of the input counts as Escape. Words, pasted text, arrows and so on choose nothing: they go to the
        draft, unless they were only these keys, pressed too early. `read_line` returns the key of a typed line.
        """
        self.open()
        self._chooses, typed = True, ""
        try:
            while True:
                text, is_calm = await self._next_press(self._silence)
                key = ESCAPE if text in ("", END) else text.lower()
                if text == RESUMED or not text:
                    return key
                if is_calm and (key in (ESCAPE, *keys)) and not await self._is_followed():
                    return key
                typed += text
                if read_line and text[-1] in "\r\n" and (named := read_line(type_keys("", typed))):
                    typed = ""
                    return named
        finally:
            typed += "".join(text for text in self._presses if text != RESUMED)
            self._presses, self._chooses = [], False
            if self.draft or not set(typed.lower()) <= {*keys, ESCAPE, END, "\r", "\n", " "}:
                self.type(typed)

    async def _next_press(self, silence: float) -> tuple[str, bool]:
        """Return the next input in one piece, and True if that much silence came before; empty at the input's end."""
        quiet = 0.0
        while not self._presses:
            if self.is_gone:
                return "", True
            self._arrived.clear()
            try:
                async with asyncio.timeout(BEAT):
                    await self._arrived.wait()
            except TimeoutError:
                quiet += BEAT
        return self._presses.pop(0), quiet >= silence - BEAT / 2

    async def _is_followed(self) -> bool:
        """True if more is typed right after a key."""
        beats = round(self._alone / BEAT)
        while not self._presses and beats:
            await asyncio.sleep(BEAT)
            beats -= 1
        return bool(self._presses)

    def _read(self) -> None:
        try:
            data = os.read(self._fd, 4096)
        except OSError:
            data = b""
        text = self._decoder.decode(data)
        self._used_at = time.monotonic()
        if not data:
            self.is_gone = True
            asyncio.get_running_loop().remove_reader(self._fd)
        elif self.on_leave and LEAVE in text:
            text = text.replace(LEAVE, "")
            self.on_leave()
        self._take(text)

    def _take(self, text: str) -> None:
        if text and self._chooses:
            self._presses.append(text)
        else:
            self.type(text)
        self._arrived.set()

    def _suspend(self) -> None:
        """Suspend on Ctrl-Z, with the terminal's modes restored. Without a shell to continue it, nothing stops."""
        loop = asyncio.get_running_loop()
        self.on_suspend()
        self._restore()
        loop.remove_signal_handler(signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGTSTP)
        loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        self._quieten()

    def _resume(self) -> None:
        self._quieten()
        if self._chooses:
            self._presses.append(RESUMED)
        self._arrived.set()

    def _quieten(self) -> None:
        """Read keys one by one, unchanged and without echo; signals and output stay as they are."""
        if self._saved is None:
            return
        modes = [*self._saved[:6], [*self._saved[6]]]
        modes[0] &= ~termios.ICRNL
        modes[3] &= ~(termios.ECHO | termios.ICANON)
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        self._set(modes, termios.TCSANOW)

    def _restore(self) -> None:
        if self._saved is not None:
            self._set(self._saved, termios.TCSADRAIN)

    def _set(self, modes: list[Any], when: int) -> None:
        with suppress(termios.error):  # a closed terminal needs no restoring
            termios.tcsetattr(self._fd, when, modes)
