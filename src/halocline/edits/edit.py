"""What one wanted replacement says, whichever front end it came from, and how it may fail."""

from dataclasses import dataclass
from enum import Enum

from halocline.edits.text import EditError


class Grain(Enum):
    """What the searched text may be a part of: whole lines only, lines cut between words, or any text."""

    LINES = 1
    WORDS = 2
    CHARACTERS = 3


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines to find and lines to put there, without endings. `number` counts from 1, `name` is what reports call it.

    `headers` are lines that stand before the place, outermost first. `at_end` says that the place is the file's end,
    `everywhere` that every exact place is meant.
    """

    number: int
    search: tuple[str, ...]
    replace: tuple[str, ...]
    name: str = "block"
    grain: Grain = Grain.WORDS
    headers: tuple[str, ...] = ()
    at_end: bool = False
    everywhere: bool = False

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to search for."""
        return not "".join(self.search).strip()

    @property
    def title(self) -> str:
        """How a sentence begins that speaks of it."""
        return f"{self.name.capitalize()} {self.number}"


class UnplacedEdits(EditError):
    """At least one edit has no certain place. The text says how each fared."""

    code = "unplaced_edits"
