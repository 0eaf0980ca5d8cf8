"""Where in a file a text that is not there was probably meant: for the message of a failed edit."""

from collections import Counter

from halocline.edits.blocks import Block
from halocline.edits.text import lines_of

_SHOWN = 12
_SEARCHED = 20_000
_LINE = 200


def line_number(view: str, position: int) -> int:
    """The line, from 1, that holds a position."""
    return view.count("\n", 0, position) + 1


def numbered(lines: list[str], first: int) -> str:
    """Lines with their numbers, as read_file labels them."""
    return "\n".join(f"{number} | {line[:_LINE]}" for number, line in enumerate(lines, first))


def nearest_region(view: str, block: Block) -> str:
    """A sentence with the numbered lines that look most like the block's SEARCH part; empty when nothing does."""
    if block.is_blank:
        return ""
    replacement = "\n".join(block.replace)
    if replacement.strip() and (at := view.find(replacement)) >= 0:
        return f" Its REPLACE text is already there, at line {line_number(view, at)}: was it applied before?"
    lines = lines_of(view)[:_SEARCHED]
    at = _best_window(lines, block.search)
    if at < 0:
        return ""
    shown = lines[at : at + min(len(block.search), _SHOWN)]
    return f" The nearest lines are:\n{numbered(shown, at + 1)}"


def _best_window(lines: list[str], search: tuple[str, ...]) -> int:
    """The line, from 0, where most of the searched lines stand together; by likeness when none stands anywhere."""
    wanted = Counter(line.strip() for line in search if line.strip())
    stripped = [line.strip() for line in lines]
    if not any(line in wanted for line in stripped):
        return _most_alike(stripped, max(wanted, key=len))
    scores = _window_scores(stripped, wanted, len(search))
    best = max(range(len(scores)), key=lambda i: (scores[i], -i))
    return best


def _window_scores(lines: list[str], wanted: Counter[str], size: int) -> list[int]:
    """For every window of `size` lines, how many of the wanted lines it holds."""
    held: Counter[str] = Counter()
    score, scores = 0, []
    for i, line in enumerate(lines):
        if line in wanted:
            score += held[line] < wanted[line]
            held[line] += 1
        if i >= size and (gone := lines[i - size]) in wanted:
            held[gone] -= 1
            score -= held[gone] < wanted[gone]
        if i >= size - 1:
            scores.append(score)
    return scores or [0]


def _most_alike(lines: list[str], wanted: str) -> int:
    from difflib import get_close_matches  # heavy, and only needed when an edit fails

    close = get_close_matches(wanted, set(lines[:5_000]), n=1, cutoff=0.6)
    return lines.index(close[0]) if close else -1
