"""A shell command as a small tree of ours. Every character of the text is in a node, or is a blank or a comment.

The parser gives words with `parts`: literal text and expansions. `expansion` turns them into words whose `value` says
what a program gets, or says why that is known only when the command runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters of a word. `active` ones are patterns (`*`, `?`, `[`), which the shell matches to names."""

    text: str
    active: bool = False
    quoted: bool = False


class Kind(StrEnum):
    """The kinds of expansion."""

    VARIABLE = "variable"
    COMMAND = "command"
    PROCESS = "process"
    ARITHMETIC = "arithmetic"
    EXTENDED_PATTERN = "extended pattern"


@dataclass(frozen=True, slots=True)
class Expansion:
    """A part of a word that the shell replaces. `name` is a variable's; `operator` and `argument` are of `${name…}`."""

    kind: Kind
    source: str
    quoted: bool = False
    name: str = ""
    operator: str = ""
    argument: "Word | None" = None
    scripts: tuple["Node", ...] = ()


Part = Piece | Expansion


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `dynamic` says why its value is not known before it runs; `scripts` are the commands inside it.

    `could` are words that a dynamic one may turn out to be, as far as that is known; in their text a NUL stands for
    what is not. `parts` are those of a word that is not expanded yet. A `verbatim` one runs as its source stands.
    `checked`: it is known only when it runs, and the form checks it then (`guards`).
    """

    source: str
    pieces: tuple[Piece, ...] = ()
    dynamic: str = ""
    quoted: bool = False
    scripts: tuple["Node", ...] = ()
    verbatim: bool = False
    parts: tuple[Part, ...] = ()
    could: tuple["Word", ...] = ()
    checked: bool = False

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
    """`fd` is empty for the operator's own. The target of a heredoc is its body, as a word; `body` is its text."""

    operator: str
    fd: str = ""
    target: Word | None = None
    scripts: tuple["Node", ...] = ()
    body: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=value`. `subscript` is that of an element, `values` are those of an array."""

    name: str
    value: Word
    adds: bool = False
    subscript: Word | None = None
    values: tuple[Word, ...] | None = None

    def __iter__(self) -> Iterator["str | Word"]:
        yield self.name
        yield self.value


@dataclass(frozen=True, slots=True)
class Simple:
    """A program with its words. The first word is its name; there is none when only variables are set."""

    source: str
    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """Commands one after the other. `joints[i]` stands behind `items[i]`: `|`, `&&`, `;` and the like, or nothing."""

    items: tuple["Node", ...]
    joints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A loop, a condition, a subshell, a function and the like: what stands in it, and what is done with its output.

    `heads[i]` is the reserved word in front of `items[i]`; of `case` it is the number of its patterns, or nothing where
    one goes on with the next. `name` is the variable of a loop, or the function. `words` of `((` are its expression.
    """

    kind: str
    source: str
    items: tuple["Node", ...]
    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    heads: tuple[str, ...] = ()
    name: str = ""


Node = Simple | Chain | Block


def words_of(node: Simple | Block) -> Iterator[Word]:
    """Every word, those of assignments and redirections too."""
    yield from node.words
    if isinstance(node, Simple):
        for one in node.assignments:
            yield one.value
            yield from (one.subscript,) if one.subscript else ()
            yield from one.values or ()
    yield from (redirect.target for redirect in node.redirects if redirect.target)


def inner(node: Simple | Block) -> Iterator[Node]:
    """What stands in the words and heredocs of a node."""
    for word in words_of(node):
        yield from word.scripts
    for redirect in node.redirects:
        yield from redirect.scripts


def every_node(node: Node, *, ordered: bool = False) -> Iterator[Node]:
    """A node and all below it, those in words too; `ordered` as they are written."""
    waiting: list[Node] = [node]
    while waiting:
        here = waiting.pop()
        yield here
        below = (
            here.items if isinstance(here, Chain) else (*inner(here), *(here.items if isinstance(here, Block) else ()))
        )
        waiting += reversed(below) if ordered else below
