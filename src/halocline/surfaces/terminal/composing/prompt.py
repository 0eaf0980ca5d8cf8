"""A prompt as it was typed, also before a line was there to take it."""

import re

from halocline.client.prompts import split_slash_command
from halocline.protocol import secrets
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import UserPart
from halocline.protocol.values import Value
from halocline.surfaces.slash.dispatch import find_own_command

_KEY_MARK = re.compile(r"\[redacted [^\]]*\]")
_QUIT = re.compile(r"(?:exit(?: \d{1,3})?|quit|(?:exit|quit)\(\)|logout|:(?:q|wq|qa|x)!?)")


def expand_quit_word(text: str) -> str:
    """Return `/quit` for what people type to leave shells and editors, and any other text as it is."""
    return "/quit" if _QUIT.fullmatch(text.strip()) else text


KEY_NOT_SENT = "That looks like a key; it is not sent. /login takes keys."
"""Said of a prompt that is nothing but a key."""
KEY_HELD = "This looks like a key; press Enter again to send it to the model, or /login to store it."
"""Said of a prompt that may be one."""
NO_KEY_HERE = "What you typed may be a key, and is forgotten."
_CODED = re.compile(r"(?![0-9a-f]+\Z)(?=.*[a-z])[a-z0-9]{24,128}")


def is_key(text: str) -> bool:
    """True for a text that is nothing but what is known to be a key."""
    word = text.strip()
    return _KEY_MARK.fullmatch(secrets.redaction.redact_text(word)) is not None and not _KEY_MARK.fullmatch(word)


def may_be_key(line: str) -> bool:
    """True for a line that holds what is known to be a key, and for one word that may be one."""
    word = line.strip()
    is_alone = word.isascii() and not {" ", "/"} & {*word} and not word.startswith("@")
    return secrets.redaction.redact_text(line) != line or (is_alone and secrets.redaction.may_hold_keys(word))


def resembles_key(text: str) -> bool:
    """True for a prompt with a line that is one random word, as keys of unknown form are, but no hash, id or path."""
    words = [line.strip() for line in text.split("\n")]
    found = secrets.random_strings.random_strings(text, frozenset(words))
    return any(text[start:end] in words for start, end in found) or any(
        _CODED.fullmatch(word) and secrets.names.is_random(word) for word in words
    )


class KeyGuard:
    """Keeps keys from being sent as prompts: known ones always, what may be one until Enter is pressed again."""

    def __init__(self) -> None:
        self._held = ""
        self._allowed: set[str] = set()

    def refuse(self, text: str) -> str:
        """Say why a text is not sent: forever `KEY_NOT_SENT`, or this time; empty if it is."""
        held, self._held = self._held, ""
        if is_key(text):
            return KEY_NOT_SENT
        if not resembles_key(text) or text in self._allowed:
            return ""
        if text == held:
            self._allowed.add(text)
            return ""
        self._held = text
        return KEY_HELD

    def forget(self) -> None:
        """Ask again: what was held is no longer typed."""
        self._held = ""


def signs_in(prompt: str) -> bool:
    """True for the slash commands that ask for a key: what is typed behind them may be one."""
    return split_slash_command(prompt)[0] in ("login", "logout")


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
BREAK = "\0"
"""Stands for a line break within a paste, or within a prompt that is in one piece."""


def split_typed(typed: str) -> list[str]:
    """Split keys that were typed before a screen stood: what Enter was pressed for, and last the text that stays typed.

    Lines in a row are one prompt, as they may be pasted. A first line that begins as a command is one by itself, and so
    is a slash command behind other lines. What came behind it may be meant for it, such as a key for /login: it stays
    typed, and is sent nowhere. So does a shell command behind other lines: only who sees it runs it.
    """
    text = ""
    for at, piece in enumerate(_PASTE.split(typed)):
        text = text + type_keys("", piece).replace("\n", BREAK) if at % 2 else type_keys(text, piece)
    return [part.replace(BREAK, "\n") for part in _split_lines(text)]


def _split_lines(text: str) -> list[str]:
    *lines, left = text.split("\n")
    first = next((at for at, line in enumerate(lines) if _COMMAND.match(line)), None)
    if first is None and left.strip():
        lines, left = [], text
    end = len(lines) if first is None else first
    behind = end + 1 if end == 0 or (lines[end:] and find_own_command(lines[end]) is not None) else end
    sent = filter(str.strip, ("\n".join(lines[:end]), *lines[end:behind]))
    return [part.strip("\n") for part in (*sent, "\n".join([*lines[behind:], left]))]


def split_first(draft: str, *, is_message: bool = False) -> tuple[str, str]:
    """Split a draft into the first prompt, as `split_typed` does, and the rest. No message begins with a command."""
    first, *rest = [*filter(None, _split_lines(f"{draft}\n")), ""]
    if is_message and _COMMAND.match(first):
        return "", draft
    kept = [line for line in "\n".join(rest).strip("\n").split("\n") if not (signs_in(first) and may_be_key(line))]
    return first.replace(BREAK, "\n"), "\n".join(kept)


def join_drafts(first: str, draft: str) -> str:
    """Put a prompt, which stays in one piece, above a draft."""
    return "\n".join(filter(None, [first.replace("\n", BREAK), draft]))
