"""A place in the text of a command. What is not fully understood raises."""

from halocline.policy.shell.syntax.tree import Node

DEEPEST = 60


class NotUnderstood(Exception):
    """The text, or a part of it, cannot be analyzed; says why. `before` is the tree of what comes before that part."""

    before: Node | None = None


class Cursor:
    """A text and the place up to which it is read; `depth` counts what is nested around that place."""

    def __init__(self, text: str, depth: int = 0) -> None:
        if depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply")
        self._text = text
        self._at = 0
        self._depth = depth

    def _peek(self, length: int = 1) -> str:
        return self._text[self._at : self._at + length]

    def _require(self, text: str) -> None:
        if not self._text.startswith(text, self._at):
            raise NotUnderstood("it is not valid shell syntax")
        self._at += len(text)

    def _continues(self) -> bool:
        """Skip a line continuation; return True if there was one."""
        if self._text.startswith("\\\n", self._at):
            self._at += 2
            return True
        return False
