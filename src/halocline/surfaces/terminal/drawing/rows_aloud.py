"""Rows for a screen reader: a word in place of each mark, and nothing that is only there to be looked at."""

import re
from collections.abc import Mapping

MARK_WORDS: Mapping[str, str] = {
    "❯": "You: ",
    "◇": "Halocline: ",
    "∴": "Thought: ",
    "?": "Question: ",
    "$": "Command: ",
    "→": "Effect: ",
    "└": "Result: ",
    "│": "",
    "•": "Call: ",
    "!": "Note: ",
    "✗": "Error: ",
    "✓": "",
    "■": "",
    "±": "",
    "▸": "",
    "↓": "",
    "≡": "",
    "↺": "",
    "↻": "",
    "◂": "",
    "⇣": "",
    "§": "Rules: ",
    "⚑": "Hook: ",
    "○": "",
}
"""The word for the mark of a row; empty where the row says it by itself."""
DIFF = "±"
TODO_LIST, TODO_WORDS = "≡", {"✓": "done: ", "○": "to do: ", "▸": "now: "}
REPLY = "Reply: "
"""Stands before the first line of what a model says."""
_SIDE, _SIDES = re.compile(r"\s*(\d+) ([-+ ]) "), {"-": " removed", "+": " added", " ": ""}
_COUNTS = re.compile(r"\+([\d,]+) −([\d,]+)")


def speak_mark(mark: str, within: str = "") -> str:
    """Return the words for what stands before a row: its mark, or the number and the sign of a line of a `DIFF`.

    `within` is the mark of the card that it is in.
    """
    if within == DIFF and (side := _SIDE.fullmatch(mark)):
        return f"line {side[1]}{_SIDES[side[2]]}: "
    if mark == REPLY:
        return REPLY
    word = mark.strip()
    return (TODO_WORDS if within == TODO_LIST else MARK_WORDS).get(word, f"{word}: " if word else "")


def speak_text(text: str) -> str:
    """Return a text of ours in words alone."""
    return _COUNTS.sub(r"\1 added, \2 removed", text).replace(" · ", ", ").replace(" ✗ ", " ")
