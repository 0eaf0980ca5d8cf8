"""One call of the text protocol while it streams: its end is not always known at once.

A value that may contain anything (a file's content) runs to the last closing tag. So its call ends where that tag is
followed by the tool's own, and a later such end, before any other call begins, replaces it. Complete calls inside the
value are counted, and their ends are not the call's.
"""

from dataclasses import dataclass, field

from halocline.providers.text_tools.tags import WHOLE, Tag, Token, ToolTags, text_of


@dataclass(slots=True)
class OpenCall:
    """Takes the tokens after the call's opening tag.

    `proven`: a parameter was seen where one belongs, so this is a call and not a mention of a tool. `end` is the index
    of the closing tag among the tokens, as far as it is known.
    """

    tool: ToolTags
    tokens: list[Token] = field(default_factory=list)
    proven: bool = False
    end: int | None = None
    _parameter: str = ""
    _whole: str = ""
    _nested: int = 0
    _inner_end: int | None = None
    _previous: Tag | None = None
    _blank: bool = True

    @property
    def is_settled(self) -> bool:
        """True if the end can no longer move."""
        return self.end is not None and not self._whole

    @property
    def body(self) -> str:
        """The text between the tool's tags."""
        return text_of(self.tokens[: self.end])

    @property
    def tail(self) -> list[Token]:
        """The tokens after the end."""
        return [] if self.end is None else self.tokens[self.end + 1 :]

    @property
    def is_blank(self) -> bool:
        return not text_of(self.tokens).strip()

    def take(self, token: Token) -> None:
        self.tokens.append(token)
        if isinstance(token, str):
            self._blank = self._blank and token.isspace()
            return
        self._structure(token, self._previous if self._blank else None)
        self._previous, self._blank = token, True

    def close(self, cut: bool) -> None:
        """Decide on the end at the end of input. `cut`: the reply was cut off, so no end is certain."""
        if self.end is None and not cut:
            self.end = self._inner_end
        if cut and self._whole and text_of(self.tail).strip():
            self.end = None

    def _structure(self, tag: Tag, before: Tag | None) -> None:
        """Process a tag. `before` is the tag directly before it, with only blanks between."""
        here = len(self.tokens) - 1
        if self._whole and tag == Tag(self.tool.name, True) and before == Tag(self._whole, True):
            if self._nested:
                self._nested -= 1
                self._inner_end = here
            else:
                self.end = here
        elif self.end is not None:
            return
        elif not self._parameter:
            self._between(tag, here)
        elif self._parameter == self._whole:
            self._within_whole(tag, before)
        elif tag == Tag(self._parameter, True):
            self._parameter = ""

    def _between(self, tag: Tag, here: int) -> None:
        if self._opens_parameter(tag):
            self._open(tag.name)
            self.proven = self.proven or self._blank or bool(self._whole)
        elif tag == Tag(self.tool.name, True):
            self.end = here

    def _within_whole(self, tag: Tag, before: Tag | None) -> None:
        if not self._opens_parameter(tag):
            return
        if before == Tag(self.tool.name):
            self._nested += 1
        elif before == Tag(self._whole, True) and tag.name != self._whole and not self._nested:
            self._open(tag.name)

    def _open(self, name: str) -> None:
        self._parameter = name
        self._whole = name if self.tool.parameters[name] in WHOLE else self._whole

    def _opens_parameter(self, tag: Tag) -> bool:
        return not tag.closing and tag.name in self.tool.parameters
