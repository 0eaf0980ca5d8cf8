"""Port for the structure of source code: definitions and syntax errors."""

from enum import StrEnum
from typing import Protocol

from halocline.protocol.values import Value


class SyntaxRule(StrEnum):
    """Reaction to an edit that introduces a syntax error."""

    WARN = "warn"
    REFUSE = "refuse"
    OFF = "off"


class Definition(Value, frozen=True):
    """A class, function, method or the like. Lines count from 1; `parent` names the enclosing ones, outermost first."""

    kind: str
    name: str
    line: int
    last_line: int
    parent: tuple[str, ...] = ()


class SyntaxProblem(Value, frozen=True):
    """A syntax error: `text` is its line, `missing` is what the grammar expected there, if known."""

    line: int
    text: str
    missing: str = ""


class Code(Protocol):
    """Parses source code. The file's name decides the language; unknown languages return None, never an error."""

    def knows(self, name: str) -> bool:
        """True if files with this name can be parsed."""

    async def definitions(self, name: str, data: bytes) -> tuple[Definition, ...] | None:
        """Return the definitions in a file, in order. Functions inside functions are left out."""

    async def problems(self, name: str, before: str | None, after: str) -> tuple[SyntaxProblem, ...]:
        """Return the syntax errors of `after` that `before` (None: no file) does not have; empty if unknown."""
