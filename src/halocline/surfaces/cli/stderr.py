"""Messages to the user on standard error."""

import sys
from typing import TextIO

from halocline.surfaces.sanitize import clean

LONGEST_COMMAND = 60


def print_message(text: str, hint: str = "") -> None:
    """Print what happened, and below it what to do."""
    print(fold_text(text, "halo: ", sys.stderr), file=sys.stderr)
    if hint:
        print(fold_text(hint, " " * 6, sys.stderr), file=sys.stderr)
    sys.stderr.flush()


def fold_text(text: str, before: str, file: TextIO) -> str:
    """Prefix the text with `before`; on a terminal, wrap it and indent further lines to that width."""
    lines = (before + clean(text)).split("\n")
    if not file.isatty():
        return "\n".join(lines)
    import shutil  # a terminal alone has a width
    from textwrap import TextWrapper

    width = shutil.get_terminal_size().columns
    wrapper = TextWrapper(width, subsequent_indent=" " * len(before), break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapper.fill(line) for line in lines)


def describe_stopped(commands: tuple[str, ...]) -> str:
    """Describe jobs that were stopped because their task was closed."""
    return f"Stopped {len(commands)} job{'s'[: len(commands) > 1]}: {', '.join(map(_short_command, commands))}"


def _short_command(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= LONGEST_COMMAND else line[:LONGEST_COMMAND] + "…"


def describe_left(task: str, writer: str) -> str:
    """Message that a task continues in another process."""
    return f"Left task {task}; process {writer} continues it."
