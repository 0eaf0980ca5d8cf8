"""All limits on what the model reads: lines, characters, line length.

What must stay true: the note on what is left out is written last, from what is really shown, and the rest stays
reachable: in the file, in a blob that `read_file` opens by its reference, or in the copy of a command's output.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from halocline.protocol.left_out import describe_gap
from halocline.protocol.messages import Image, Note, Text
from halocline.protocol.values import Value


class Budget(Value, frozen=True):
    """Limits of one text: lines (None: any number), characters in total, characters per line."""

    lines: int | None
    characters: int
    line: int


FILE = Budget(1_000, 400_000, 2_000)
MATCHES = Budget(None, 250_000, 2_000)
LISTING = Budget(200, 201_000, 1_000)
DEFINITIONS = Budget(400, 40_000, 300)
COMMAND = 30_000
"""Characters of a command's output; of more, the head and the tail are shown."""
RULE, RULES = 40_000, 100_000
"""Characters of one rules file with its imports, and of all rules sent at once; the rest is named."""
NEWS, NEWS_END = 1_000, 300
"""Characters of a job's new output in a note; of more, only `NEWS_END` from the end."""
MATCH_LINE = 500
"""Characters of one matching line of a search."""
MENTIONED = 200_000
"""Characters of all that one prompt mentions by `@`."""
MENTIONED_ONCE = 40_000
"""Characters of a mention that is not a file: a folder's files, a diff, another task."""
CEILING = 450_000
"""Characters of one result of any tool. Above every budget, so it never cuts what a tool has counted."""


class Fitted(Value, frozen=True):
    """Lines that fit, each short enough; `cut` tells that there were more."""

    lines: tuple[str, ...]
    cut: bool


def shorten_line(line: str, most: int) -> str:
    """Return the line, or its beginning and how much is left out."""
    return line if len(line) <= most else f"{line[:most]} … [{len(line) - most:,} more characters]"


def fit_lines(lines: Iterable[str], budget: Budget, numbered_from: int | None = None) -> Fitted:
    """Return as many leading lines as the budget allows; at least one, if there is one.

    The label of a numbered line, `12 | `, counts toward the total but not toward the line.
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
    """Return the text; if it is too long, its head and tail with a reference to the stored whole between them."""
    if len(text) <= most:
        return text
    reference = keep(text.encode("utf-8", "replace"))
    room = max(0, most - len(_gap_text(len(text), reference)))
    head, tail = text[: room - room // 2], text[len(text) - room // 2 :]
    return head + _gap_text(len(text) - room, reference) + tail


def _gap_text(missing: int, reference: str) -> str:
    return describe_gap(f"{missing:,} characters", f"to see everything, read {reference} with read_file")


Part = Text | Note | Image


def fit_parts(parts: Sequence[Part], most: int, keep: Callable[[bytes], str]) -> tuple[Part, ...]:
    """Limit the texts of a result to `most` characters in total, plus a little for each gap."""
    total = sum(len(part.text) for part in parts if not isinstance(part, Image))
    return tuple(parts) if total <= most else tuple(_fair_shares(parts, most, total, keep))


def _fair_shares(parts: Sequence[Part], most: int, total: int, keep: Callable[[bytes], str]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Text):
            yield Text(bound_text(part.text, len(part.text) * most // total, keep))
        else:
            yield part
