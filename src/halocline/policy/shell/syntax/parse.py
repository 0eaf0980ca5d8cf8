"""Parse text into our tree as bash reads it. The parser gives up on whatever it does not fully understand.

What raises `NotUnderstood` is never judged harmless. What is allowed on its own runs in a form made from the tree, so a
mistake of the parser can change the meaning, not the safety.
"""

from functools import lru_cache

from halocline.policy.shell.syntax.compounds import Compounds
from halocline.policy.shell.syntax.cursor import DEEPEST, NotUnderstood
from halocline.policy.shell.syntax.tree import Node, chain_of
from halocline.protocol.patterns import compile_later

__all__ = ["NotUnderstood", "parse_command"]

_REMEMBERED = 64
"""Texts whose trees are kept: a command is judged again before it runs, and models repeat themselves."""
_JOINT = compile_later(r"&&|\|\||\|&|\||&|;(?!;|&)")


@lru_cache(_REMEMBERED)
def parse_command(text: str) -> Node:
    """Return the tree of a command line. Raises NotUnderstood."""
    if "\0" in text:
        raise NotUnderstood("it contains a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotUnderstood("it contains half of a surrogate pair") from None
    return _Parser(text).whole()


class _Parser(Compounds):
    """Parses a text; twice if it has heredocs: first to collect their bodies, then with them."""

    def whole(self) -> Node:
        depth = self._depth
        try:
            found = self._everything()
        except NotUnderstood:
            if not self._bodies:
                raise
        if self._bodies:
            self._at, self._waiting, self._depth = 0, [], depth
            found = self._everything()
        return found

    def _everything(self) -> Node:
        items: list[Node] = []
        joints: list[str] = []
        try:
            self._commands(items, joints)
            if self._at < len(self._text):
                raise NotUnderstood("it is not valid shell syntax")
            self._read_bodies()
        except NotUnderstood as why:
            why.before = chain_of(items, joints)
            raise
        return chain_of(items, joints)

    def commands_inside(self) -> Node:
        waiting, self._waiting = self._waiting, []
        self._depth += 1
        found = self._list(among_heredocs=bool(waiting))
        self._require(")")
        if self._waiting:
            raise NotUnderstood("a heredoc is not closed")
        self._depth -= 1
        self._waiting = waiting
        return found

    def commands_of(self, text: str) -> Node:
        return _Parser(text, self._depth + 1).whole()

    def _list(self, *, among_heredocs: bool = False) -> Node:
        if self._depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply")
        begin = self._at
        items: list[Node] = []
        joints: list[str] = []
        self._commands(items, joints)
        if among_heredocs and "\n" in self._text[begin : self._at]:
            raise NotUnderstood("a heredoc starts inside brackets")
        return chain_of(items, joints)

    def _commands(self, items: list[Node], joints: list[str]) -> None:
        """Parse commands and their joints up to what closes the list."""
        self._skip(lines=True)
        while not self._ends():
            joint = self._and_or(items, joints)
            joints.append(joint)
            if not joint:
                return
            self._skip(lines=True)

    def _and_or(self, items: list[Node], joints: list[str]) -> str:
        """Parse pipelines up to the end of a command; return what ends it."""
        while True:
            items.append(self._command())
            self._skip()
            if self._peek() == "\n":
                self._newline()
                return "\n"
            found = _JOINT.match(self._text, self._at)
            if not found:
                return ""
            self._at = found.end()
            if self._text.startswith("\\\n", self._at) and self._text[self._at + 2 : self._at + 3] in ("&", "|", ";"):
                raise NotUnderstood("an operator continues after a backslash at the end of a line")
            if found.group() in (";", "&"):
                return found.group()
            joints.append(found.group())
            self._skip(lines=True)
            if self._ends():
                raise NotUnderstood("a command is missing after an operator")
