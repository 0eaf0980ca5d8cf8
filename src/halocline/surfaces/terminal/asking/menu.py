"""The menu below a card: options that keys choose, lines to type, and files to edit."""

from collections.abc import Container, Mapping, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Protocol

from halocline.surfaces.terminal.composing.prompt import Prompt

ESCAPE = "\x1b"
Options = Mapping[str, str]
"""The label of each key."""


class Brief(str):
    """The label of an option that is seldom wanted: several of them share a line where there is room for it."""

    __slots__ = ()


class TypedAnswer(str):
    """An answer in the person's own words, which may be those of a key."""

    __slots__ = ()


NO_ANSWER = "Not sent: a question waits. Answer it, or press Esc; your text stays."
"""Said when a line is sent that is no answer to a question of Halocline's own."""
_YES_NO = ("y", "n")
_WORDS = {"yes": "y", "no": "n", "esc": ESCAPE, "escape": ESCAPE}


class Kind(Enum):
    """What a menu asks: an approval or a step of one, a grave one, a question of the model or of Halocline's own."""

    ORDINARY = auto()
    GRAVE = auto()
    QUESTION = auto()
    OWN = auto()


def number_options(labels: Sequence[str], *, is_yes_no: bool = False) -> dict[str, str]:
    """Return the options of a question of Halocline's own by their keys: numbers, or y and n."""
    keys = _YES_NO if is_yes_no else tuple(map(str, range(1, len(labels) + 1)))
    return dict(zip(keys, labels, strict=True))


def find_key(text: str, options: Options) -> str | None:
    """Return the option that a typed line names by its key, or by yes, no or esc; None if there is none."""
    word = text.strip().casefold()
    return next((key for key in (word, _WORDS.get(word)) if key in options), None)


def find_option(text: str, options: Options, kind: Kind = Kind.OWN) -> str | None:
    """Return the option that a typed line names by its key, number or label, or as in `find_key`.

    Of a QUESTION, only the numbered options can be named: those are the model's, and any other line is an answer.
    """
    if kind is Kind.QUESTION:
        options = {key: label for key, label in options.items() if key.isdecimal()}
    word, keys = text.strip().casefold(), [*options]
    if key := find_key(word, options):
        return key
    if word.isdecimal() and 0 < int(word) <= len(keys):
        return keys[int(word) - 1]
    return next((key for key, label in options.items() if label.casefold() == word), None)


class Menu(Protocol):
    """Lets a person choose by keys, and type a line."""

    def call_person(self, text: str) -> None:
        """Notify a person who may be elsewhere, as nothing was typed for a while."""

    async def choose(
        self,
        title: str,
        options: Options,
        on_card: Container[str] = (),
        selected: str | None = "",
        kind: Kind = Kind.ORDINARY,
    ) -> str:
        """Return the key of an option. `title` names the card above, which lists the options `on_card`.

        `selected` is the option that is selected at first, in place of a safe one; with None, nothing is, so that Enter
        does nothing. A typed line chooses, too (`find_option`). Another one is returned as the `TypedAnswer` to a
        QUESTION, and may not be sent anywhere while an OWN question waits.
        """

    async def ask_line(self, prompt: str, hint: str = "", initial: str = "", *, needs_text: bool = False) -> str | None:
        """Read a line; None when the person went back. `needs_text`: an empty line is asked for again."""

    def put_back(self, message: Prompt) -> None:
        """Give a message back that was not sent, because the person stopped the turn."""

    async def edit_files(self, paths: Sequence[Path]) -> None:
        """Open files in the person's editor and wait for its end. Raises UsageError if there is none."""
