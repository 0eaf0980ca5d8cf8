"""Strips terminal control sequences from text; pure."""

import re

_SEQUENCE = (
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colors, cursor movement
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC and other strings: titles, links
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"  # every control character but tab, LF and CR
)


def plain_output(text: str) -> str:
    """Return the text as a terminal finally shows it: no control sequences, and only the last redraw of a line."""
    text = re.sub(_SEQUENCE, "", text)
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
