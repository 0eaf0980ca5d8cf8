"""A proposed edit in part: its hunks, and the files with only some of them. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence

from halocline.edits.proposals import ProposedText
from halocline.edits.swapping import swap_hunks
from halocline.protocol.kinds import Diff
from halocline.protocol.values import Value

_HEAD = re.compile(r"@@ -(?P<old>\d+)(?:,\d+)? \+(?P<new>\d+)")
_CUT = re.compile(r"^(?=@@ -\d)", re.MULTILINE)


class ProposedHunk(Value, frozen=True):
    """One change of a file: the number of its first changed line, and the changed lines with their signs.

    Lines are counted from 1; a removed one by its place in the old text, an added one by that in the new.
    """

    path: str
    line: int
    lines: tuple[str, ...]

    @property
    def added(self) -> int:
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        return len(self.lines) - self.added


def list_hunks(diffs: Sequence[Diff]) -> list[ProposedHunk]:
    """Return the hunks of an edit in order."""
    return [hunk for diff in diffs for hunk in _hunks_of(diff)]


def take_hunks(texts: Sequence[ProposedText], diffs: Sequence[Diff], taken: Collection[int]) -> dict[str, str | None]:
    """Return the texts of the files that would differ, by path, if only the hunks with these places were made.

    `texts` are the files of the diffs, in the same order. Raises EditError.
    """
    wanted: dict[str, str | None] = {}
    first = 0
    for text, diff in zip(texts, diffs, strict=True):
        head, *hunks = _CUT.split(diff.text)
        kept = [hunk for at, hunk in enumerate(hunks, first) if at in taken]
        first += len(hunks)
        if len(kept) < len(hunks):
            part = swap_hunks(text.before or "", "".join([head, *kept]), back=False)
            wanted[text.path] = part if kept else text.before
    return wanted


def _hunks_of(diff: Diff) -> Iterator[ProposedHunk]:
    for part in _CUT.split(diff.text):
        if head := _HEAD.match(part):
            lines = [line for line in part.split("\n")[1:] if line[:1] in ("+", "-", " ")]
            above = next((at for at, line in enumerate(lines) if line[0] != " "), 0)
            first = int(head["old" if lines[above][0] == "-" else "new"])
            yield ProposedHunk(diff.path, first + above, tuple(line for line in lines if line[0] != " "))
