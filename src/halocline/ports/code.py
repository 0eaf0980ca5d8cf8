"""The door to the structure of source code: what is defined where, and what does not parse."""

from enum import StrEnum
from typing import Protocol

from halocline.protocol.values import Value


class SyntaxRule(StrEnum):
    """What becomes of an edit that introduces a syntax error."""

    WARN = "warn"
    REFUSE = "refuse"
    OFF = "off"


class Definition(Value, frozen=True):
    """A class, function, method or the like. Lines count from 1; `parent` names what it stands in, outermost first."""

    kind: str
    name: str
    line: int
    last_line: int
    parent: tuple[str, ...] = ()


class SyntaxProblem(Value, frozen=True):
    """A place that does not parse: `text` is its line, `missing` what the grammar wanted there, if it knows."""

    line: int
    text: str
    missing: str = ""


class Code(Protocol):
    """Parses source code. A language is known by the file's name; what is unknown gives None, never an error."""

    def knows(self, name: str) -> bool:
        """Whether a file of that name can be parsed."""

    async def definitions(self, name: str, data: bytes) -> tuple[Definition, ...] | None:
        """What is defined in the file, in its order. Functions inside functions are left out."""

    async def problems(self, name: str, before: str | None, after: str) -> tuple[SyntaxProblem, ...]:
        """The syntax errors that `after` has and `before` (None: no file) had not; empty when they cannot be told."""
