"""Read words as bash does: quotes, backslashes, expansions and braces. What is not fully understood raises.

`parse` builds commands from them and provides the parser for `$(…)`. No character is skipped: each one goes into a part
of a word, or is a line continuation.
"""

import re

from halocline.policy.shell.syntax.braces import TooMany, expand_braces
from halocline.policy.shell.syntax.quotes import decode_ansi
from halocline.policy.shell.syntax.tree import Expansion, Kind, Node, Part, Piece, Word

DEEPEST = 60
EXPANDS = "its value is known only when it runs"
BRACES = "its braces expand to too many words"
ODD = "it contains a pattern that is not supported"
META = frozenset(" \t\n;&|<>()")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"[0-9]+")
_SPECIAL = frozenset("@*#?$!-0123456789")
_PLAIN_CLASS = re.compile(r"\[[!^]?[A-Za-z0-9_.\-]+\]")
_OPERATOR = re.compile(r":[-=?+]|##?|%%?|/[/#%]?|\^\^?|,,?|@[A-Za-z]|[-=?+:]")
_DEFAULTS = frozenset({":-", ":=", ":?", ":+", "-", "=", "?", "+"})
_SIMPLE = re.compile(r"[A-Za-z0-9_./,:=@%+-]+")

Unit = tuple[str, tuple[Part, ...]]


class NotUnderstood(Exception):
    """The text, or a part of it, cannot be analyzed; says why. `before` is the tree of what comes before that part."""

    before: Node | None = None


