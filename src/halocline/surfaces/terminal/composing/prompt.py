"""A prompt as it was typed, also before a line was there to take it."""

import re

from halocline.protocol.kinds import Mode
from halocline.protocol.messages import UserPart
from halocline.protocol.values import Value
from halocline.surfaces.slash.dispatch import find_own_command

_QUIT = re.compile(r"(?:exit(?: \d{1,3})?|quit|(?:exit|quit)\(\)|logout|:(?:q|wq|qa|x)!?)")


def expand_quit_word(text: str) -> str:
    """Return `/quit` for what people type to leave shells and editors, and any other text as it is."""
    return "/quit" if _QUIT.fullmatch(text.strip()) else text


class Prompt(Value, frozen=True):
    """A typed prompt, its mode, and the pasted content."""

    text: str
    mode: Mode
    parts: tuple[UserPart, ...] = ()


_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b.?", re.DOTALL)
_ERASING = {"\x7f": re.compile(r".\Z", re.DOTALL), "\x08": re.compile(r".\Z", re.DOTALL)} | {
    "\x17": re.compile(r"\S*\s*\Z"),
    "\x15": re.compile(r"[^\n]*\Z"),
}


def type_keys(draft: str, keys: str) -> str:
    """Apply keys to the end of a draft: they insert, erase or do nothing."""
    for key in _SEQUENCE.sub("", keys):
        if erased := _ERASING.get(key):
            draft = erased.sub("", draft, count=1)
        elif key in "\r\n":
            draft += "\n"
        elif key.isprintable() or key == "\t":
            draft += key
    return draft


_PASTE = re.compile(r"\x1b\[200~(.*?)(?:\x1b\[201~|\Z)", re.DOTALL)
_COMMAND = re.compile(r"\s*(?:!|/[\w:.-]+(?:\s|$))")
_BREAK = "\0"
"""Stands for a line break within a paste."""


def split_typed(typed: str) -> list[str]:
    """Split keys that were typed before a screen stood: what Enter was pressed for, and last the text that stays typed.

    Lines in a row are one prompt, as they may be pasted. A first line that begins as a command is one by itself, and so
    is a slash command behind other lines. What came behind it may be meant for it, such as a key for /login: it stays
    typed, and is sent nowhere. So does a shell command behind other lines: only who sees it runs it.
    """
    text = ""
    for at, piece in enumerate(_PASTE.split(typed)):
        text = text + type_keys("", piece).replace("\n", _BREAK) if at % 2 else type_keys(text, piece)
    *lines, left = text.split("\n")
    first = next((at for at, line in enumerate(lines) if _COMMAND.match(line)), None)
    if first is None and left.strip():
        lines, left = [], text
    end = len(lines) if first is None else first
    behind = end + 1 if end == 0 or (lines[end:] and find_own_command(lines[end]) is not None) else end
    sent = filter(str.strip, ("\n".join(lines[:end]), *lines[end:behind]))
    return [part.strip("\n").replace(_BREAK, "\n") for part in (*sent, "\n".join([*lines[behind:], left]))]
