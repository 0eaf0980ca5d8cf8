"""A shell command as a small tree of ours. What the parser did not understand is not in it: then there is no tree.

A word is literal when bash would change nothing in it but its quotes; only then does `value` say what a program gets.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters of a word. `active` ones are patterns (`*`, `?`, `[`), which the shell matches to names."""

    text: str
    active: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `dynamic` says why its value is not known before it runs; `scripts` are the commands inside it.

    A `verbatim` one runs as it is written, though it is not literal.
    """

    source: str
    pieces: tuple[Piece, ...] = ()
    dynamic: str = ""
    quoted: bool = False
    scripts: tuple["Node", ...] = ()
    verbatim: bool = False

    @property
    def value(self) -> str | None:
        """What a program gets; None when only the shell knows."""
        return None if self.dynamic or self.is_pattern else self.text

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def is_pattern(self) -> bool:
        return any(piece.active for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Redirect:
    """`fd` is empty for the operator's own. A heredoc has no target but a body, and may hold commands."""

    operator: str
    fd: str = ""
    target: Word | None = None
    scripts: tuple["Node", ...] = ()
    body: str = ""


@dataclass(frozen=True, slots=True)
class Simple:
    """A program with its words. The first word is its name; there is none when only variables are set."""

    source: str
    words: tuple[Word, ...]
    assignments: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """Commands one after the other. `joints[i]` stands behind `items[i]`: `|`, `&&`, `;` and the like, or nothing."""

    items: tuple["Node", ...]
    joints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A loop, a condition, a subshell, a function and the like: what stands in it, and what is done with its output."""

    kind: str
    source: str
    items: tuple["Node", ...]
    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()


Node = Simple | Chain | Block


def words_of(node: Simple | Block) -> Iterator[Word]:
    """Every word, those of assignments and redirections too."""
    yield from node.words
    if isinstance(node, Simple):
        yield from (word for _, word in node.assignments)
    yield from (redirect.target for redirect in node.redirects if redirect.target)


def inner(node: Simple | Block) -> Iterator[Node]:
    """What stands in the words and heredocs of a node."""
    for word in words_of(node):
        yield from word.scripts
    for redirect in node.redirects:
        yield from redirect.scripts
