"""The tags of the text protocol, and a lexer that finds them in a stream. Pure.

Only known tags are tags; every other `<` is text. The tags do not depend on how the text is split, no character is
lost, and each is read once: only a possible start of a tag waits for the next piece.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from halocline.ports.tool import PROGRESS, ToolSpec
from halocline.protocol.values import JsonObject

WHOLE = frozenset({"content", "diff", "old_text", "new_text"})
"""Parameters whose value may be any text, including the protocol's own tags: the last closing tag ends them."""

THINKING = frozenset({"think", "thinking"})
WRAPPERS = frozenset({"function_call", "function_calls", "tool_call", "tool_calls", "tool_use"})
"""Tags that weak models put around calls. They are dropped."""


class Tag(NamedTuple):
    """`<name>`, or `</name>` when closing."""

    name: str
    closing: bool = False

    @property
    def text(self) -> str:
        return f"</{self.name}>" if self.closing else f"<{self.name}>"


Token = str | Tag


def text_of(tokens: Iterable[Token]) -> str:
    """Return the tokens as the original text."""
    return "".join(token if isinstance(token, str) else token.text for token in tokens)


@dataclass(frozen=True, slots=True)
class ToolTags:
    """One tool as markup: `parameters` maps each tag to its parameter, `fields` each parameter to its schema.

    `openings` matches the opening tag of any parameter.
    """

    name: str
    parameters: Mapping[str, str]
    fields: Mapping[str, JsonObject]
    required: Sequence[str]
    openings: re.Pattern[str]

    @classmethod
    def of(cls, spec: ToolSpec) -> "ToolTags":
        fields = {PROGRESS: {"type": "string"}, **spec.schema.get("properties", {})}
        parameters = spec.aliases | {name: name for name in fields}
        return cls(spec.name, parameters, fields, spec.schema.get("required", ()), _any_of(map(Tag, parameters)))


def tags_of(tools: Iterable[ToolSpec]) -> dict[str, ToolTags]:
    """Index the tools by name."""
    return {spec.name: ToolTags.of(spec) for spec in tools}


class Lexer:
    """Splits a stream into text and tags with one of `names`."""

    def __init__(self, names: Iterable[str]) -> None:
        kinds = [Tag(name, closing) for name in names for closing in (False, True)]
        tags = [tag.text for tag in kinds]
        self._pattern = _any_of(kinds)
        self._beginnings = {tag[:size] for tag in tags for size in range(1, len(tag))}
        self._longest = max(map(len, tags), default=0)
        self._held = ""

    def feed(self, text: str) -> list[Token]:
        """Add text; return the tokens that are now certain."""
        text = self._held + text
        tokens: list[Token] = []
        done = 0
        for found in self._pattern.finditer(text):
            if found.start() > done:
                tokens.append(text[done : found.start()])
            name = found[0][1:-1]
            tokens.append(Tag(name.removeprefix("/"), name.startswith("/")))
            done = found.end()
        self._held = self._suspect(text, done)
        if rest := text[done : len(text) - len(self._held)]:
            tokens.append(rest)
        return tokens

    def rest(self) -> str:
        """Return the text still held back, at the end of input."""
        rest, self._held = self._held, ""
        return rest

    def _suspect(self, text: str, done: int) -> str:
        """Return the end of the text if a tag may begin there."""
        at = text.rfind("<", max(done, len(text) - self._longest))
        return text[at:] if at >= 0 and text[at:] in self._beginnings else ""


def _any_of(tags: Iterable[Tag]) -> re.Pattern[str]:
    # Without tags the pattern must match nowhere, not everywhere.
    return re.compile("|".join(re.escape(tag.text) for tag in tags) or "(?!)")
