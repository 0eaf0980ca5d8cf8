"""Parse the compound commands of bash: blocks, conditions, loops, functions, tests."""

import re
from abc import abstractmethod
from dataclasses import replace

from halocline.policy.shell.syntax.scanner import DEEPEST, EXPANDS, NotUnderstood, Scanner, Unit, make_word
from halocline.policy.shell.syntax.tree import Block, Chain, Node, Piece, Redirect, Simple, Word

_RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|function|select|coproc|time|\[\[|\{|\}|!)"
    r"(?=[\s;&|<>()]|$)"
)
_ENDERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_CASE_END = re.compile(r";;&|;;|;&")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FUNCTION = re.compile(r"([^\s;&|<>()$`'\"\\{}=]+)[ \t]*\([ \t]*\)")
_FUNCTION_WORD = re.compile(r"([^\s;&|<>()$`'\"\\]+)[ \t]*(\([ \t]*\))?")
_TEST_OPERATOR = re.compile(r"(&&|\|\||[()<>])")


class Compounds(Scanner):
    """Reads compound commands; lists and simple commands are read by `parse`."""

    @abstractmethod
    def _list(self, *, among_heredocs: bool = False) -> Node: ...

    @abstractmethod
    def _simple(self, begin: int) -> Simple: ...

    @abstractmethod
    def _redirect(self) -> Redirect | None: ...

    @abstractmethod
    def _skip(self, *, lines: bool = False) -> None: ...

    @abstractmethod
    def _more_words(self) -> list[Word]: ...

    @abstractmethod
    def _some_word(self, *, extended: bool = False) -> Word: ...

    def _ends(self) -> bool:
        if self._at >= len(self._text) or self._text[self._at] == ")" or _CASE_END.match(self._text, self._at):
            return True
        return self._peek_reserved() in _ENDERS

    def _peek_reserved(self) -> str:
        found = _RESERVED.match(self._text, self._at)
        return found.group() if found else ""

    def _take(self, word: str) -> None:
        if self._peek_reserved() != word:
            raise NotUnderstood(f"{word} is missing")
        self._at += len(word)

    def _command(self) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply")
        begin = self._at
        found = self._compound(begin) or self._function(begin) or self._simple(begin)
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
                return self._function_word(begin)
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

    def _arithmetic_block(self) -> Block:
        """Parse an expression into a word and the commands inside it."""
        begin = self._at
        scripts = self._arithmetic("))")
        word = Word(self._text[begin : self._at - 2])
        return Block("arithmetic", "", scripts, (word,), heads=("",) * len(scripts))

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
        name = _NAME.match(self._text, self._at)
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
            if found := _CASE_END.match(self._text, self._at):
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
            found.append(self._some_word(extended=True))
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
                words.append(self._some_word(extended=True))
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
        if re.compile(r"-p(?=[\s;]|$)").match(self._text, self._at):
            self._at += 2
            words.append(Word("-p", (Piece("-p"),)))
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
        name = _NAME.match(self._text, self._at)
        if name:
            start = self._at
            self._at = name.end()
            self._skip()
            if not (self._peek() == "(" or self._peek_reserved() in ("{", "if", "while", "until", "for", "case", "[[")):
                self._at = start
        found = self._command()
        return Block("coproc", self._text[begin : self._at].rstrip(), (found,), heads=("",))

    def _function(self, begin: int) -> Block | None:
        found = _FUNCTION.match(self._text, self._at)
        if not found:
            return None
        self._at = found.end()
        return self._read_function_body(found[1], begin)

    def _function_word(self, begin: int) -> Block:
        self._at += len("function")
        self._skip()
        found = _FUNCTION_WORD.match(self._text, self._at)
        if not found:
            raise NotUnderstood("a function has no name")
        self._at = found.end()
        return self._read_function_body(found[1], begin)

    def _read_function_body(self, name: str, begin: int) -> Block:
        self._skip(lines=True)
        start = self._at
        body = self._compound(start)
        if not isinstance(body, Block):
            raise NotUnderstood("a function has no body")
        word = Word(name, (Piece(name),))
        source = self._text[begin : self._at].rstrip()
        return Block("function", source, (body,), (word,), heads=("",), name=name)


_COMPOUNDS = {
    "{": Compounds._group,
    "if": Compounds._if,
    "while": Compounds._while,
    "until": Compounds._until,
    "for": Compounds._for,
    "select": Compounds._select,
    "case": Compounds._case,
    "[[": Compounds._test,
}


def chain_of(items: list[Node], joints: list[str]) -> Node:
    """Return one command as itself, several as a chain, none as a command that does nothing."""
    if not items:
        return Simple("", ())
    joints = [*joints, ""][: len(items)]
    joints[-1] = "&" if joints[-1] == "&" else ""
    if len(items) == 1 and joints == [""]:
        return items[0]
    return Chain(tuple(items), tuple(joints))
