"""`halo docs [WORD …]`: find and show a page of the guide or the reference, as it came with this Halocline."""

import argparse
import sys
from pathlib import Path

from halocline.protocol.errors import UsageError
from halocline.surfaces.cli.stderr import print_raw

PACKAGE = Path(__file__).parents[3]
PLACES = (PACKAGE / "docs", PACKAGE.parents[1] / "docs")
"""Where the pages are in an installation, and in a clone."""


def command(arguments: argparse.Namespace) -> int:
    pages = read_pages()
    names = find_pages(pages, arguments.words)
    if not names:
        raise UsageError(f"No page has all of: {' '.join(arguments.words)}.", "All pages: halo docs")
    if len(names) == 1 and arguments.words:
        _show(pages[names[0]])
        return 0
    width = max(map(len, names))
    for name in names:
        print_raw(f"{name:{width}}  {pages[name].splitlines()[0].lstrip('# ')}")
    return 0


def read_pages() -> dict[str, str]:
    """Return the text of each page, by its name, such as `guide/hooks`."""
    root = next((place for place in PLACES if (place / "guide").is_dir()), PLACES[0])
    found = sorted(path for folder in ("guide", "reference") for path in (root / folder).rglob("*.md"))
    return {str(path.relative_to(root).with_suffix("")): path.read_text(encoding="utf-8") for path in found}


def find_pages(pages: dict[str, str], words: list[str]) -> list[str]:
    """Return the page of that name alone; else those that have all words, the ones that say them most first."""
    wanted = [word.lower() for word in words]
    named = [name for name in pages if wanted in ([name], [name.rpartition("/")[2]])]
    if named:
        return named[:1]
    counts = {name: [f"{name} {text}".lower().count(word) for word in wanted] for name, text in pages.items()}
    return sorted((name for name, found in counts.items() if all(found)), key=lambda name: (-sum(counts[name]), name))


def _show(text: str) -> None:
    if not sys.stdout.isatty():
        print_raw(text.rstrip())
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
