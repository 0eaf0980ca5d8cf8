"""From text to our tree, as bash reads it: a parser of its own, which gives up on what it does not understand wholly.

Whatever raises `NotUnderstood` is not judged harmless. What is allowed by itself runs in a form made from the tree, so
a parser that was wrong could change the meaning, not the safety.
"""

import re
from dataclasses import dataclass, replace

from halocline.policy.shell.scanner import DEEPEST, EXPANDS, NotUnderstood, Scanner, Unit, make_word
from halocline.policy.shell.tree import (
    Assignment,
    Block,
    Chain,
    Expansion,
    Kind,
    Node,
    Part,
    Piece,
    Redirect,
    Simple,
    Word,
)

__all__ = ["NotUnderstood", "parse"]

_RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|function|select|coproc|time|\[\[|\{|\}|!)(?=[\s;&|<>()]|$)"
)
_ENDERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_REDIRECT = re.compile(r"(\d*|\{[A-Za-z_]\w*\})(<<<|<<-|<<|<&|<>|<|>>|>&|>\||>)|(&>>|&>)")
_DECLARES = frozenset({"declare", "typeset", "local", "export", "readonly"})
_JOINT = re.compile(r"&&|\|\||\|&|\||&|;(?!;|&)")
_CASE_END = re.compile(r";;&|;;|;&")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FUNCTION = re.compile(r"([^\s;&|<>()$`'\"\\{}=]+)[ \t]*\([ \t]*\)")
_FUNCTION_WORD = re.compile(r"([^\s;&|<>()$`'\"\\]+)[ \t]*(\([ \t]*\))?")
_TEST_OPERATOR = re.compile(r"(&&|\|\||[()<>])")


def parse(text: str) -> Node:
    """The tree of a command line. Raises NotUnderstood."""
    if "\0" in text:
        raise NotUnderstood("it holds a NUL character, which no command can")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotUnderstood("it holds half a character") from None
    return _Parser(text).whole()


@dataclass(frozen=True, slots=True)
class _Heredoc:
    """One whose body is still to come. `at` is where it stands in the text."""

    at: int
    delimiter: str
    literal: bool
    tabs: bool


