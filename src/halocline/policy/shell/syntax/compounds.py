"""Parse the compound commands of bash: groups, conditions, `case`, tests, functions; loops are in `grammar`."""

import re
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from halocline.policy.shell.syntax.cursor import DEEPEST, NotUnderstood
from halocline.policy.shell.syntax.expansions import NAME
from halocline.policy.shell.syntax.grammar import CASE_END, Grammar
from halocline.policy.shell.syntax.tree import Block, Node, Piece, Redirect, Simple, Word, chain_of
from halocline.policy.shell.syntax.words import Unit, make_word
from halocline.protocol.patterns import compile_later

_FUNCTION = compile_later(r"([^\s;&|<>()$`'\"\\{}=]+)[ \t]*\([ \t]*\)")
_FUNCTION_WORD = compile_later(r"([^\s;&|<>()$`'\"\\]+)[ \t]*(\([ \t]*\))?")
_TEST_OPERATOR = compile_later(r"(&&|\|\||[()<>])")


class Compounds(Grammar):
    """Reads compound commands."""

    def _command(self) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply")
        begin = self._at
        found = self._compound(begin) or self._function(begin, _FUNCTION) or self._simple(begin)
        self._depth -= 1
        return found

    def _compound(self, begin: int) -> Node | None:
        kind = self._peek_reserved()
        if self._peek() == "(":
            return self._round(begin)
        match kind:
            case "":
                return None
            case "time":
                return self._read_time(begin)
            case "!":
                return self._read_negation(begin)
            case "function":
                self._at += len(kind)
                self._skip()
                if found := self._function(begin, _FUNCTION_WORD):
                    return found
            case "coproc":
                return self._coprocess(begin)
            case "{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[":
                self._at += len(kind)
                return self._read_redirects(_COMPOUNDS[kind](self), begin)
        raise NotUnderstood(f"{kind} appears where a command should be")

    def _read_redirects(self, block: Block, begin: int) -> Block:
        redirects: list[Redirect] = []
        self._skip()
        while found := self._redirect():
            redirects.append(found)
            self._skip()
        end = self._at
        if self._peek() and self._peek() not in "\n;&|)":
            raise NotUnderstood("it is not valid shell syntax")
        return replace(block, source=self._text[begin:end].rstrip(), redirects=tuple(redirects))

    def _round(self, begin: int) -> Block:
        if self._peek(2) == "((":
            self._at += 2
            try:
                return self._read_redirects(self._arithmetic_block(), begin)
            except NotUnderstood:
                self._at = begin
        self._at = begin + 1
        found = self._list()
        self._require(")")
        return self._read_redirects(Block("subshell", "", (found,), heads=("",)), begin)

    def _group(self) -> Block:
        found = self._list()
        self._take("}")
        return Block("group", "", (found,), heads=("",))

    def _if(self) -> Block:
        items: list[Node] = []
        heads: list[str] = []
        head = "if"
        while head != "fi":
            heads.append(head)
            items.append(self._list())
            if head in ("if", "elif"):
                self._take("then")
                heads.append("then")
                items.append(self._list())
            head = self._peek_reserved()
            if head not in ("elif", "else", "fi") or (heads[-1] == "else" and head != "fi"):
                raise NotUnderstood("fi is missing")
            self._at += len(head)
        return Block("condition", "", tuple(items), heads=tuple(heads))

    def _case(self) -> Block:
        self._skip()
        words = self._more_words()
        self._skip(lines=True)
        if self._peek(2) != "in":
            raise NotUnderstood("in is missing")
        self._at += 2
        items: list[Node] = []
        heads: list[str] = []
        self._skip(lines=True)
        while self._peek_reserved() != "esac":
            if self._peek() == "(":
                self._at += 1
            words += (patterns := self._patterns())
            items.append(self._list())
            falls = self._peek(3).startswith((";&", ";;&"))
            heads.append("" if falls or len(words) <= len(patterns) else str(len(patterns)))
            if found := CASE_END.match(self._text, self._at):
                self._at = found.end()
                self._skip(lines=True)
            elif self._peek_reserved() != "esac":
                raise NotUnderstood("esac is missing")
        self._take("esac")
        return Block("case", "", tuple(items), tuple(words), heads=tuple(heads))

    def _patterns(self) -> list[Word]:
        found: list[Word] = []
        while True:
            self._skip()
            found.append(self._some_word())
            self._skip()
            following = self._peek()
            if following not in ("|", ")") or not following:
                raise NotUnderstood("a case pattern is not closed")
            self._at += 1
            if following == ")":
                return found

    def _test(self) -> Block:
        """Parse `[[ … ]]`: its words, and its operators verbatim."""
        words: list[Word] = []
        self._skip(lines=True)
        while not re.compile(r"\]\](?=[\s;&|<>()]|$)").match(self._text, self._at):
            if self._at >= len(self._text):
                raise NotUnderstood("]] is missing")
            if found := _TEST_OPERATOR.match(self._text, self._at):
                self._at = found.end()
                words.append(Word(found.group(), (Piece(found.group()),), verbatim=True))
            elif words and words[-1].source == "=~":
                words.append(self._regex())
            else:
                words.append(self._some_word())
            self._skip(lines=True)
        self._at += 2
        return Block("test", "", (), tuple(words))

    def _regex(self) -> Word:
        """Parse a regular expression, which may contain brackets and bars."""
        begin, depth = self._at, 0
        units: list[Unit] = []
        while (char := self._peek()) and (depth or char not in " \t\n;&"):
            start = self._at
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth < 0 or char in "<>\n":
                raise NotUnderstood("it contains a form of =~ that is not supported")
            parts = self._unit(char)
            units.append((self._text[start : self._at], parts))
        return replace(make_word(self._text[begin : self._at], units), verbatim=True)

    def _read_time(self, begin: int) -> Node:
        """Parse `time` before a pipeline: an extra word of a simple command, a block around any other."""
        self._at += len("time")
        word = Word("time", (Piece("time"),))
        words = [word]
        self._skip()
        for flag in ("-p", "--"):
            if re.compile(rf"{flag}(?=[\s;]|$)").match(self._text, self._at):
                self._at += 2
                words.append(Word(flag, (Piece(flag),)))
                self._skip()
        if self._ends() or self._peek() in "\n;&|":
            return Simple(self._text[begin : self._at].rstrip(), tuple(words))
        found = self._command()
        if isinstance(found, Simple) and found.words and not found.assignments:
            return replace(found, source=self._text[begin : self._at].rstrip(), words=(*words, *found.words))
        return Block("time", self._text[begin : self._at].rstrip(), (found,), heads=("",))

    def _read_negation(self, begin: int) -> Block:
        self._at += 1
        self._skip()
        items: list[Node] = []
        joints: list[str] = []
        while True:
            items.append(self._command())
            self._skip()
            found = re.compile(r"\|&?(?!\|)").match(self._text, self._at)
            if not found:
                break
            self._at = found.end()
            joints.append(found.group())
            self._skip(lines=True)
        source = self._text[begin : self._at].rstrip()
        return Block("negation", source, (chain_of(items, [*joints, ""]),), heads=("!",))

    def _coprocess(self, begin: int) -> Block:
        self._at += len("coproc")
        self._skip()
        name = NAME.match(self._text, self._at)
        if name:
            start = self._at
            self._at = name.end()
            self._skip()
            if not (self._peek() == "(" or self._peek_reserved() in ("{", "if", "while", "until", "for", "case", "[[")):
                self._at = start
        found = self._command()
        return Block("coproc", self._text[begin : self._at].rstrip(), (found,), heads=("",))

    def _function(self, begin: int, head: re.Pattern[str]) -> Block | None:
        found = head.match(self._text, self._at)
        if not found:
            return None
        self._at = found.end()
        self._skip(lines=True)
        body = self._compound(self._at)
        if not isinstance(body, Block):
            raise NotUnderstood("a function has no body")
        name = found[1]
        word = Word(name, (Piece(name),))
        source = self._text[begin : self._at].rstrip()
        return Block("function", source, (body,), (word,), heads=("",), name=name)


_COMPOUNDS: dict[str, Callable[[Compounds], Block]] = {
    "{": Compounds._group,
    "if": Compounds._if,
    "while": Compounds._while,
    "until": partial(Compounds._while, kind="until"),
    "for": Compounds._for,
    "select": partial(Compounds._each, kind="select"),
    "case": Compounds._case,
    "[[": Compounds._test,
}
