"""Lists of things with a date and some words: one line each, on a terminal never more than fits."""

import shutil
import sys
import time

from halocline.surfaces.cli.output.sanitize import clean


def entry(*facts: str, text: str) -> str:
    """The facts and then the text, of which a terminal shows what there is room for."""
    line = "  ".join([*facts, " ".join(clean(text).split())])
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else len(line)
    return line if len(line) <= width else line[: width - 1] + "…"


def moment(at: float) -> str:
    """A time (Unix seconds) as the clock on the wall showed it."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
