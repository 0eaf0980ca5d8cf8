"""Revert or reapply hunks of a unified diff: exactly, or not at all. Pure.

A hunk belongs where its line numbers say. If the text has moved since, it belongs where its lines are, if that is one
place.
"""

import re
from collections.abc import Iterator

from halocline.edits.text import EditError
from halocline.protocol.secrets.redaction import holds_mark
from halocline.protocol.values import Value

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_BARE = "\\"
"""Starts the line of a diff which says that the line before has no newline."""


class DoesNotFit(EditError):
    """A hunk does not match the text as the diff says."""


class Side(Value, frozen=True):
    """A hunk's lines before or after the change, and their first line (from 1); an empty side is before its line."""

    line: int
    text: str


def list_hunks(diff: str) -> Iterator[tuple[Side, Side]]:
    """Yield each hunk's sides before and after the change. Raises DoesNotFit if a hunk was cut off."""
    parts = re.split(r"^(?=@@ -\d)", diff, flags=re.MULTILINE)
    for part in parts:
        if head := _HUNK.match(part):
            lines = part.split("\n")[1:]
            yield _make_side(head[1], head[2], lines, "+"), _make_side(head[3], head[4], lines, "-")


def _make_side(line: str, count: str | None, lines: list[str], other: str) -> Side:
    wanted = int(count or 1)
    text: list[str] = []
    last = ""
    for hunk_line in lines:
        if hunk_line.startswith(_BARE):
            if last != other and text:
                text[-1] = text[-1].removesuffix("\n")
            continue
        last = hunk_line[:1]
        if last != other and len(text) < wanted:
            text.append(f"{hunk_line[1:]}\n")
    if len(text) != wanted:
        raise DoesNotFit("The diff is incomplete, so it cannot be applied exactly.", "Restore a checkpoint instead.")
    return Side(int(line) + (not wanted), "".join(text))


def swap_hunks(text: str, diff: str, *, back: bool) -> str:
    """Return the text with the hunks of the diff applied, or reverted with `back`. Raises DoesNotFit."""
    for before, after in reversed(list(list_hunks(diff))):
        there, wanted = (after, before) if back else (before, after)
        if holds_mark(wanted.text):
            raise DoesNotFit(
                "These lines contained a secret, which the diff does not show, so they cannot be restored from it.",
                "Restore a checkpoint, or edit the file by hand.",
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
        raise DoesNotFit("The file changed since this diff was made.", "Review the changes again, then decide.")
    return found[0]


def _does_stand(text: str, lines: str, at: int) -> bool:
    """Return True if the text has these whole lines at `at`; without a final newline they must be the last ones."""
    return text.startswith(lines, at) and (not lines or lines.endswith("\n") or at + len(lines) == len(text))
