"""Read what the shell replaces: `$name`, `${…}`, `$(…)`, `$((…))`, backquotes, `<(…)`, extended patterns, `"…"`."""

from abc import ABC, abstractmethod

from halocline.policy.shell.syntax.cursor import Cursor, NotUnderstood
from halocline.policy.shell.syntax.tree import Expansion, Kind, Node, Part, Piece, Word
from halocline.policy.shell.syntax.words import Unit, make_word
from halocline.protocol.patterns import compile_later

NAME = compile_later(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = compile_later(r"[0-9]+")
_SPECIAL = frozenset("@*#?$!-0123456789")
_OPERATOR = compile_later(r":[-=?+]|##?|%%?|/[/#%]?|\^\^?|,,?|@[A-Za-z]|[-=?+:]")
_DEFAULTS = frozenset({":-", ":=", ":?", ":+", "-", "=", "?", "+"})


class Expansions(Cursor, ABC):
    """Reads expansions and double quotes; the commands inside are read by `parse`."""

    @abstractmethod
    def commands_inside(self) -> Node:
        """Parse the commands up to a closing bracket, and the bracket."""

    @abstractmethod
    def commands_of(self, text: str) -> Node:
        """Parse the commands in a text between backquotes."""

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
            scripts = self._read_to("]")
            return (Expansion(Kind.ARITHMETIC, self._text[begin : self._at], quoted, scripts=scripts),)
        if following == "'" and not quoted:
            self._at += 1
            return (self._ansi(),)
        if following == '"' and not quoted:
            return self._double()
        if name := NAME.match(self._text, self._at):
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
                scripts = self._read_to("))")
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
        scripts = self._read_to(")")
        source = self._text[begin : self._at]
        if "\n" in source:
            raise NotUnderstood("a bracket is not closed")
        return Expansion(Kind.EXTENDED_PATTERN, source, scripts=scripts)

    def _read_to(self, end: str) -> tuple[Node, ...]:
        """Read an expression or pattern to its end; return the commands inside it."""
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
            scripts = self._read_to("]")
            operator += "["
        argument: Word | None = None
        if self._peek() == "}":
            self._at += 1
        elif operator.startswith("!") and self._peek(2) in ("*}", "@}"):
            self._at += 2
            operator = "!*"
        else:
            found = _OPERATOR.match(self._text, self._at)
            if not found or operator.startswith("#"):
                raise NotUnderstood("it contains a form of ${…} that is not supported")
            self._at = found.end()
            argument = self._argument(found.group(), quoted=quoted)
            operator, scripts = operator + found.group(), (*scripts, *argument.scripts)
        whole = self._text[begin : self._at]
        return Expansion(Kind.VARIABLE, whole, quoted, name, operator, argument, scripts)

    def _parameter_name(self) -> str:
        found = NAME.match(self._text, self._at) or _NUMBER.match(self._text, self._at)
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
                parts += [Piece("".join(chars), quoted=True)] if chars else []
                chars = []
                parts += (
                    [self._read_backquotes(quoted=True, within=bool(end))] if char == "`" else self._dollar(quoted=True)
                )
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
