"""Read tables of words: texts of sections, each with its `[title]` on a line of its own; `#` begins a comment."""

from pathlib import Path


def read_plain(module: str, ending: str = ".txt") -> str:
    """Return the text beside a module, without its comments."""
    text = Path(module).with_suffix(ending).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if line and line[0] != "#")


def read_lines(module: str) -> dict[str, tuple[str, ...]]:
    """Return the lines in each section of the table beside a module."""
    sections = (one.partition("]\n") for one in f"\n{read_plain(module)}".split("\n[")[1:])
    return {title: tuple(body.splitlines()) for title, _, body in sections}


def read_words(module: str) -> dict[str, tuple[str, ...]]:
    """Return the words in each section of the table beside a module."""
    return {title: tuple(" ".join(lines).split()) for title, lines in read_lines(module).items()}


def read_pairs(lines: tuple[str, ...]) -> dict[str, str]:
    """Return lines as names, parted by commas and ended by a colon, with the text behind them."""
    rows = (line.partition(":") for line in lines)
    return {name: text.strip() for names, _, text in rows for name in names.split(", ")}
