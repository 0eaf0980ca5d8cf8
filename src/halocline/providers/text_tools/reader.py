"""The reading side of the text protocol: streamed text of a reply in; text, thoughts and calls out.

What must stay true: the pieces, with neighbors joined, do not depend on how the text is split; and time is linear.
A tool's tag in backticks is a mention; without backticks it is one if neither a parameter nor a closing tag follows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from halocline.ports.tool import ToolSpec
from halocline.providers.text_tools.call import OpenCall
from halocline.providers.text_tools.prose import Prose
from halocline.providers.text_tools.tags import THINKING, WRAPPERS, Lexer, Tag, Token, tags_of, text_of


@dataclass(frozen=True, slots=True)
class Words:
    text: str


@dataclass(frozen=True, slots=True)
class Thoughts:
    text: str


@dataclass(frozen=True, slots=True)
class Growing:
    """A piece of the call being written; the first may be empty. For previews."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A finished call. `body` is the text between the tool's tags; `whole` is false when it was cut short."""

    tool: str
    body: str
    whole: bool


Piece = Words | Thoughts | Growing | Called


class Reader:
    """Reads one reply. Only the tools' own tags and those of their parameters count as calls."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._tools = tags_of(tools)
        parameters = {tag for tool in self._tools.values() for tag in tool.parameters}
        self._lexer = Lexer({*self._tools, *parameters, *THINKING, *WRAPPERS})
        self._prose = Prose()
        self._call: OpenCall | None = None
        self._announced = False
        self._thinking = False
        self._quoted = False

    def feed(self, text: str) -> Iterator[Piece]:
        """Add text; yield the pieces that are now certain."""
        for token in self._lexer.feed(text):
            yield from self._take(token)

    def finish(self, *, cut: bool) -> Iterator[Piece]:
        """Yield the last pieces. `cut`: the reply was cut off; a half tag is not shown."""
        rest = self._lexer.rest()
        unended = self._call is not None and self._call.end is None
        if rest and (unended or not any(map(str.isalpha, rest))):
            yield from self._take(rest)
        while self._call is not None:
            self._call.close(cut)
            yield from self._close(self._call, cut)
        yield from _make_words(self._prose.end(at_call=False))

    def _take(self, token: Token) -> Iterator[Piece]:
        quoted, self._quoted = self._quoted, isinstance(token, str) and token.endswith("`")
        if self._call is not None and self._opens_call(token, quoted) and self._may_be_replaced(self._call):
            yield from self._close(self._call, cut=False)
        if self._call is not None:
            yield from self._within_call(self._call, token)
        elif self._thinking:
            yield from self._within_thinking(token)
        elif isinstance(token, str) or quoted:
            yield from _make_words(self._prose.say(text_of([token])))
        else:
            yield from self._outside(token)

    def _outside(self, tag: Tag) -> Iterator[Piece]:
        if self._opens_call(tag, quoted=False):
            self._call, self._announced = OpenCall(self._tools[tag.name]), False
        elif tag.name in THINKING:
            self._thinking = not tag.closing
            yield from _make_words(self._prose.aside())
        elif tag.name not in WRAPPERS:
            yield from _make_words(self._prose.say(tag.text))

    def _within_thinking(self, token: Token) -> Iterator[Piece]:
        if isinstance(token, Tag) and token.closing and token.name in THINKING:
            self._thinking = False
        else:
            yield Thoughts(text_of([token]))

    def _within_call(self, call: OpenCall, token: Token) -> Iterator[Piece]:
        call.take(token)
        if call.is_settled:
            yield from self._close(call, cut=False)
        elif call.proven and call.end is None:
            fresh = [token] if self._announced else call.tokens
            yield from self._announce()
            yield Growing(call.tool.name, text_of(fresh))

    def _announce(self) -> Iterator[Piece]:
        """Yield the text before the call first."""
        if not self._announced:
            self._announced = True
            yield from _make_words(self._prose.end(at_call=True))

    def _close(self, call: OpenCall, cut: bool) -> Iterator[Piece]:
        """Finish the call, or turn it back to text if it was none. Tokens after its end are read again."""
        self._call = None
        if call.end is None and not call.proven and not (cut and call.is_blank):
            yield from _make_words(self._prose.say(text_of([Tag(call.tool.name), *call.tokens])))
            return
        if not self._announced:
            yield from self._announce()
            yield Growing(call.tool.name, call.body)
        yield Called(call.tool.name, call.body, whole=call.end is not None)
        for token in call.tail:
            yield from self._take(token)

    def _opens_call(self, token: Token, quoted: bool) -> bool:
        return isinstance(token, Tag) and not token.closing and token.name in self._tools and not quoted

    def _may_be_replaced(self, call: OpenCall) -> bool:
        """True if another call may begin here: this one has an end, or is not proven to be a call."""
        return call.end is not None or not call.proven


def _make_words(text: str) -> Iterator[Words]:
    if text:
        yield Words(text)
