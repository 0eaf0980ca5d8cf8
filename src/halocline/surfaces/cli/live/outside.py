"""Signs for those who look elsewhere: the window's title, progress in the task bar, and a notification or bell."""

import os
from collections.abc import Callable

from halocline.surfaces.sanitize import reveal
from halocline.surfaces.terminal.application.person_call import AWAY, PersonCall

LONGEST_TITLE = 60
NEWEST_VTE = 7900
"""The version of VTE that shows progress first."""
_SAVE_TITLE, _RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
_PROGRESS = {"idle": "\x1b]9;4;0\x1b\\", "working": "\x1b]9;4;3\x1b\\", "waiting": "\x1b]9;4;4;100\x1b\\"}
_TURNS = {"idle": "your turn", "working": "● halo works", "waiting": "? halo asks you"}


def knows_progress() -> bool:
    """True for terminals known to show progress; others take its code for a notification."""
    env = os.environ
    vte = env.get("VTE_VERSION", "")
    return bool(
        env.get("WT_SESSION")
        or env.get("ConEmuANSI") == "ON"
        or env.get("TERM_PROGRAM") in ("ghostty", "mintty")
        or env.get("TERM", "").startswith("xterm-ghostty")
        or (vte.isdecimal() and int(vte) >= NEWEST_VTE)
    )


class OutsideSigns:
    """Writes the codes with `write`, as far as the settings allow."""

    def __init__(self, write: Callable[[str], None], away: float = AWAY) -> None:
        self._write = write
        self.person = PersonCall(write, away)
        self._title = ""
        self._state = "idle"
        self._folder = ""
        self._sets_title = False
        self._shows_progress = False

    def configure(self, folder: str, *, title: bool, progress: bool, notify: str, command: str = "") -> None:
        """Begin with the settings and the folder of the task."""
        self._folder = os.path.basename(folder) or folder
        self.person.how, self.person.command, self._shows_progress = notify, command, progress
        if title and not self._sets_title:
            self._write(_SAVE_TITLE)
        self._sets_title = title
        self._show_title()

    def change_state(self, state: str) -> None:
        """Show that the task is idle, working or waiting for an answer."""
        if state == self._state:
            return
        self._state = state
        if state == "working":
            self.person.stop()
        self._show_title()
        if self._shows_progress:
            self._write(_PROGRESS[state])

    def close(self) -> None:
        """Give the title back, end the progress, and call no one any more."""
        self.person.stop()
        if codes := self.undo_codes():
            self._write(codes)
        self._state, self._sets_title = "idle", False

    def undo_codes(self) -> str:
        """Return the codes that take back the signs that show now."""
        progress = _PROGRESS["idle"] if self._shows_progress and self._state != "idle" else ""
        return progress + (_RESTORE_TITLE if self._sets_title else "")

    def _show_title(self) -> None:
        title = f"{_TURNS[self._state]} · {reveal(self._folder)}"[:LONGEST_TITLE]
        if self._sets_title and title != self._title:
            self._title = title
            self._write(f"\x1b]2;{title}\x1b\\")
