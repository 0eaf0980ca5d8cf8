"""The one authority on how much the model is given to read: lines, characters, the length of a line.

What must stay true: the sentence about what is left out is made last, from what is really shown, and what is left out
can be had: from the file, from a blob that `read_file` opens by its reference, or from the copy of a command's output.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from halocline.protocol.messages import Image, Note, Text
from halocline.protocol.values import Value


class Budget(Value, frozen=True):
    """The most of one text: its lines (None: any number), all characters, the characters of one line."""

    lines: int | None
    characters: int
    line: int


FILE = Budget(1_000, 400_000, 2_000)
MATCHES = Budget(None, 250_000, 2_000)
LISTING = Budget(200, 100_000, 1_000)
DEFINITIONS = Budget(400, 40_000, 300)
COMMAND = 30_000
"""Characters of what a command printed; of more, the head and the tail."""
RULE, RULES = 40_000, 100_000
"""Characters of one file of rules with what it imports, and of all that are told at once; the rest is named."""
NEWS, NEWS_END = 1_000, 300
"""Characters of a job's new output that are told unasked; of more, only so many from the end."""
MATCH_LINE = 500
"""Characters of a line that a search found."""
MENTIONED = 200_000
"""Characters of all that one prompt mentions by `@`."""
MENTIONED_ONCE = 40_000
"""Characters of a mention that is no file: a folder's files, a diff, another task."""
CEILING = 450_000
"""Characters of one result, whatever the tool. Above every budget, so that it never cuts what a tool has counted."""


class Fitted(Value, frozen=True):
    """The lines that fit, each short enough; `cut` says that more would have come."""

    lines: tuple[str, ...]
    cut: bool


def shorten_line(line: str, most: int) -> str:
    """The line, or its beginning and how much is left out."""
    return line if len(line) <= most else f"{line[:most]} … [{len(line) - most:,} more characters]"


def fit_lines(lines: Iterable[str], budget: Budget, numbered_from: int | None = None) -> Fitted:
    """As many lines from the first on as the budget holds; always at least one, when there is one.

    A line's label, `12 | ` when they are numbered, counts for the whole but not for the line.
    """
    kept: list[str] = []
    size = 0
    for at, line in enumerate(lines, numbered_from or 0):
        label = "" if numbered_from is None else f"{at} | "
        line = label + shorten_line(line, budget.line)
        size += len(line) + 1
        if kept and (size > budget.characters or len(kept) == budget.lines):
            return Fitted(tuple(kept), True)
        kept.append(line)
    return Fitted(tuple(kept), False)


def bound_text(text: str, most: int, keep: Callable[[bytes], str]) -> str:
    """The text; of one that is too long the head and the tail, with the whole kept and named between them."""
    if len(text) <= most:
        return text
    reference = keep(text.encode("utf-8", "replace"))
    room = max(0, most - len(_gap_text(len(text), reference)))
    head, tail = text[: room - room // 2], text[len(text) - room // 2 :]
    return head + _gap_text(len(text) - room, reference) + tail


def _gap_text(missing: int, reference: str) -> str:
    return describe_gap(f"{missing:,} characters are", f"read_file with path={reference} has the whole")


def describe_gap(missing: str, where: str) -> str:
    """What stands between a head and a tail: what is left out, and how it can be had."""
    return f"\n[… {missing} left out here; {where} …]\n"


Part = Text | Note | Image


def fit_parts(parts: Sequence[Part], most: int, keep: Callable[[bytes], str]) -> tuple[Part, ...]:
    """The parts of a result, their texts together at most `most` characters long and a little for each gap."""
    total = sum(len(part.text) for part in parts if not isinstance(part, Image))
    return tuple(parts) if total <= most else tuple(_fair_shares(parts, most, total, keep))


def _fair_shares(parts: Sequence[Part], most: int, total: int, keep: Callable[[bytes], str]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Text):
            yield Text(bound_text(part.text, len(part.text) * most // total, keep))
        else:
            yield part
