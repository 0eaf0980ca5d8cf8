"""Simple commands, the loops of bash, and the parts of all compound commands, such as their reserved words."""

import re
from abc import abstractmethod

from msgspec.structs import replace

from halocline.policy.shell.syntax.cursor import NotUnderstood
from halocline.policy.shell.syntax.expansions import NAME
from halocline.policy.shell.syntax.scanner import Scanner
from halocline.policy.shell.syntax.tree import Assignment, Block, Node, Redirect, Simple, Word
from halocline.policy.shell.syntax.words import DECLARES, EXPANDS, make_declared_word
from halocline.protocol.patterns import compile_later

_RESERVED = compile_later(
    r"(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|function|select|coproc|time|\[\[|\{|\}|!)"
    r"(?=[\s;&|<>()]|$)"
)
_ASSIGNED = compile_later(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_ENDERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
CASE_END = compile_later(r";;&|;;|;&")


class Grammar(Scanner):
    """Finds reserved words and the ends of lists, and reads simple commands and loops; lists are read by `parse`."""

    @abstractmethod
    def _list(self, *, among_heredocs: bool = False) -> Node: ...

    def _ends(self) -> bool:
        if self._at >= len(self._text) or self._text[self._at] == ")" or CASE_END.match(self._text, self._at):
            return True
        return self._peek_reserved() in _ENDERS

    def _peek_reserved(self) -> str:
        found = _RESERVED.match(self._text, self._at)
        return found.group() if found else ""

    def _take(self, word: str) -> None:
        if self._peek_reserved() != word:
            raise NotUnderstood(f"{word} is missing")
        self._at += len(word)

    def _arithmetic_block(self) -> Block:
        """Parse an expression into a word and the commands inside it."""
        begin = self._at
        scripts = self._read_to("))")
        word = Word(self._text[begin : self._at - 2])
        return Block("arithmetic", "", scripts, (word,), heads=("",) * len(scripts))

    def _while(self, kind: str = "while") -> Block:
        test = self._list()
        self._take("do")
        body = self._list()
        self._take("done")
        return Block("loop", "", (test, body), heads=(kind, "do"))

    def _for(self) -> Block:
        self._skip()
        if self._peek(2) == "((":
            self._at += 2
            head = self._arithmetic_block()
            self._skip()
            if self._peek() == ";":
                self._at += 1
            return replace(head, kind="loop", items=(*head.items, self._body()), heads=(*head.heads, "do"), name="((")
        return self._each("loop")

    def _each(self, kind: str) -> Block:
        """`NAME [in WORDS]; do …; done`."""
        self._skip()
        name = NAME.match(self._text, self._at)
        if not name:
            raise NotUnderstood("a loop has no variable")
        self._at = name.end()
        self._skip(lines=True)
        words: list[Word] | None = None
        if re.compile(r"in(?=[\s;]|$)").match(self._text, self._at):
            self._at += 2
            words = []
            self._skip()
            while self._peek() not in (";", "\n", ""):
                words += self._more_words()
                self._skip()
        if self._peek() == ";":
            self._at += 1
        body = self._body()
        everything = (Word('"$@"', dynamic=EXPANDS),) if words is None else tuple(words)
        return Block(kind, "", (body,), everything, heads=("do",), name=name.group())

    def _body(self) -> Node:
        self._skip(lines=True)
        if self._peek_reserved() == "{":
            self._take("{")
            found = self._list()
            self._take("}")
            return found
        self._take("do")
        found = self._list()
        self._take("done")
        return found

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
                scripts = self._read_to("]")
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
