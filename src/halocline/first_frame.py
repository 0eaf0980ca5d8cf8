"""The first frame of a conversation, drawn before anything is imported: a terminal that answers at once.

From then on nothing that is typed is echoed; the screen reads it when it stands. Whatever else is written first, such
as an error or a question, takes the frame back and finds the terminal as it was.
"""

import atexit
import os
import sys

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

BEFORE_VALUES = ("-m", "--model", "--base-url", "--api-key", "--profile", "--effort", "-C", "--cwd", "--add-dir")
ALONE = ("-y", "--yolo")
"""Options with which a conversation begins with an empty composer."""
MARK, HINT = "❯ ", "Ask anything"
PASTES = "\x1b[?2004h"
"""Asks the terminal to mark what is pasted; with `l` in place of `h`, not to."""
LEAST_RULED_ROWS = 22
"""Rows of a window from which rules stand around the composer."""


class FirstFrame:
    """The composer's rule, mark and hint. `modes` are those of the terminal before it; None without a frame."""

    def __init__(self) -> None:
        self.modes: list[Any] | None = None
        self._streams: tuple[Any, Any] | None = None
        self._watched: list[Any] = []  # kept: `input` borrows the streams, which change while it writes

    def draw(self, argv: "Sequence[str]") -> None:
        """Draw the frame if a conversation begins with an empty composer on a terminal that can draw."""
        if not begins_empty(argv) or not _can_draw():
            return
        import termios

        try:
            modes = termios.tcgetattr(0)
            quiet = [*modes[:6], [*modes[6]]]
            quiet[3] &= ~(termios.ECHO | termios.IEXTEN)  # else Ctrl-R and Ctrl-V would be the terminal's
            termios.tcsetattr(0, termios.TCSANOW, quiet)
            dim, plain = ("", "") if os.environ.get("NO_COLOR") else ("\x1b[90m", "\x1b[0m")
            size = os.get_terminal_size(1)
            rule = "─" * size.columns if size.lines >= LEAST_RULED_ROWS else ""
            os.write(1, f"{PASTES}\n{dim}{rule}{plain}\n{MARK}{dim}{HINT}{plain}\r\x1b[{len(MARK)}C".encode())
        except (termios.error, OSError):
            return
        self.modes = modes
        self._streams = sys.stdout, sys.stderr
        self._watched = [_Watched(stream, self.take_back) for stream in self._streams]
        sys.stdout, sys.stderr = self._watched
        atexit.register(self.take_back)

    def take_back(self) -> None:
        """Erase the frame and let the terminal echo again, for what else is written now."""
        modes = self.modes
        if self.erase() and modes:
            import termios

            os.write(1, PASTES.replace("h", "l").encode())
            termios.tcsetattr(0, termios.TCSADRAIN, modes)

    def erase(self) -> bool:
        """Erase the frame, whose three rows are ours. False if there is none."""
        if self._streams is None:
            return False
        (sys.stdout, sys.stderr), self._streams = self._streams, None
        # Row by row: on a cleared window, tmux would keep what is erased from the top on.
        os.write(1, b"\r\x1b[K\x1b[A\x1b[K\x1b[A\x1b[K")
        return True


class _Watched:
    """A stream that calls `before` before it is written to."""

    def __init__(self, stream: "Any", before: "Callable[[], None]") -> None:
        self._stream = stream
        self._before = before

    def write(self, text: str) -> int:
        self._before()
        return int(self._stream.write(text))

    def flush(self) -> None:
        self._before()  # `input` writes its question past this stream, but flushes first
        self._stream.flush()

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._stream, name)


def begins_empty(argv: "Sequence[str]") -> bool:
    """True if all words are options that leave the composer empty."""
    words = iter(argv)
    return all(word in ALONE or (word in BEFORE_VALUES and next(words, "-")[:1] != "-") for word in words)


def is_read_aloud() -> bool:
    """True if the variable that many programs know says that a screen reader reads this."""
    return os.environ.get("ACCESSIBLE", "") not in ("", "0", "false")


def _can_draw() -> bool:
    is_terminal = bool(sys.stdin and sys.stdout and sys.stderr) and all(os.isatty(number) for number in (0, 1, 2))
    letters = getattr(sys.stdout, "encoding", "").lower().replace("-", "")
    is_terminal = is_terminal and not is_read_aloud()
    return is_terminal and letters == "utf8" and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")
