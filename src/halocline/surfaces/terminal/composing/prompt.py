"""A prompt as it was typed, also before a line was there to take it."""

import re

from halocline.protocol.kinds import Mode
from halocline.protocol.messages import UserPart
from halocline.protocol.values import Value

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
