"""Calls a person who is not at the terminal: by a notification in the terminal's own code, or by the bell."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping

from halocline.surfaces.sanitize import reveal
from halocline.surfaces.terminal.application.own_command import run_own_command

AWAY = 10.0
"""Seconds without a key after which the person is notified."""
LONGEST_NOTICE = 120
"""Most characters of a notification."""
_BY_PARTS = ("rxvt", "foot")
"""Terminals that know OSC 777, by the begin of TERM."""


def make_line(text: str) -> str:
    """Return a text as one short line without codes."""
    return " ".join(reveal(text).split())[:LONGEST_NOTICE]


def make_notice(text: str, env: Mapping[str, str]) -> str:
    """Return the code of a notification as this terminal knows it, if it knows codes, and the bell."""
    term, line = env.get("TERM", ""), make_line(text)
    if term in ("dumb", "unknown", ""):
        return "\a"
    if term == "xterm-kitty" or env.get("KITTY_WINDOW_ID"):
        code = f"\x1b]99;;Halocline {line}\x1b\\"
    elif term.startswith(_BY_PARTS) or env.get("VTE_VERSION"):
        code = f"\x1b]777;notify;Halocline;{line.replace(';', ',')}\x1b\\"
    else:
        code = f"\x1b]9;Halocline {line}\x1b\\"
    if env.get("TMUX"):  # which hands it on, or drops it, as its allow-passthrough says
        code = "\x1bPtmux;" + code.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return code + "\a"


class PersonCall:
    """Calls once no key came for `away` seconds, also if the last one was just before; a key cancels the call.

    `how` is the setting: desktop, bell or off. A `command` of the person does it instead, unless it fails.
    """

    how = "off"
    command = ""

    def __init__(self, write: Callable[[str], None], away: float = AWAY) -> None:
        self._write = write
        self._away = away
        self._used_at = time.monotonic()
        self._timer: asyncio.TimerHandle | None = None
        self._running: asyncio.Task[None] | None = None

    def note_key(self) -> None:
        """The person is there."""
        self._used_at = time.monotonic()
        self.stop()

    def call(self, text: str) -> None:
        """Call as soon as no key came for long enough. A later call takes the place of one that waits."""
        self.stop()
        left = self._used_at + self._away - time.monotonic()
        if left <= 0:
            self._notify(text)
        else:
            self._timer = asyncio.get_running_loop().call_later(left, self._notify, text)

    def stop(self) -> None:
        """Forget a call that waits."""
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _notify(self, text: str) -> None:
        if self.command and self.how != "off":
            self._running = asyncio.get_running_loop().create_task(self._run_command(text))
        elif self.how != "off":
            self._write("\a" if self.how == "bell" else make_notice(text, os.environ))

    async def _run_command(self, text: str) -> None:
        try:
            await run_own_command(self.command, b"", f"Halocline {make_line(text)}")
        except (OSError, TimeoutError):
            self._write(make_notice(text, os.environ))
