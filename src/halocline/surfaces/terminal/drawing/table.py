"""List entries: one line each, cut to the terminal's width."""

import shutil
import sys

from halocline.surfaces.sanitize import clean


def entry(*facts: str, text: str) -> str:
    """Join the facts and the text; on a terminal, cut to its width."""
    line = "  ".join([*facts, " ".join(clean(text).split())])
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else len(line)
    return line if len(line) <= width else line[: width - 1] + "…"
