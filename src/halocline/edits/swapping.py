"""Hunks of a unified diff taken back from a text, or put into it again: exactly, or not at all. Pure.

A hunk belongs where its numbers say. When the text has moved meanwhile, it belongs where its lines stand, if that is
one place.
"""

import re
from collections.abc import Iterator

from halocline.edits.text import EditError
from halocline.protocol.secrets.redaction import holds_mark
from halocline.protocol.values import Value

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_BARE = "\\"
"""How a diff says that the line before has no line end."""


class DoesNotFit(EditError):
    """A hunk does not stand in the text as the diff says."""


class Side(Value, frozen=True):
    """A hunk's lines before or after it, and the line (from 1) they begin at; an empty side stands before its line."""

    line: int
    text: str


def list_hunks(diff: str) -> Iterator[tuple[Side, Side]]:
    """Before and after, of each hunk. Raises DoesNotFit when one was cut short."""
    parts = re.split(r"^(?=@@ -\d)", diff, flags=re.MULTILINE)
    for part in parts:
        if head := _HUNK.match(part):
            lines = part.split("\n")[1:]
            yield _make_side(head[1], head[2], lines, "+"), _make_side(head[3], head[4], lines, "-")


def _make_side(line: str, count: str | None, lines: list[str], other: str) -> Side:
    wanted = int(count or 1)
    text: list[str] = []
    last = ""
    for said in lines:
        if said.startswith(_BARE):
            if last != other and text:
                text[-1] = text[-1].removesuffix("\n")
            continue
        last = said[:1]
        if last != other and len(text) < wanted:
            text.append(f"{said[1:]}\n")
    if len(text) != wanted:
        raise DoesNotFit("The diff is not whole, so nothing can be done exactly.", "Go back to a checkpoint instead.")
    return Side(int(line) + (not wanted), "".join(text))


def swap_hunks(text: str, diff: str, *, back: bool) -> str:
    """The text without the hunks of the diff (`back`), or with them. Raises DoesNotFit."""
    for before, after in reversed(list(list_hunks(diff))):
        there, wanted = (after, before) if back else (before, after)
        if holds_mark(wanted.text):
            raise DoesNotFit(
                "These lines had a secret, which was left out of what was shown, so they cannot be put back from it.",
                "Go back to a checkpoint, or change the file by hand.",
            )
        at = _find_place(text, there)
        text = text[:at] + wanted.text + text[at + len(there.text) :]
    return text


def _find_place(text: str, there: Side) -> int:
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    at = starts[there.line - 1] if 0 < there.line <= len(starts) else len(text)
    if _does_stand(text, there.text, at):
        return at
    found = [start for start in starts if there.text and _does_stand(text, there.text, start)]
    if len(found) != 1:
        raise DoesNotFit("The file is not as it was when this was shown.", "Look at the changes again, then decide.")
    return found[0]


def _does_stand(text: str, lines: str, at: int) -> bool:
    """Whether these are whole lines there; without a line end of their own they are the last ones."""
    return text.startswith(lines, at) and (not lines or lines.endswith("\n") or at + len(lines) == len(text))
