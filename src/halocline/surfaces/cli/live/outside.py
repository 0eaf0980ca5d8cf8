"""Signs for those who look elsewhere: the window's title, progress in the task bar, and a notification or bell."""

import os
import time
from collections.abc import Callable

from halocline.surfaces.sanitize import reveal
from halocline.surfaces.terminal.drawing.scrollback import LONGEST_NOTICE

AWAY = 10.0
"""Seconds without a key after which the person is notified."""
LONGEST_TITLE = 60
_SAVE_TITLE, _RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
_PROGRESS = {"idle": "\x1b]9;4;0\x1b\\", "working": "\x1b]9;4;3\x1b\\", "waiting": "\x1b]9;4;4;100\x1b\\"}
_MARKS = {"idle": "", "working": "● ", "waiting": "? "}


def knows_progress() -> bool:
    """True for terminals known to show progress; others take its code for a notification."""
    return bool(
        os.environ.get("WT_SESSION")
        or os.environ.get("TERM_PROGRAM") == "ghostty"
        or os.environ.get("TERM", "").startswith("xterm-ghostty")
    )


class OutsideSigns:
    """Writes the codes with `write`, as far as the settings allow."""

    def __init__(self, write: Callable[[str], None], away: float = AWAY) -> None:
        self._write = write
        self._away = away
        self._used_at = time.monotonic()
        self._title = ""
        self._state = "idle"
        self._folder = ""
        self._sets_title = False
        self._shows_progress = False
        self._notify = "off"

    def configure(self, folder: str, *, title: bool, progress: bool, notify: str) -> None:
        """Begin with the settings and the folder of the task."""
        self._folder = os.path.basename(folder) or folder
        self._notify, self._shows_progress = notify, progress
        if title and not self._sets_title:
            self._write(_SAVE_TITLE)
        self._sets_title = title
        self._show_title()

    def note_key(self) -> None:
        self._used_at = time.monotonic()

    def change_state(self, state: str) -> None:
        """Show that the task is idle, working or waiting for an answer."""
        if state == self._state:
            return
        self._state = state
        self._show_title()
        if self._shows_progress:
            self._write(_PROGRESS[state])

    def call_person(self, text: str) -> None:
        """Notify a person who typed nothing for a while."""
        if time.monotonic() - self._used_at < self._away:
            return
        line = " ".join(reveal(text).split())[:LONGEST_NOTICE]
        match self._notify:
            case "bell":
                self._write("\a")
            case "desktop":
                self._write(f"\x1b]9;Halocline {line}\x1b\\\a")

    def close(self) -> None:
        """Give the title back, and end the progress."""
        if codes := self.undo_codes():
            self._write(codes)
        self._state, self._sets_title = "idle", False

    def undo_codes(self) -> str:
        """Return the codes that take back the signs that show now."""
        progress = _PROGRESS["idle"] if self._shows_progress and self._state != "idle" else ""
        return progress + (_RESTORE_TITLE if self._sets_title else "")

    def _show_title(self) -> None:
        title = f"{_MARKS[self._state]}halo · {reveal(self._folder)}"[:LONGEST_TITLE]
        if self._sets_title and title != self._title:
            self._title = title
            self._write(f"\x1b]2;{title}\x1b\\")
