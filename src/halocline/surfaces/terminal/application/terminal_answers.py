"""The color behind the text: asked of the terminal once, and taken out of what is typed when the answer comes.

Nothing waits for the answer: a terminal that gives none is drawn on with 16 colors and no bands.
"""

import os
import re
from collections.abc import Callable
from typing import TextIO

from prompt_toolkit.input.posix_utils import PosixStdinReader

QUERY = "\x1b]11;?\x1b\\"
_KNOWN_TERMS = ("xterm", "screen", "tmux", "rxvt", "foot", "alacritty", "wezterm", "ghostty", "st-")
_ANSWER = re.compile(r"\x1b?\]11;rgb:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})(?:\x07|\x1b\\)")
_BEGUN = re.compile(r"\x1b\](?:1(?:1(?:;[rgb:0-9a-fA-F/]*\x1b?)?)?)?\Z")
"""An answer whose end is still to come."""

Rgb = tuple[int, int, int]


def answers_queries() -> bool:
    """True for terminals that read such a question, whether they answer or not; others would print it."""
    return os.environ.get("TERM", "").startswith(_KNOWN_TERMS)


def take_answer(text: str) -> tuple[str, Rgb | None]:
    """Take the answer out of a text. Return the rest, and the color if there is one."""
    found = _ANSWER.search(text)
    if not found:
        return text, None
    red, green, blue = (int(part, 16) * 255 // (16 ** len(part) - 1) for part in found.groups())
    return text[: found.start()] + text[found.end() :], (red, green, blue)


class AnsweringReader(PosixStdinReader):
    """Reads what is typed, without the terminal's answer, which goes to `on_background`."""

    def __init__(self, stdin: TextIO, on_background: Callable[[Rgb], None]) -> None:
        super().__init__(stdin.fileno(), encoding=stdin.encoding)
        self._on_background = on_background
        self._begun = ""
        self._is_answered = False

    def read(self, count: int = 1024) -> str:
        """Return what was typed since; the beginning of an answer waits for its end."""
        typed = super().read(count)
        if self._is_answered:
            return typed
        text, color = take_answer(self._begun + typed)
        if color:
            self._is_answered = True
            self._on_background(color)
        found = None if color else _BEGUN.search(text)
        self._begun = found[0] if found else ""
        return text[: len(text) - len(self._begun)]
