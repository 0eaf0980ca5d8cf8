"""Questions on a terminal outside a conversation, by plain lines."""

import os
import sys
from collections.abc import Mapping, Sequence

from halocline.first_frame import is_read_aloud
from halocline.protocol.errors import UsageError
from halocline.surfaces.cli.stderr import print_raw
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.asking.menu import find_option


def on_terminal() -> bool:
    """True if standard input and output are terminals."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def wants_words(plain: str = "") -> bool:
    """True if the person listens to a screen reader: by the flag, or by the variable."""
    return plain == "words" or is_read_aloud()


def can_draw(*, plain: bool = False) -> bool:
    """True if the terminal can show more than plain lines and the person wants it."""
    return knows_codes() and not plain and not wants_words()


def knows_codes() -> bool:
    """True if the terminal says that it knows escape codes."""
    return os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


def ask_yes_no(question: str) -> bool:
    """Ask on the terminal; without one the answer is no. Earlier typing does not count."""
    if not sys.stdin.isatty():
        return False
    try:
        _drop_typed()
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False


def pick_option(question: str, options: Mapping[str, str], names: Sequence[str] = ()) -> str:
    """Ask for one of the options or names; with two options, Enter picks the first.

    Earlier typing does not count. Raises UsageError when the input ends.
    """
    _drop_typed()
    print_raw(question)
    for key, text in options.items():
        print_raw(f"  {key:>2}  {text}")
    default = next(iter(options)) if len(options) == 2 else ""
    prompt = f"{' or '.join(options)} (Enter: {default}): " if default else "Number or name: "
    try:
        while answer := input(prompt).strip() or default:
            if answer in names:
                return answer
            if named := find_option(answer, options):
                return named
            print(f"{clean(answer)} is none of them.")
    except EOFError:
        print()
    raise UsageError("Nothing was chosen.", "Nothing was stored.")


def _drop_typed() -> None:
    """Forget what was typed before a question was there."""
    if sys.stdin.isatty():
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