class Scanner:
    """Reads a text from start to end."""

    def __init__(self, text: str, depth: int = 0) -> None:
        if depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply")
        self._text = text
        self._at = 0
        self._depth = depth

    def commands_inside(self) -> Node:
        """Parse the commands up to a closing bracket, and the bracket."""
        raise NotImplementedError

    def commands_of(self, text: str) -> Node:
        """Parse the commands in a text between backquotes."""
        raise NotImplementedError

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

    # Words.

    def words(self, *, extended: bool = False, braces: bool = True) -> list[Word]:
        """Read the word that starts here, or the words that its braces expand to."""
        begin = self._at
        units = self._units(extended=extended)
        source = self._text[begin : self._at]
        if not braces or "{" not in source:
            return [make_word(source, units)]
        try:
            found = expand_braces(tuple(text for text, _ in units))
        except TooMany:
            return [_too_many(source, units)]
        if len(found) == 1:
            return [make_word(source, units)]
        return [self._reread("".join(one), extended=extended) for one in found if one]

    def _reread(self, text: str, *, extended: bool) -> Word:
        """Read a word produced by braces, which work on text: `$a{b,c}` is `$ab` and `$ac`."""
        scanner = type(self)(text, self._depth + 1)
        word = scanner.word(extended=extended)
        if scanner._at < len(text):
            raise NotUnderstood("its braces do not expand to plain words")
        return word

    def word(self, *, extended: bool = False) -> Word:
        """Read the word that starts here, with literal braces."""
        return self.words(extended=extended, braces=False)[0]

    def _units(self, *, extended: bool = False, end: str = "") -> list[Unit]:
        """Read the parts of a word. It ends at a blank or an operator or, with `end`, only at that character."""
        units: list[Unit] = []
        while self._at < len(self._text):
            begin, char = self._at, self._text[self._at]
            if end and char == end:
                return units
            if self._continues():
                continue
            if char in "<>" and self._peek(2)[1:] == "(" and not end:
                parts: tuple[Part, ...] = (self._process(),)
            elif extended and char in "?*+@!" and self._peek(2)[1:] == "(":
                parts = (self._read_extended_pattern(),)
            elif char in META and not end:
                return units
            elif not end and (plain := _SIMPLE.match(self._text, self._at)):
                self._at = plain.end()
                units += ((one, (Piece(one),)) for one in plain.group())
                continue
            else:
                parts = self._unit(char)
            units.append((self._text[begin : self._at], parts))
        if end:
            raise NotUnderstood("a bracket is not closed")
        return units

    def _unit(self, char: str) -> tuple[Part, ...]:
        match char:
            case "\\":
                return (self._read_escape(),)
            case "'":
                return (self._single(),)
            case '"':
                return self._double()
            case "`":
                return (self._read_backquotes(quoted=False),)
            case "$":
                return self._dollar(quoted=False)
        self._at += 1
        return (Piece(char),)

    def _read_escape(self) -> Piece:
        if self._at + 1 == len(self._text):
            self._at += 1
            return Piece("\\", quoted=True)
        self._at += 2
        return Piece(self._text[self._at - 1], quoted=True)

    def _single(self) -> Piece:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            raise NotUnderstood("a quote is not closed")
        text = self._text[self._at + 1 : end]
        self._at = end + 1
        return Piece(text, quoted=True)

    def _ansi(self) -> Piece:
        begin = self._at
        while self._at < len(self._text) and self._text[self._at] != "'":
            self._at += 2 if self._text[self._at] == "\\" else 1
        if self._at >= len(self._text):
            raise NotUnderstood("a quote is not closed")
        self._at += 1
        try:
            return Piece(decode_ansi(self._text[begin : self._at - 1]), quoted=True)
        except (ValueError, OverflowError):
            raise NotUnderstood("it contains an invalid character") from None

    def _double(self) -> tuple[Part, ...]:
        self._at += 1
        parts = self.quoted_text('"')
        self._at += 1
        return (Piece("", quoted=True), *parts)

    def quoted_text(self, end: str) -> list[Part]:
        """Read text between double quotes, or of a heredoc (which ends with the text)."""
        parts: list[Part] = []
        chars: list[str] = []
        while self._at < len(self._text) and (char := self._text[self._at]) != end:
            if char == "\\":
                if not self._continues():
                    chars.append(self._backslash(end))
            elif char in "`$":
                found = (
                    (self._read_backquotes(quoted=True, within=bool(end)),)
                    if char == "`"
                    else self._dollar(quoted=True)
                )
                parts += [Piece("".join(chars), quoted=True)] if chars else []
                chars = []
                parts += found
            else:
                chars.append(char)
                self._at += 1
        if end and self._at >= len(self._text):
            raise NotUnderstood("a quote is not closed")
        return [*parts, Piece("".join(chars), quoted=True)] if chars else parts

    def _backslash(self, end: str) -> str:
        following = self._peek(2)[1:]
        taken = following in (*"$`\\", end) and following != ""
        self._at += 2 if taken else 1
        return following if taken else "\\"

    def _read_backquotes(self, *, quoted: bool, within: bool = False) -> Expansion:
        begin = self._at
        self._at += 1
        chars: list[str] = []
        while (char := self._peek()) != "`":
            if not char:
                raise NotUnderstood("a backquote is not closed")
            if char == "\\" and self._peek(2)[1:] in ("$", "`", "\\", *('"' if within else "")):
                self._at += 1
                char = self._peek()
            chars.append(char)
            self._at += 1
        self._at += 1
        script = self.commands_of("".join(chars))
        return Expansion(Kind.COMMAND, self._text[begin : self._at], quoted, scripts=(script,))

    # Expansions.

    def _dollar(self, *, quoted: bool) -> tuple[Part, ...]:
        begin = self._at
        following = self._peek(2)[1:]
        self._at += 1
        if self._text.startswith("\\\n", self._at):
            raise NotUnderstood("an expansion continues after a backslash at the end of a line")
        if following == "(":
            return (self._read_brackets(begin, quoted=quoted),)
        if following == "{":
            return (self._parameter(begin, quoted=quoted),)
        if following == "[":
            self._at += 1
            scripts = self._arithmetic("]")
            return (Expansion(Kind.ARITHMETIC, self._text[begin : self._at], quoted, scripts=scripts),)
        if following == "'" and not quoted:
            self._at += 1
            return (self._ansi(),)
        if following == '"' and not quoted:
            return self._double()
        if name := _NAME.match(self._text, self._at):
            self._at = name.end()
            if self._text.startswith("\\\n", self._at):
                raise NotUnderstood("a name continues after a backslash at the end of a line")
            return (Expansion(Kind.VARIABLE, self._text[begin : self._at], quoted, name.group()),)
        if following in _SPECIAL and following:
            self._at += 1
            return (Expansion(Kind.VARIABLE, self._text[begin : self._at], quoted, following),)
        return (Piece("$", quoted=quoted),)

    def _read_brackets(self, begin: int, *, quoted: bool) -> Expansion:
        """Read `$((…))` or `$(…)`."""
        start = self._at
        if self._peek(2) == "((":
            self._at += 2
            try:
                scripts = self._arithmetic("))")
                return Expansion(Kind.ARITHMETIC, self._text[begin : self._at], quoted, scripts=scripts)
            except NotUnderstood:
                self._at = start
        self._at = start + 1
        script = self.commands_inside()
        return Expansion(Kind.COMMAND, self._text[begin : self._at], quoted, scripts=(script,))

    def _process(self) -> Expansion:
        begin = self._at
        self._at += 2
        script = self.commands_inside()
        return Expansion(Kind.PROCESS, self._text[begin : self._at], scripts=(script,))

    def _read_extended_pattern(self) -> Expansion:
        """Read `!(…)` and the like with their content, also nested."""
        begin = self._at
        self._at += 2
        depth, scripts = 1, list[Node]()
        while depth:
            char = self._peek()
            if not char or char == "\n":
                raise NotUnderstood("a bracket is not closed")
            depth += {"(": 1, ")": -1}.get(char, 0)
            for part in self._unit(char):
                scripts += part.scripts if isinstance(part, Expansion) else ()
        return Expansion(Kind.EXTENDED_PATTERN, self._text[begin : self._at], scripts=tuple(scripts))

    def _arithmetic(self, end: str) -> tuple[Node, ...]:
        """Read an expression to its end; return the commands inside it."""
        scripts: list[Node] = []
        depth = 0
        opened, closed = ("[", "]") if end == "]" else ("(", ")")
        while depth or not self._text.startswith(end, self._at):
            char = self._peek()
            if not char or (char == closed and not depth):
                raise NotUnderstood("a bracket is not closed")
            depth += {opened: 1, closed: -1}.get(char, 0)
            for part in self._unit(char) if not self._continues() else ():
                scripts += part.scripts if isinstance(part, Expansion) else ()
                scripts += part.argument.scripts if isinstance(part, Expansion) and part.argument else ()
        self._at += len(end)
        return tuple(scripts)

    def _parameter(self, begin: int, *, quoted: bool) -> Expansion:
        """Read `${…}`: a name, perhaps with a subscript, an operator and its argument."""
        self._at += 1
        operator = ""
        if self._peek() in ("#", "!") and self._peek(2)[1:] not in ("}", ":", "-", "=", "?", "+", "#", "%", "/", ""):
            operator = self._peek()
            self._at += 1
        name = self._parameter_name()
        scripts: tuple[Node, ...] = ()
        if self._peek() == "[":
            self._at += 1
            scripts = self._arithmetic("]")
            operator += "["
        if self._peek() == "}":
            self._at += 1
            return Expansion(Kind.VARIABLE, self._text[begin : self._at], quoted, name, operator, scripts=scripts)
        if operator.startswith("!") and self._peek(2) in ("*}", "@}"):
            self._at += 2
            return Expansion(Kind.VARIABLE, self._text[begin : self._at], quoted, name, "!*", scripts=scripts)
        found = _OPERATOR.match(self._text, self._at)
        if not found or operator.startswith("#"):
            raise NotUnderstood("it contains a form of ${…} that is not supported")
        self._at = found.end()
        argument = self._argument(found.group(), quoted=quoted)
        whole = self._text[begin : self._at]
        return Expansion(
            Kind.VARIABLE, whole, quoted, name, operator + found.group(), argument, (*scripts, *argument.scripts)
        )

    def _parameter_name(self) -> str:
        found = _NAME.match(self._text, self._at) or _NUMBER.match(self._text, self._at)
        name = found.group() if found else self._peek()
        if not found and name not in _SPECIAL:
            raise NotUnderstood("it contains a form of ${…} that is not supported")
        self._at += len(name)
        return name

    def _argument(self, operator: str, *, quoted: bool) -> Word:
        """Read the word after an operator, up to the closing brace."""
        begin = self._at
        units: list[Unit] = []
        while (char := self._peek()) != "}":
            start = self._at
            if not char:
                raise NotUnderstood("a brace is not closed")
            if self._continues():
                continue
            if quoted and char == "'" and operator not in _DEFAULTS:
                raise NotUnderstood("it nests quotes in a way that is not supported")
            if self._peek(2) in ("<(", ">(") and not quoted:
                raise NotUnderstood("it contains a form of ${…} that is not supported")
            parts = self._argument_unit(char, quoted=quoted)
            units.append((self._text[start : self._at], parts))
        source = self._text[begin : self._at]
        self._at += 1
        return make_word(source, units)

    def _argument_unit(self, char: str, *, quoted: bool) -> tuple[Part, ...]:
        if not quoted:
            return self._unit(char)
        if char == "$":
            return self._dollar(quoted=True)
        if char == "`":
            return (self._read_backquotes(quoted=True, within=True),)
        if char == '"':
            return self._double()
        if char == "\\" and self._peek(2)[1:] in ("$", "`", '"', "\\", "}"):
            return (self._read_escape(),)
        self._at += 1
        return (Piece(char, quoted=True),)