class _Parser(Scanner):
    """Reads a text twice when something in it stands behind `<<`: for that, and then with it."""

    def __init__(self, text: str, depth: int = 0) -> None:
        super().__init__(text, depth)
        self._waiting: list[_Heredoc] = []
        self._bodies: dict[int, str] = {}

    def whole(self) -> Node:
        found = self._everything()
        if self._bodies:
            self._at, self._waiting = 0, []
            found = self._everything()
        return found

    def _everything(self) -> Node:
        items: list[Node] = []
        joints: list[str] = []
        try:
            self._commands(items, joints)
            if self._at < len(self._text):
                raise NotUnderstood("the shell's grammar does not fit it")
            self._read_bodies()
        except NotUnderstood as why:
            why.before = _chain(items, joints)
            raise
        return _chain(items, joints)

    def text_behind(self) -> Word:
        """All of the text as that of a heredoc which the shell expands."""
        parts = self.quoted_text("")
        return make_word(self._text, [("", (part,)) for part in parts])

    def commands_inside(self) -> Node:
        waiting, self._waiting = self._waiting, []
        self._depth += 1
        found = self._list(bool(waiting))
        self._require(")")
        if self._waiting:
            raise NotUnderstood("a text behind << has no end")
        self._depth -= 1
        self._waiting = waiting
        return found

    def commands_of(self, text: str) -> Node:
        return _Parser(text, self._depth + 1).whole()

    def _list(self, among_heredocs: bool = False) -> Node:
        if self._depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply")
        begin = self._at
        items: list[Node] = []
        joints: list[str] = []
        self._commands(items, joints)
        if among_heredocs and "\n" in self._text[begin : self._at]:
            raise NotUnderstood("a text behind << begins inside brackets")
        return _chain(items, joints)

    def _commands(self, items: list[Node], joints: list[str]) -> None:
        """Commands and what joins them, up to what closes the list."""
        self._skip(lines=True)
        while not self._ends():
            joint = self._and_or(items, joints)
            joints.append(joint)
            if not joint:
                return
            self._skip(lines=True)

    def _and_or(self, items: list[Node], joints: list[str]) -> str:
        """Pipelines up to the end of a command; gives what ends it."""
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
                raise NotUnderstood("an operator goes on behind a backslash at the line's end")
            if found.group() in (";", "&"):
                return found.group()
            joints.append(found.group())
            self._skip(lines=True)
            if self._ends():
                raise NotUnderstood("a command is missing behind an operator")

    def _ends(self) -> bool:
        if self._at >= len(self._text) or self._text[self._at] == ")" or _CASE_END.match(self._text, self._at):
            return True
        return self._reserved() in _ENDERS

    def _reserved(self) -> str:
        found = _RESERVED.match(self._text, self._at)
        return found.group() if found else ""

    def _skip(self, *, lines: bool = False) -> None:
        """Blanks, comments and continued lines; with `lines`, ends of lines as well."""
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

    def _take(self, word: str) -> None:
        if self._reserved() != word:
            raise NotUnderstood(f"{word} is missing")
        self._at += len(word)

    # Commands.

    def _command(self) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply")
        begin = self._at
        found = self._compound(begin) or self._function(begin) or self._simple(begin)
        self._depth -= 1
        return found

    def _compound(self, begin: int) -> Node | None:
        kind = self._reserved()
        if self._peek() == "(":
            return self._round(begin)
        match kind:
            case "":
                return None
            case "time":
                return self._timed(begin)
            case "!":
                return self._negated(begin)
            case "function":
                return self._function_word(begin)
            case "coproc":
                return self._coprocess(begin)
            case "{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[":
                self._at += len(kind)
                return self._redirected(_COMPOUNDS[kind](self), begin)
        raise NotUnderstood(f"{kind} stands where a command should be")

    def _redirected(self, block: Block, begin: int) -> Block:
        redirects: list[Redirect] = []
        self._skip()
        while found := self._redirect():
            redirects.append(found)
            self._skip()
        end = self._at
        if self._peek() and self._peek() not in "\n;&|)":
            raise NotUnderstood("the shell's grammar does not fit it")
        return replace(block, source=self._text[begin:end].rstrip(), redirects=tuple(redirects))

    def _round(self, begin: int) -> Block:
        if self._peek(2) == "((":
            self._at += 2
            try:
                scripts = self._arithmetic("))")
                return self._redirected(_arithmetic_block(scripts), begin)
            except NotUnderstood:
                self._at = begin
        self._at = begin + 1
        found = self._list()
        self._require(")")
        return self._redirected(Block("subshell", "", (found,), heads=("",)), begin)

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
            head = self._reserved()
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
            scripts = self._arithmetic("))")
            self._skip()
            if self._peek() == ";":
                self._at += 1
            return Block("loop", "", (*scripts, self._body()), heads=(*("" for _ in scripts), "do"), name="((")
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
        if self._reserved() == "{":
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
        self._skip(lines=True)
        while self._reserved() != "esac":
            if self._peek() == "(":
                self._at += 1
            words += self._patterns()
            items.append(self._list())
            if found := _CASE_END.match(self._text, self._at):
                self._at = found.end()
                self._skip(lines=True)
            elif self._reserved() != "esac":
                raise NotUnderstood("esac is missing")
        self._take("esac")
        return Block("case", "", tuple(items), tuple(words), heads=("",) * len(items))

    def _patterns(self) -> list[Word]:
        found: list[Word] = []
        while True:
            self._skip()
            found.append(self._some_word(extended=True))
            self._skip()
            following = self._peek()
            if following not in ("|", ")") or not following:
                raise NotUnderstood("a pattern of case is not closed")
            self._at += 1
            if following == ")":
                return found

    def _test(self) -> Block:
        """`[[ … ]]`: its words, and its operators as they stand."""
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
        """A regular expression: brackets and bars are part of it."""
        begin, depth = self._at, 0
        units: list[Unit] = []
        while (char := self._peek()) and (depth or char not in " \t\n;&"):
            start = self._at
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth < 0 or char in "<>\n":
                raise NotUnderstood("it holds a form of =~ that is not judged")
            parts = self._unit(char)
            units.append((self._text[start : self._at], parts))
        return replace(make_word(self._text[begin : self._at], units), verbatim=True)

    def _timed(self, begin: int) -> Node:
        """`time` in front of a pipeline: a word more in front of a simple command, a block around any other."""
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

    def _negated(self, begin: int) -> Block:
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
        return Block("negation", source, (_chain(items, [*joints, ""]),), heads=("!",))

    def _coprocess(self, begin: int) -> Block:
        self._at += len("coproc")
        self._skip()
        name = _NAME.match(self._text, self._at)
        if name:
            start = self._at
            self._at = name.end()
            self._skip()
            if not (self._peek() == "(" or self._reserved() in ("{", "if", "while", "until", "for", "case", "[[")):
                self._at = start
        found = self._command()
        return Block("coproc", self._text[begin : self._at].rstrip(), (found,), heads=("",))

    def _function(self, begin: int) -> Block | None:
        found = _FUNCTION.match(self._text, self._at)
        if not found:
            return None
        self._at = found.end()
        return self._defined(found[1], begin)

    def _function_word(self, begin: int) -> Block:
        self._at += len("function")
        self._skip()
        found = _FUNCTION_WORD.match(self._text, self._at)
        if not found:
            raise NotUnderstood("a function has no name")
        self._at = found.end()
        return self._defined(found[1], begin)

    def _defined(self, name: str, begin: int) -> Block:
        self._skip(lines=True)
        start = self._at
        body = self._compound(start)
        if not isinstance(body, Block):
            raise NotUnderstood("a function has no body")
        word = Word(name, (Piece(name),))
        source = self._text[begin : self._at].rstrip()
        return Block("function", source, (body,), (word,), heads=("",), name=name)

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
            elif words and words[0].source in _DECLARES and (assignment := self._assignment()):
                words.append(_declared(assignment, self._text[before : self._at]))
            else:
                words += self._more_words()
            end = self._at
            self._skip()
        if self._peek() == "(" or not (words or assignments or redirects):
            raise NotUnderstood("the shell's grammar does not fit it")
        return Simple(self._text[begin:end], tuple(words), tuple(assignments), tuple(redirects))

    def _more_words(self) -> list[Word]:
        """The words that stand here as one. An extended pattern is one, whether or not the shell is set to know it."""
        begin = self._at
        found = self.words(extended=True)
        if self._at == begin:
            raise NotUnderstood("the shell's grammar does not fit it")
        return found

    def _some_word(self, *, extended: bool = False) -> Word:
        begin = self._at
        found = self.word(extended=extended)
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
        target = self._some_word(extended=True)
        if operator in ("<<", "<<-"):
            return self._heredoc(begin, operator, fd, target)
        if operator in (">&", "<&") and target.source == "-":
            return Redirect(f"{operator}-", fd)
        return Redirect(operator, fd, target, target.scripts)

    def _skip_blanks(self) -> None:
        while self._peek() in (" ", "\t") or self._continues():
            self._at += self._peek() in (" ", "\t")

    # Texts behind `<<`.

    def _heredoc(self, at: int, operator: str, fd: str, target: Word) -> Redirect:
        if target.dynamic or target.is_pattern or "\n" in target.source:
            raise NotUnderstood("the end of a text behind << is written in an odd way")
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
        """The lines up to the closing word, or to the end of the text."""
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


