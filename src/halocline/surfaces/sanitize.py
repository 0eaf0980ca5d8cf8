"""Make untrusted text safe for a terminal: no escape sequences, control characters or hidden direction changes.

`reveal` shows every such character; `clean` first removes whole escape sequences, such as colors.
"""

import re

_SEQUENCE = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colors, cursor movement
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS and similar
    r"|\x1b[ -/]+[0-~]|\x1b[0-Z\\^-~]"
)
_HIDDEN = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ufe00\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
    r"|(?<=[\x21-\x7e])[\u200c\u200d\ufe01-\ufe0f](?!\u20e3)|[\u200c\u200d](?=[\x21-\x7e])"  # joiners beside ASCII
)


def clean(text: str) -> str:
    """Sanitize text for reading: remove escape sequences, show other hidden characters."""
    return text if _is_plain(text) else reveal(re.sub(_SEQUENCE, "", text))


def reveal(text: str) -> str:
    """Sanitize text for a decision: remove nothing, show every hidden character. Line ends and tabs stay."""
    return text if _is_plain(text) else re.sub(_HIDDEN, _show_character, text.replace("\r\n", "\n"))


def _is_plain(text: str) -> bool:
    """True for one line of printable ASCII, as most texts are: there is nothing to look for."""
    return text.isascii() and text.isprintable()


def _show_character(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"
