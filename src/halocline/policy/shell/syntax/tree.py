"""The syntax tree of a shell command. Every character of the text is in a node, or is a blank or a comment.

The parser produces words with `parts`: literal text and expansions. `expansion` turns them into words whose `value` is
what a program gets, or which say why that is known only when the command runs.
"""

import os
import shlex
from collections.abc import Iterator
from enum import StrEnum

from halocline.protocol.values import Value


class Piece(Value, frozen=True):
    """A run of characters in a word. `active` ones are patterns (`*`, `?`, `[`), which the shell matches to names."""

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
    BRACES = "braces"


class Expansion(Value, frozen=True):
    """A part of a word that the shell replaces. `name`, `operator` and `argument` are those of `${name…}`."""

    kind: Kind
    source: str
    quoted: bool = False
    name: str = ""
    operator: str = ""
    argument: "Word | None" = None
    scripts: tuple["Node", ...] = ()


Part = Piece | Expansion


class Word(Value, frozen=True):
    """One word. `dynamic` says why its value is not known before it runs; `scripts` are the commands inside it.

    `could` are the words that a dynamic one may turn out to be, as far as that is known; a NUL in their text is an
    unknown part. `parts` are those of a word before expansion. A `verbatim` word runs exactly as its source.
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
        """The text that a program gets; None if only the shell knows."""
        return None if self.dynamic or self.is_pattern else self.text

    @property
    def text(self) -> str:
        return self.pieces[0].text if len(self.pieces) == 1 else "".join([piece.text for piece in self.pieces])

    @property
    def possible(self) -> tuple["Word", ...]:
        """The words that it may be, as far as that is known: itself, if it is known."""
        return self.could if self.dynamic else (self,)

    @property
    def is_pattern(self) -> bool:
        return True in [piece.active for piece in self.pieces]


class Redirect(Value, frozen=True):
    """A redirection. `fd` is empty if it is the default. A heredoc's target is its body as a word, `body` its text."""

    operator: str
    fd: str = ""
    target: Word | None = None
    scripts: tuple["Node", ...] = ()
    body: str = ""


class Assignment(Value, frozen=True):
    """`name=value`. `subscript` is that of an array element, `values` are those of an array."""

    name: str
    value: Word
    adds: bool = False
    subscript: Word | None = None
    values: tuple[Word, ...] | None = None


class Simple(Value, frozen=True):
    """A program with its words. The first word is its name; there are no words if only variables are set."""

    source: str
    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()

    @property
    def program(self) -> str:
        """The name of the program without its folder, as far as it is known; empty if there is none."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""


class Chain(Value, frozen=True):
    """Commands in sequence. `joints[i]` follows `items[i]`: `|`, `&&`, `;` and the like, or nothing."""

    items: tuple["Node", ...]
    joints: tuple[str, ...]


class Block(Value, frozen=True):
    """A loop, condition, subshell, function or the like, with its content and its redirections.

    `heads[i]` is the reserved word before `items[i]`; in `case` it is the number of patterns, or empty if an item falls
    through to the next. `name` is the variable of a loop, or the function. The `words` of `((` are its expression.
    """

    kind: str
    source: str
    items: tuple["Node", ...]
    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    heads: tuple[str, ...] = ()
    name: str = ""


Node = Simple | Chain | Block


def literal(text: str) -> Word:
    """Return a word that stands for itself."""
    return Word(text, (Piece(text),), quoted=True)


def words_of(node: Simple | Block) -> Iterator[Word]:
    """Yield every word, including those of assignments and redirections."""
    yield from node.words
    if isinstance(node, Simple):
        for one in node.assignments:
            yield one.value
            yield from (one.subscript,) if one.subscript else ()
            yield from one.values or ()
    yield from (redirect.target for redirect in node.redirects if redirect.target)


def known_words(simple: Simple) -> tuple[str, ...] | None:
    """Return the words of a command without assignments if they are all known; else None."""
    known = not simple.assignments and all(word.value is not None and not word.verbatim for word in simple.words)
    return tuple(word.text for word in simple.words) if known and simple.words else None


def inner(node: Simple | Block) -> Iterator[tuple[Node, bool]]:
    """Yield the commands inside the words and heredocs of a node, each with whether it reads what the node prints."""
    for word in words_of(node):
        reading = [part.scripts for part in word.parts if isinstance(part, Expansion) and part.source[:2] == ">("]
        yield from ((script, (script,) in reading) for script in word.scripts)
    for redirect in node.redirects:
        yield from ((script, False) for script in redirect.scripts)


def every_node(node: Node, *, ordered: bool = False) -> Iterator[Node]:
    """Yield a node and all nodes below it, including those in words; `ordered`: in source order."""
    waiting: list[Node] = [node]
    while waiting:
        here = waiting.pop()
        yield here
        within = () if isinstance(here, Chain) else (one for one, _ in inner(here))
        below = (*within, *(() if isinstance(here, Simple) else here.items))
        waiting += reversed(below) if ordered else below


def chain_of(items: list[Node], joints: list[str]) -> Node:
    """Return one command as itself, several as a chain, none as a command that does nothing."""
    if not items:
        return Simple("", ())
    joints = [*joints, ""][: len(items)]
    joints[-1] = "&" if joints[-1] == "&" else ""
    if len(items) == 1 and joints == [""]:
        return items[0]
    return Chain(tuple(items), tuple(joints))


def render(word: Word) -> str:
    """Return a word for the shell: quoted, but for patterns. Its value must be known, or it must be a pattern."""
    text = word.text
    if word.verbatim:
        return word.source
    if not word.is_pattern:
        return shlex.quote(home_of(word))
    shown = "".join(one.text if one.active else one.text and shlex.quote(one.text) for one in word.pieces)
    if text.startswith("~") and not word.quoted:
        head, _, rest = shown.strip("'").partition("/")
        return shlex.quote(os.path.expanduser(head)) + "/" + rest
    return shown


def home_of(word: Word) -> str:
    """Return the text of a word with a leading unquoted tilde expanded."""
    return os.path.expanduser(word.text) if word.text.startswith("~") and not word.quoted else word.text