_BACKSLASH = re.compile(r"(?<!\\)(\\\\)*\\$")
_COMPOUNDS = {
    "{": _Parser._group,
    "if": _Parser._if,
    "while": _Parser._while,
    "until": _Parser._until,
    "for": _Parser._for,
    "select": _Parser._select,
    "case": _Parser._case,
    "[[": _Parser._test,
}


def _chain(items: list[Node], joints: list[str]) -> Node:
    """One command as itself, several as a chain. Of no command, one that does nothing."""
    if not items:
        return Simple("", ())
    joints = [*joints, ""][: len(items)]
    joints[-1] = "&" if joints[-1] == "&" else ""
    if len(items) == 1 and joints == [""]:
        return items[0]
    return Chain(tuple(items), tuple(joints))


def _arithmetic_block(scripts: tuple[Node, ...]) -> Block:
    return Block("arithmetic", "", scripts, heads=("",) * len(scripts))


def _declared(one: Assignment, source: str) -> Word:
    """`name=value` behind `declare` and its like: one word, whose value is neither split nor matched."""
    if one.values is not None or one.subscript is not None:
        scripts = [script for word in (*(one.values or ()), one.subscript) if word for script in word.scripts]
        return Word(source, dynamic=EXPANDS, scripts=(*one.value.scripts, *scripts))
    name = Piece(f"{one.name}{'+' if one.adds else ''}=", quoted=True)
    parts = [part for number, part in enumerate(one.value.parts) for part in _of_home(part, first=not number)]
    parts = [replace(part, quoted=True) for part in parts]
    word = one.value
    return Word(source, (name, *word.pieces), word.dynamic, False, word.scripts, parts=(name, *parts))


def _of_home(part: Part, *, first: bool) -> list[Part]:
    """A tilde in front of a value as the folder that it stands for."""
    if not first or not isinstance(part, Piece) or part.quoted or not re.match(r"~(/|$)", part.text):
        return [part]
    return [Expansion(Kind.VARIABLE, "~", name="HOME"), Piece(part.text[1:])]
