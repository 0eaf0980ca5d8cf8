"""One requested replacement, whichever front end it came from, and its error."""

from enum import Enum

from halocline.edits.text import EditError
from halocline.protocol.values import Value


class Grain(Enum):
    """The units that the searched text may match: whole lines only, lines cut between words, or any text."""

    LINES = 1
    WORDS = 2
    CHARACTERS = 3


class Edit(Value, frozen=True):
    """Lines to find and lines to put there, without endings. `number` counts from 1, `name` is its kind in reports.

    `headers` are lines before the place, outermost first. `at_end`: the place is the file's end; `everywhere`: every
    exact place is meant. Of several places, the one nearest to the line `near` is meant (from 1; 0 if none was named).
    """

    number: int
    search: tuple[str, ...]
    replace: tuple[str, ...]
    name: str = "block"
    grain: Grain = Grain.WORDS
    headers: tuple[str, ...] = ()
    at_end: bool = False
    everywhere: bool = False
    near: int = 0

    @property
    def is_blank(self) -> bool:
        """True if there is nothing to search for."""
        return not "".join(self.search).strip()

    @property
    def title(self) -> str:
        """Its name at the start of a sentence, such as `Block 1`."""
        return f"{self.name.capitalize()} {self.number}"


class UnplacedEdits(EditError):
    """At least one edit has no certain place. The text gives the result of each."""

    code = "unplaced_edits"
