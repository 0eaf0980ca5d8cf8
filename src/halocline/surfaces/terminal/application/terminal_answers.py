"""The color behind the text: asked of the terminal once, and taken out of what is typed when the answer comes.

Nothing waits for the answer: a terminal that gives none is drawn on with 16 colors and no bands. Other codes that are
no keys, such as those for the focus, are taken out, too: they would be read as Escape and some letters.
"""

import os
import re
from collections.abc import Callable
from typing import TextIO

from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.input.posix_utils import PosixStdinReader

QUERY = "\x1b]11;?\x1b\\"
_KNOWN_TERMS = ("xterm", "screen", "tmux", "rxvt", "foot", "alacritty", "wezterm", "ghostty", "st-")
_ANSWER = re.compile(r"\x1b?\]11;rgb:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})(?:\x07|\x1b\\)")
_BEGUN = re.compile(r"\x1b\](?:1(?:1(?:;[rgb:0-9a-fA-F/]*\x1b?)?)?)?\Z")
"""An answer whose end is still to come."""
_CODE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_KEPT = re.compile(r"\x1b\[(?:20[01]~|M|[?\d;]*R|<?[\d;]+[mM])\Z")
"""Codes that are read elsewhere: the marks of a paste, the mouse, the place of the cursor."""

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


def drop_codes(text: str) -> str:
    """Drop the codes in a text that stand for no key."""
    return _CODE.sub(lambda code: code[0] if code[0] in ANSI_SEQUENCES or _KEPT.match(code[0]) else "", text)


class AnsweringReader(PosixStdinReader):
    """Reads what is typed, without the terminal's answer, which goes to `on_background`."""

    def __init__(self, stdin: TextIO, on_background: Callable[[Rgb], None]) -> None:
        super().__init__(stdin.fileno(), encoding=stdin.encoding)
        self._on_background = on_background
        self._begun = ""
        self._is_answered = False

    def read(self, count: int = 1024) -> str:
        """Return what was typed since; the beginning of an answer waits for its end."""
        typed = drop_codes(super().read(count))
        if self._is_answered:
            return typed
        text, color = take_answer(self._begun + typed)
        if color:
            self._is_answered = True
            self._on_background(color)
        found = None if color else _BEGUN.search(text)
        self._begun = found[0] if found else ""
        return text[: len(text) - len(self._begun)]