def make_word(source: str, units: list[Unit]) -> Word:
    """Build a word from its parts, with patterns marked."""
    parts, odd = _with_patterns(units)
    pieces = join_pieces([part for part in parts if isinstance(part, Piece)])
    expansions = [part for part in parts if isinstance(part, Expansion)]
    scripts = tuple(script for part in expansions for script in part.scripts)
    dynamic = EXPANDS if expansions else odd
    first = parts[0] if parts else Piece("")
    return Word(source, pieces, dynamic, isinstance(first, Piece) and first.quoted, scripts, parts=tuple(parts))


def _with_patterns(units: list[Unit]) -> tuple[list[Part], str]:
    parts: list[Part] = []
    odd, at = "", 0
    while at < len(units):
        text, found = units[at]
        at += 1
        if text in ("*", "?"):
            parts.append(Piece(text, active=True))
        elif text == "[" and (end := _class_end(units, at)):
            whole = "".join(one for one, _ in units[at - 1 : end])
            if _PLAIN_CLASS.fullmatch(whole):
                parts.append(Piece(whole, active=True))
                at = end
            else:
                odd = ODD
                parts.append(Piece("*", active=True))
                parts += (part for _, inside in units[at:end] for part in inside if isinstance(part, Expansion))
                at = end
        else:
            parts += found
    return _merge_parts(parts), odd


def _class_end(units: list[Unit], at: int) -> int:
    """Return the index after the bracket that closes a character class; 0 if none does."""
    begin = at + (at < len(units) and units[at][0] in ("!", "^"))
    for number in range(begin + 1, len(units)):
        if units[number][0] == "]":
            return number + 1
    return 0


def _merge_parts(parts: list[Part]) -> list[Part]:
    merged: list[Part] = []
    for part in parts:
        last = merged[-1] if merged else None
        match last, part:
            case Piece(), Piece() if (last.active, last.quoted) == (part.active, part.quoted):
                merged[-1] = Piece(last.text + part.text, last.active, last.quoted)
            case _:
                merged.append(part)
    return merged


def join_pieces(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Join neighbors of the same kind."""
    merged: list[Piece] = []
    for piece in pieces:
        if merged and merged[-1].active == piece.active:
            merged[-1] = Piece(merged[-1].text + piece.text, piece.active, merged[-1].quoted and piece.quoted)
        else:
            merged.append(piece)
    return tuple(merged)


def _too_many(source: str, units: list[Unit]) -> Word:
    word = make_word(source, units)
    return Word(source, word.pieces, BRACES, word.quoted, word.scripts, parts=word.parts)
