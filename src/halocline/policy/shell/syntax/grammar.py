"""The parts of all compound commands, such as lists of commands between reserved words, and the loops of bash."""

import re
from abc import abstractmethod

from msgspec.structs import replace

from halocline.policy.shell.syntax.cursor import NotUnderstood
from halocline.policy.shell.syntax.expansions import NAME
from halocline.policy.shell.syntax.scanner import Scanner
from halocline.policy.shell.syntax.tree import Block, Node, Redirect, Word
from halocline.policy.shell.syntax.words import EXPANDS
from halocline.protocol.patterns import compile_later

_RESERVED = compile_later(
    r"(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|function|select|coproc|time|\[\[|\{|\}|!)"
    r"(?=[\s;&|<>()]|$)"
)
_ENDERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
CASE_END = compile_later(r";;&|;;|;&")


class Grammar(Scanner):
    """Finds reserved words and the ends of lists, and reads loops; lists and simple commands are read by `parse`."""

    @abstractmethod
    def _list(self, *, among_heredocs: bool = False) -> Node: ...

    @abstractmethod
    def _redirect(self) -> Redirect | None: ...

    @abstractmethod
    def _skip(self, *, lines: bool = False) -> None: ...

    @abstractmethod
    def _more_words(self) -> list[Word]: ...

    @abstractmethod
    def _some_word(self) -> Word: ...

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
        scripts = self._arithmetic("))")
        word = Word(self._text[begin : self._at - 2])
        return Block("arithmetic", "", scripts, (word,), heads=("",) * len(scripts))

    def _while(self, kind: str = "while") -> Block:
        test = self._list()
        self._take("do")
        body = self._list()
        self._take("done")
        return Block("loop", "", (test, body), heads=(kind, "do"))

    def _until(self) -> Block:
        return self._while("until")

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

    def _select(self) -> Block:
        self._skip()
        return self._each("select")

    def _each(self, kind: str) -> Block:
        """`NAME [in WORDS]; do …; done`."""
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
