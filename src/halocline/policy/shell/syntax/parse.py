"""Parse text into our tree as bash reads it. The parser gives up on whatever it does not fully understand.

What raises `NotUnderstood` is never judged harmless. What is allowed on its own runs in a form made from the tree, so a
mistake of the parser can change the meaning, not the safety.
"""

import re

from halocline.policy.shell.syntax.compounds import Compounds
from halocline.policy.shell.syntax.cursor import DEEPEST, NotUnderstood
from halocline.policy.shell.syntax.tree import Assignment, Node, Piece, Redirect, Simple, Word, chain_of
from halocline.policy.shell.syntax.words import DECLARES, EXPANDS, make_declared_word, make_word
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

__all__ = ["NotUnderstood", "parse_command"]

_ASSIGNED = compile_later(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_REDIRECT = compile_later(r"(\d*|\{[A-Za-z_]\w*\})(<<<|<<-|<<|<&|<>|<|>>|>&|>\||>)|(&>>|&>)")
_BACKSLASH = compile_later(r"(?<!\\)(\\\\)*\\$")
_JOINT = compile_later(r"&&|\|\||\|&|\||&|;(?!;|&)")


def parse_command(text: str) -> Node:
    """Return the tree of a command line. Raises NotUnderstood."""
    if "\0" in text:
        raise NotUnderstood("it contains a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotUnderstood("it contains half of a surrogate pair") from None
    return _Parser(text).whole()


class _Heredoc(Value, frozen=True):
    """A heredoc whose body is still to come. `at` is its position in the text."""

    at: int
    delimiter: str
    literal: bool
    tabs: bool


class _Parser(Compounds):
    """Parses a text; twice if it has heredocs: first to collect their bodies, then with them."""

    def __init__(self, text: str, depth: int = 0) -> None:
        super().__init__(text, depth)
        self._waiting: list[_Heredoc] = []
        self._bodies: dict[int, str] = {}

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

    def text_behind(self) -> Word:
        """Parse the whole text as that of a heredoc with expansions."""
        parts = self.quoted_text("")
        return make_word(self._text, [("", (part,)) for part in parts])

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

    def _skip(self, *, lines: bool = False) -> None:
        """Skip blanks, comments and line continuations; with `lines`, newlines too."""
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in " \t":
                self._at += 1
            elif char == "\n" and lines:
                self._newline()
            elif char == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            elif not self._continues():
                return

    def _newline(self) -> None:
        self._require("\n")
        self._read_bodies()

    # Simple commands.

    def _simple(self, begin: int) -> Simple:
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        end = begin
        while self._at < len(self._text):
            before = self._at
            if redirect := self._redirect():
                redirects.append(redirect)
            elif self._text[self._at] in "\n;&|()":
                break
            elif not words and (assignment := self._assignment()):
                assignments.append(assignment)
            elif words and words[0].source in DECLARES and (assignment := self._assignment()):
                words.append(make_declared_word(assignment, self._text[before : self._at]))
            else:
                words += self._more_words()
            end = self._at
            self._skip()
        if self._peek() == "(" or not (words or assignments or redirects):
            raise NotUnderstood("it is not valid shell syntax")
        return Simple(self._text[begin:end], tuple(words), tuple(assignments), tuple(redirects))

    def _more_words(self) -> list[Word]:
        """Parse the words written here as one."""
        begin = self._at
        found = self.words()
        if self._at == begin:
            raise NotUnderstood("it is not valid shell syntax")
        return found

    def _some_word(self) -> Word:
        begin = self._at
        found = self.word(extended=True)
        if self._at == begin:
            raise NotUnderstood("a word is missing")
        return found

    def _assignment(self) -> Assignment | None:
        begin = self._at
        found = _ASSIGNED.match(self._text, self._at)
        if not found:
            return None
        self._at = found.end()
        subscript: Word | None = None
        operator = found[2]
        if operator == "[":
            try:
                scripts = self._arithmetic("]")
            except NotUnderstood:
                scripts = ()
            rest = re.compile(r"\+?=").match(self._text, self._at)
            if not rest:
                self._at = begin
                return None
            subscript = Word(self._text[found.end() - 1 : self._at], dynamic=EXPANDS, scripts=scripts)
            operator = rest.group()
            self._at = rest.end()
        if self._peek() == "(":
            return Assignment(found[1], Word("", dynamic=EXPANDS), operator == "+=", subscript, self._array())
        return Assignment(found[1], self.word(), operator == "+=", subscript)

    def _array(self) -> tuple[Word, ...]:
        self._require("(")
        found: list[Word] = []
        self._skip(lines=True)
        while self._peek() != ")":
            found += self._more_words()
            self._skip(lines=True)
        self._at += 1
        return tuple(found)

    def _redirect(self) -> Redirect | None:
        found = _REDIRECT.match(self._text, self._at)
        if not found or (found[2] in ("<", ">") and self._text[found.end(2) : found.end(2) + 1] == "("):
            return None
        begin, self._at = self._at, found.end()
        operator, fd = found[2] or found[3], found[1] or ""
        self._skip_blanks()
        target = self._some_word()
        if operator in ("<<", "<<-"):
            return self._heredoc(begin, operator, fd, target)
        if operator in (">&", "<&") and target.source == "-":
            return Redirect(f"{operator}-", fd)
        return Redirect(operator, fd, target, target.scripts)

    def _skip_blanks(self) -> None:
        while self._peek() in (" ", "\t") or self._continues():
            self._at += self._peek() in (" ", "\t")

    # Heredocs.

    def _heredoc(self, at: int, operator: str, fd: str, target: Word) -> Redirect:
        if target.dynamic or target.is_pattern or "\n" in target.source:
            raise NotUnderstood("the end marker of a heredoc is written in an unusual way")
        literal = any(char in target.source for char in "'\"\\")
        self._waiting.append(_Heredoc(at, target.text, literal, operator == "<<-"))
        body = self._bodies.get(at, "")
        if literal:
            word = Word(body, (Piece(body, quoted=True),), quoted=True, parts=(Piece(body, quoted=True),))
        else:
            word = _Parser(body, self._depth + 1).text_behind()
        return Redirect(operator, fd, word, word.scripts, body)

    def _read_bodies(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            self._bodies[one.at] = self._body_of(one)

    def _body_of(self, one: _Heredoc) -> str:
        """Read the lines up to the closing word, or to the end of the text."""
        lines: list[str] = []
        while self._at < len(self._text):
            line = self._line()
            while not one.literal and _BACKSLASH.search(line) and self._at < len(self._text):
                line = line[:-1] + self._line()
            line = line.lstrip("\t") if one.tabs else line
            if line == one.delimiter:
                break
            lines.append(f"{line}\n")
        return "".join(lines)

    def _line(self) -> str:
        end = self._text.find("\n", self._at)
        end = len(self._text) if end < 0 else end
        line = self._text[self._at : end]
        self._at = min(end + 1, len(self._text))
        return line
