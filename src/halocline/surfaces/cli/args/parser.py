"""The parser that all commands use, and the kinds of values of their options.

The reference page of the docs is generated from the parsers.
"""

import argparse
import re
from functools import partial
from typing import Any, NoReturn

from halocline.protocol.errors import UsageError

APPROVAL_MODES = ("ask", "accept-edits", "auto", "yolo", "plan")
JSON_LINES = "print JSON, one object per line"
_UNSHOWN = 1000
"""Width of formatters that build a parser and show nothing."""
PLAIN = "plain lines without a live screen"
SCREEN_READER = "plain lines in words, for screen readers"


class Parser(argparse.ArgumentParser):
    """Raises UsageError instead of exiting, so that one place reports errors. Flags cannot be abbreviated.

    `alone` is the action of a command without one: `halo tasks --all` lists tasks.
    """

    def __init__(self, *, alone: str = "", **settings: Any) -> None:
        if alone:
            settings["description"] = f"{settings['description']} Without an action: {alone}."
        self._formatter = settings.pop("formatter_class", argparse.HelpFormatter)
        # argparse builds a formatter with each argument; without a width, each one looks for the terminal's.
        super().__init__(allow_abbrev=False, formatter_class=partial(self._formatter, width=_UNSHOWN), **settings)
        self._alone = alone

    def format_help(self) -> str:
        self.formatter_class = self._formatter
        return super().format_help()

    def read(self, words: list[str]) -> argparse.Namespace:
        """Parse the words after the command. Raises UsageError."""
        return self.parse_args(self.with_action(words))

    def with_action(self, words: list[str]) -> list[str]:
        """Return the words with the action that they leave out."""
        is_left_out = not words or (words[0].startswith("-") and words[0] not in ("-h", "--help"))
        return [self._alone, *words] if self._alone and is_left_out else words

    def error(self, message: str) -> NoReturn:
        meant = _nearest(message, _list_flags(self))
        hint = f"Did you mean {meant}? " if meant else ""
        raise UsageError(f"{message[:1].upper()}{message[1:]}.", f"{hint}See: {self.prog} --help")


def _list_flags(parser: argparse.ArgumentParser) -> list[str]:
    """Return the flags of a parser and of its actions."""
    found = [flag for action in parser._actions for flag in action.option_strings]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += [flag for inner in action.choices.values() for flag in _list_flags(inner)]
    return found


def _nearest(message: str, flags: list[str]) -> str:
    """Return the flag or choice that is most like the wrong one in a message of argparse; empty if none is."""
    from difflib import get_close_matches

    if found := re.match(r"unrecognized arguments: (--[\w-]+)", message):
        given, known = found[1], flags
    elif found := re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message):
        given, known = found[1], re.split(r"[', ]+", found[2].strip("'"))
    else:
        return ""
    return next(iter(get_close_matches(given, known, n=1, cutoff=0.7)), "")


def positive_int(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def parse_command(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("the command is empty")
    return text


def parse_port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return int(text)


def parse_positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number
