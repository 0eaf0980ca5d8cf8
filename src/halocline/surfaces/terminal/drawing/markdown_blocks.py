"""Split streamed Markdown into finished blocks.

The blocks do not depend on how the text is chunked, and no line is lost. A block is a paragraph, heading, list, fenced
code block, table or quote; only blank lines between blocks are dropped.
"""

import re
from collections.abc import Sequence
from enum import Enum, auto

_FENCE = re.compile(r"( *)(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(\1[ \t]*){2,}$")
_ITEM = re.compile(r" {0,3}([-*+]|\d{1,9}[.)])(\s|$)")
_INDENTED = re.compile(r"  |\t")


class _Open(Enum):
    """Kind of the block being read."""

    NOTHING = auto()
    FLOW = auto()
    LIST = auto()


class CodeRest(str):
    """The end of a code block whose beginning was taken while it was read."""

    __slots__ = ()


class Blocks:
    """Reads Markdown in pieces and returns each block when it is finished."""

    def __init__(self) -> None:
        self._open = _Open.NOTHING
        self._lines: list[str] = []
        self._blanks = 0
        self._fence = ""
        self._partial: list[str] = []
        self._done: list[str] = []
        self._is_taken = False

    def feed(self, text: str) -> list[str]:
        """Take the next piece and return the blocks it finished."""
        if "\n" not in text:
            self._partial.append(text)
            return []
        *lines, rest = ("".join(self._partial) + text).split("\n")
        self._partial = [rest]
        for line in lines:
            self._line(line.removesuffix("\r"))
        return self._take()

    def flush(self) -> list[str]:
        """End the text and return the remaining blocks."""
        if last := "".join(self._partial).removesuffix("\r"):
            self._line(last)
        self._partial = []
        self._finish()
        return self._take()

    def tail(self, size: int) -> str:
        """The last characters of the unfinished block, for the status line."""
        text = "".join(self._partial)
        return (text or (self._lines[-1] if self._lines else ""))[-size:]

    def unfinished(self, most: int) -> tuple[str, bool]:
        """The last lines of the unfinished block; True if they are code, without its fence."""
        is_code = bool(self._fence) and self._open is not _Open.LIST
        lines = self._lines[1:] if is_code else self._lines
        return "\n".join([*lines[-most:], "".join(self._partial)]).rstrip("\n"), is_code

    @property
    def continues_code(self) -> bool:
        """True if the unfinished block is code whose first lines were taken."""
        return self._is_taken

    def take_code(self) -> tuple[str, bool] | None:
        """Take the complete lines of an unfinished code block, as a block of their own; True if they are its first.

        Blank lines stay until a line follows. Code in lists is not taken.
        """
        if not self._fence or self._open is _Open.LIST:
            return None
        fence, *lines = self._lines
        count = max((at for at, line in enumerate(lines, 1) if line.strip()), default=0)
        if not count:
            return None
        is_first, self._is_taken = not self._is_taken, True
        self._lines = [fence, *lines[count:]]
        return "\n".join([fence, *lines[:count], self._fence]), is_first

    def _line(self, line: str) -> None:
        if self._fence:
            return self._in_fence(line)
        if not line.strip():
            return self._blank()
        if self._open is _Open.LIST and self._continues_list(line):
            return self._keep(line)
        if self._open is _Open.LIST or self._interrupts(line):
            self._finish()
        return self._begin(line) if self._open is _Open.NOTHING else self._keep(line)

    def _in_fence(self, line: str) -> None:
        self._lines.append(line)
        if line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
            self._fence = ""
            if self._open is not _Open.LIST:
                self._finish()

    def _blank(self) -> None:
        if self._open is _Open.LIST:
            self._blanks += 1
        else:
            self._finish()

    def _continues_list(self, line: str) -> bool:
        """True for items, indented lines and lazy continuations; after a blank line only for the first two."""
        if _RULE.match(line):
            return False
        if _ITEM.match(line) or _INDENTED.match(line):
            return True
        return not self._blanks and not _HEADING.match(line) and not _FENCE.match(line)

    def _interrupts(self, line: str) -> bool:
        """True if a line starts a new block without a blank line before it."""
        if _HEADING.match(line) or (_FENCE.match(line) and not line.startswith("    ")):
            return True
        return bool(_ITEM.match(line)) and not _RULE.match(line) and not self._is_underline(line)

    def _is_underline(self, line: str) -> bool:
        return self._open is _Open.FLOW and line.strip() == "-"

    def _begin(self, line: str) -> None:
        is_item = _ITEM.match(line) and not _RULE.match(line)
        self._open = _Open.LIST if is_item else _Open.FLOW
        self._keep(line)
        if _HEADING.match(line) or (_RULE.match(line) and not is_item):
            self._finish()

    def _keep(self, line: str) -> None:
        self._lines += [""] * self._blanks
        self._blanks = 0
        self._lines.append(line)
        fence = _FENCE.match(line)
        if fence and (self._open is _Open.LIST or len(fence[1]) < 4):
            self._fence = fence[2]

    def _finish(self) -> None:
        while self._lines and not self._lines[-1].strip():
            self._lines.pop()
        if self._lines:
            text = "\n".join([*self._lines, *([self._fence] if self._is_taken and self._fence else [])])
            self._done.append(CodeRest(text) if self._is_taken else text)
        self._open, self._lines, self._blanks, self._fence = _Open.NOTHING, [], 0, ""
        self._is_taken = False

    def _take(self) -> list[str]:
        done, self._done = self._done, []
        return done


def is_fenced(lines: Sequence[str]) -> bool:
    """True for the lines of a block that is code between fences."""
    fence = _FENCE.match(lines[0])
    return bool(fence and len(fence[1]) < 4 and lines[-1].strip().startswith(fence[2]))


def split_blocks(text: str) -> list[str]:
    """Split a complete text into blocks."""
    blocks = Blocks()
    return blocks.feed(text) + blocks.flush()
