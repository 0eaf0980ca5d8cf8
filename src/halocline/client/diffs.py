"""Texts and what differs between them; of a removed line and the added line that replaces it, the words that differ."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from halocline.edits.diff import make_diff as make_diff
from halocline.edits.text import BinaryContent as BinaryContent, decode_text as decode_text

ALIKE = 0.4
"""Least likeness of two lines at which marks help; lines that share less are simply other lines."""
LONGEST = 500
"""Characters above which a line gets no marks: comparing takes quadratic time."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")

Spans = Sequence[tuple[int, int]]


def mark_changes(old: str, new: str) -> tuple[Spans, Spans]:
    """Return the spans of both lines that differ; none when the lines are too different or too long."""
    if max(len(old), len(new)) > LONGEST:
        return (), ()
    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < ALIKE:
        return (), ()
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        [_span_of(before, code[1], code[2]) for code in changes if code[1] < code[2]],
        [_span_of(after, code[3], code[4]) for code in changes if code[3] < code[4]],
    )


def _span_of(words: Sequence[str], first: int, last: int) -> tuple[int, int]:
    begin = sum(map(len, words[:first]))
    return begin, begin + sum(map(len, words[first:last]))
