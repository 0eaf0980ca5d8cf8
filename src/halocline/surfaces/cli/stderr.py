"""Printing outside the live screen: messages on standard error, results on standard output."""

import sys
from typing import TextIO

from halocline.surfaces.sanitize import clean, reveal
from halocline.surfaces.wrapping import wrap_line

LONGEST_COMMAND = 60


def print_message(text: str, hint: str = "") -> None:
    """Print what happened, and below it what to do."""
    print(fold_text(text, "halo: ", sys.stderr), file=sys.stderr)
    if hint:
        print(fold_text(hint, " " * 6, sys.stderr), file=sys.stderr)
    sys.stderr.flush()


def fold_text(text: str, before: str, file: TextIO) -> str:
    """Prefix the text with `before`; on a terminal, wrap it and indent further lines to that width.

    Lines that are indented stay whole: they are commands and addresses to copy.
    """
    lines = clean(text).split("\n")
    if not file.isatty():
        return before + "\n".join(lines)
    import shutil  # a terminal alone has a width

    width, indent = shutil.get_terminal_size().columns - len(before), " " * len(before)
    wrapped = [[line] if line.startswith("  ") else wrap_line(line, width, folds=False) for line in lines]
    first, *others = [row.rstrip() for rows in wrapped for row in rows]
    return "\n".join([before + first, *(indent + row for row in others)])


def print_folded(text: str) -> None:
    """Print a text to standard output, wrapped on a terminal."""
    print(fold_text(text, "", sys.stdout))


def print_raw(text: str, end: str = "\n", *, flush: bool = False) -> None:
    """Print a result to standard output: as it is for a program, with hidden characters shown on a terminal."""
    print(as_shown(text, sys.stdout), end=end, flush=flush)


def as_shown(text: str, file: TextIO) -> str:
    """Return a text as it may be written to a file: nothing that a terminal would obey reaches one."""
    return reveal(text) if file.isatty() else text


def describe_stopped(commands: tuple[str, ...]) -> str:
    """Describe jobs that were stopped because their task was closed."""
    return f"Stopped {len(commands)} job{'s'[: len(commands) > 1]}: {', '.join(map(_short_command, commands))}"


def _short_command(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= LONGEST_COMMAND else line[:LONGEST_COMMAND] + "…"


def describe_left(task: str, writer: str) -> str:
    """Message that a task continues in another process."""
    return f"Left task {task}; process {writer} continues it."
