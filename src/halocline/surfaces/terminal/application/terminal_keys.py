"""Keys that only some terminals can tell apart, such as Shift-Enter and Ctrl-Enter (the kitty keyboard protocol)."""

import os
import re
import string
from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import ALL_KEYS, Keys

ENABLE, DISABLE = "\x1b[>1u", "\x1b[<u"
"""Turn on unambiguous keys, and go back to how it was."""
CTRL_ENTER = Keys.F24
"""Stands for Ctrl-Enter, which prompt_toolkit does not name."""
NEW_LINE: tuple[Keys, Keys] = (Keys.Escape, Keys.ControlM)
TOGETHER, APART = 0.05, 0.6
"""Seconds between the bytes of one key, on this machine and over a connection."""
_CONNECTIONS = ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT")
_ALT, _CTRL, _SHIFT = 2, 4, 1
_KNOWN_PROGRAMS = ("ghostty", "WezTerm", "iTerm.app", "rio")
_KNOWN_TERMS = ("xterm-kitty", "xterm-ghostty", "foot", "alacritty", "wezterm")


_WITHOUT_MEANING = r"c-(s-)?(\d|page\w+)|c-f\d+|c-s-(up|down|insert|delete)|s-(escape|page\w+)"
"""Keys that prompt_toolkit names and binds to nothing: it would insert what the terminal sent for them."""


def bind_unused_keys(suspend: Callable[[], Awaitable[None]]) -> KeyBindings:
    """Return bindings by which Ctrl-Z suspends, and keys without a meaning do nothing. Any others go before them."""
    bindings = KeyBindings()

    @bindings.add("c-z")
    async def act(event: KeyPressEvent) -> None:
        await suspend()

    for name in ALL_KEYS:
        if re.fullmatch(_WITHOUT_MEANING, name):
            bindings.add(name)(lambda event: None)
    return bindings


_RECALL = re.compile(r"(\x12|\x1b[\[O]A)(?:\x1b[\[O][AB]|[^\x00-\x07\x0a-\x11\x13-\x1f])*")


def split_recall(typed: str) -> tuple[str, str]:
    """Take Ctrl-R or Up, with what is typed behind it up to Enter, out of keys typed before a screen stood.

    The screen reads it as keys. What is behind Enter is a draft: no one has seen the prompt that it would send.
    """
    found = _RECALL.search(typed)
    if found is None or "\x1b[200~" in typed[: found.start()]:
        return typed, ""
    before, keys, behind = typed[: found.start()], found[0], typed[found.end() :].strip("\r\n")
    if behind and found[1] != "\x12":
        return before, f"{keys}\x1b[200~\n{behind}\x1b[201~"
    return (f"{before}\x1b[200~{behind}" if behind else before), keys


def has_unambiguous_keys() -> bool:
    """True for terminals known to support the protocol. tmux and screen do not pass it on."""
    if os.environ.get("TMUX") or os.environ.get("TERM", "").startswith(("screen", "tmux")):
        return False
    return (
        bool(os.environ.get("KITTY_WINDOW_ID"))
        or os.environ.get("TERM_PROGRAM") in _KNOWN_PROGRAMS
        or os.environ.get("TERM", "").startswith(_KNOWN_TERMS)
    )


def find_escape_timeout(env: Mapping[str, str]) -> float:
    """Return the seconds after Escape in which more bytes make another key of it.

    Terminals send them together, but a slow connection takes them apart.
    """
    return TOGETHER if not any(env.get(name) for name in _CONNECTIONS) else APART


def teach_sequences() -> None:
    """Add the sequences of the protocol, and of xterm's older one, to prompt_toolkit's table."""
    for sequence, keys in list_sequences().items():
        ANSI_SEQUENCES[sequence] = cast(Keys, keys)


def list_sequences() -> dict[str, Keys | tuple[Keys | str, ...]]:
    """Each sequence with the keys it stands for."""
    found: dict[str, Keys | tuple[Keys | str, ...]] = {
        "\x1b[27u": Keys.Escape,
        "\x1b[13;5u": CTRL_ENTER,
        "\x1b[27;5;13~": CTRL_ENTER,
        "\x1b[9;2u": Keys.BackTab,
        "\x1b[127;3u": (Keys.Escape, Keys.ControlH),
        "\x1b[127;5u": Keys.ControlW,
    }
    for modifiers in (_SHIFT, _ALT):
        found[f"\x1b[13;{modifiers + 1}u"] = found[f"\x1b[27;{modifiers + 1};13~"] = NEW_LINE
    for letter in string.ascii_lowercase:
        found[f"\x1b[{ord(letter)};{_CTRL + 1}u"] = Keys(f"c-{letter}")
        found[f"\x1b[{ord(letter)};{_ALT + 1}u"] = (Keys.Escape, letter)
    return found
