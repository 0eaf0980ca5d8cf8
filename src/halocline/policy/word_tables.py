"""Read tables of words: a text of sections, each with its `[title]` on a line of its own; `#` begins a comment."""

from pathlib import Path


def read_lines(module: str) -> dict[str, tuple[str, ...]]:
    """Return the lines in each section of the table beside a module."""
    text = Path(module).with_suffix(".txt").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if line and line[0] != "#")
    sections = (one.partition("]\n") for one in f"\n{lines}".split("\n[")[1:])
    return {title: tuple(body.splitlines()) for title, _, body in sections}


def read_words(module: str) -> dict[str, tuple[str, ...]]:
    """Return the words in each section of the table beside a module."""
    return {title: tuple(" ".join(lines).split()) for title, lines in read_lines(module).items()}


def read_pairs(module: str, section: str) -> dict[str, str]:
    """Return the lines of a section as names, parted by commas, with the text behind them."""
    rows = (line.partition(": ") for line in read_lines(module)[section])
    return {name: text for names, _, text in rows for name in names.split(", ")}
