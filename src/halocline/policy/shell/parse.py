"""From text to our tree, by tree-sitter's grammar of bash. Whatever is not understood wholly raises `NotUnderstood`.

The parser may be wrong about a text; so what is allowed by itself runs in a form made from this tree, not as the text.
Between two parts of a command only blanks may stand: text that the parser skipped is text that nobody judged.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

from halocline.policy.shell.tree import Block, Chain, Node, Piece, Redirect, Simple, Word
from halocline.policy.shell.words import EXPANDS, Dynamic, bare, double_quoted, expanded, joined, surprise

if TYPE_CHECKING:
    from tree_sitter import Node as Raw, Parser

DEEPEST = 60
_JOINTS = frozenset({"&&", "||", "|", "|&", ";", "&", "\n", ";;"})
_BLOCKS = {
    "subshell": "subshell",
    "compound_statement": "group",
    "negated_command": "negation",
    "for_statement": "loop",
    "c_style_for_statement": "loop",
    "while_statement": "loop",
    "if_statement": "condition",
    "case_statement": "case",
    "function_definition": "function",
    "test_command": "test",
}
_INSIDE = frozenset({"do_group", "elif_clause", "else_clause", "case_item", "array", "subscript"})
_TOKENS = frozenset({"comment", "heredoc_start", "heredoc_end", "heredoc_content", "file_descriptor", "variable_name"})
_STATEMENTS = frozenset(
    {"command", "list", "pipeline", "redirected_statement", "variable_assignment", "variable_assignments"}
    | {"declaration_command", "unset_command", *_BLOCKS}
)
_BLANK = b" \t"
_ASCII = bytes(range(128)) + b"x" * 128
"""Beyond ASCII all bytes are letters to bash. The parser takes some for blanks, and reads beyond a table for others."""
_TEST = re.compile(r"\[ (-[fdesrwxLhzn]) ([\w./@+][\w./@+-]*) \]")


class NotUnderstood(Exception):
    """The text, or a part of it, cannot be analysed; says why."""


def parse(text: str) -> Node:
    """The tree of a command line. Raises NotUnderstood."""
    if "\0" in text:
        raise NotUnderstood("it holds a NUL character, which no command can")
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise NotUnderstood("it holds half a character") from None
    root = _parser().parse(data.translate(_ASCII)).root_node
    if root.has_error:
        raise NotUnderstood("the shell's grammar does not fit it")
    return _Reader(data).chain(root, 0)


@cache
def _parser() -> "Parser":
    from tree_sitter import Language, Parser
    from tree_sitter_bash import language

    return Parser(Language(language()))


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def _text(self, begin: int, end: int) -> str:
        return self._data[begin:end].decode()

    def _source(self, raw: "Raw") -> str:
        return self._text(raw.start_byte, raw.end_byte)

    def _gap(self, begin: int, end: int, allowed: bytes = _BLANK) -> None:
        if self._data[begin:end].strip(allowed):
            raise NotUnderstood("a part of it was not understood")

    def node(self, raw: "Raw", depth: int) -> Node:
        if depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply")
        match raw.type:
            case "command":
                return self._command(raw, depth)
            case "list" | "pipeline":
                return self.chain(raw, depth)
            case "redirected_statement":
                return self._redirected(raw, depth)
            case "variable_assignment" | "variable_assignments":
                return self._assignments(raw, depth)
            case "declaration_command" | "unset_command":
                return self._declaration(raw, depth)
            case "test_command" if found := _TEST.fullmatch(self._source(raw)):
                words = ("test", *found.groups())
                return Simple(self._source(raw), tuple(Word(text, (Piece(text),)) for text in words))
            case kind if kind in _BLOCKS:
                return self._block(raw, depth)
        raise NotUnderstood(f"it holds a form that is not judged ({raw.type.replace('_', ' ')})")

    def chain(self, raw: "Raw", depth: int) -> Node:
        """A program, list or pipeline, flattened as far as it is one line of thought."""
        items: list[Node] = []
        joints: list[str] = []
        at = raw.start_byte
        for child in raw.children:
            self._gap(at, child.start_byte, b" \t\n")
            at = max(at, child.end_byte)
            if child.type == "comment":
                continue
            if child.type in _JOINTS:
                self._join(joints, child.type, len(items))
                continue
            if len(joints) < len(items):
                joints.append("\n")
            found = self.node(child, depth + 1)
            if isinstance(found, Chain) and child.type != "pipeline":
                items += found.items
                joints += found.joints[:-1]
            else:
                items.append(found)
        self._gap(at, raw.end_byte, b" \t\n")
        joints += [""] * (len(items) - len(joints))
        if len(items) == 1 and joints == [""]:
            return items[0]
        return Chain(tuple(items), tuple(joints))

    def _join(self, joints: list[str], kind: str, count: int) -> None:
        if len(joints) == count:
            if kind == "\n" or not count:  # a pipeline may begin behind the heredoc that feeds it
                return
            raise NotUnderstood("an operator stands where a command should be")
        joints.append("\n" if kind == "\n" else kind)

    def _command(self, raw: "Raw", depth: int) -> Simple:
        words: list[Word] = []
        assignments: list[tuple[str, Word]] = []
        redirects: list[Redirect] = []
        at = raw.start_byte
        for child in raw.children:
            self._gap(at, child.start_byte)
            if words and at == child.start_byte and not child.type.endswith("_redirect"):
                raise NotUnderstood("two words stand without a blank between them")
            at = child.end_byte
            if child.type == "variable_assignment":
                assignments.append(self._assignment(child, depth))
            elif child.type.endswith("_redirect"):
                redirects.append(self._redirect(child, depth))
            elif child.type == "command_name":
                words.append(self.word(child.children[0], depth))
            else:
                words += expanded(self.word(child, depth))
        return Simple(self._source(raw), tuple(words), tuple(assignments), tuple(redirects))

    def _redirected(self, raw: "Raw", depth: int) -> Node:
        body: Node | None = None
        redirects: list[Redirect] = []
        at = raw.start_byte
        for child in raw.children:
            self._gap(at, child.start_byte)
            at = child.end_byte
            if child.type.endswith("_redirect"):
                redirects.append(self._redirect(child, depth))
            elif body is None and child.type in _STATEMENTS:
                body = self.node(child, depth + 1)
            else:
                raise NotUnderstood(f"it holds a form that is not judged ({child.type.replace('_', ' ')})")
        match body:
            case None:
                return Simple(self._source(raw), (), (), tuple(redirects))
            case Simple():
                return Simple(self._source(raw), body.words, body.assignments, (*body.redirects, *redirects))
            case Block():
                return Block(body.kind, self._source(raw), body.items, body.words, (*body.redirects, *redirects))
        return _on_last(body, tuple(redirects), self._source(raw))

    def _redirect(self, raw: "Raw", depth: int) -> Redirect:
        operator, fd, body = "", "", ""
        target: Word | None = None
        scripts: list[Node] = []
        for child in raw.children:
            if child.type == "file_descriptor":
                fd = self._source(child)
            elif not child.is_named and not operator:
                operator = child.type
            elif raw.type == "heredoc_redirect":
                if child.type == "heredoc_body":
                    body = self._source(child)
                scripts += self._scripts(child, depth + 1)
            elif target is None:
                target = self.word(child, depth)
                if target.source.isdecimal() and self._data[child.end_byte : child.end_byte + 1] in (b"<", b">"):
                    raise NotUnderstood("a number stands between two redirections")
            else:
                raise NotUnderstood("a redirection has more than one target")
        return Redirect(operator or raw.type, fd, target, tuple(scripts), body)

    def _assignment(self, raw: "Raw", depth: int) -> tuple[str, Word]:
        name, *rest = raw.children
        values = [child for child in rest if child.type not in ("=", "+=")]
        if name.type != "variable_name" or len(values) > 1:
            return "", Word(self._source(raw), dynamic=EXPANDS, scripts=self._scripts(raw, depth + 1))
        value = self.word(values[0], depth) if values else Word("")
        if any(child.type == "+=" for child in rest):
            value = Word(value.source, dynamic=EXPANDS, scripts=value.scripts)
        return self._source(name), value

    def _assignments(self, raw: "Raw", depth: int) -> Simple:
        children = [raw] if raw.type == "variable_assignment" else raw.children
        return Simple(self._source(raw), (), tuple(self._assignment(child, depth) for child in children))

    def _declaration(self, raw: "Raw", depth: int) -> Simple:
        words: list[Word] = []
        for child in raw.children:
            if child.type == "variable_assignment":
                source = self._source(child)
                words.append(Word(source, dynamic=EXPANDS, scripts=self._scripts(child, depth + 1)))
            elif child.is_named and child.type != "variable_name":
                words.append(self.word(child, depth))
            else:
                words.append(Word(self._source(child), (Piece(self._source(child)),)))
        return Simple(self._source(raw), tuple(words))

    def _block(self, raw: "Raw", depth: int) -> Block:
        items: list[Node] = []
        words: list[Word] = []
        self._gather(raw, depth, items, words)
        return Block(_BLOCKS[raw.type], self._source(raw), tuple(items), tuple(words))

    def _gather(self, raw: "Raw", depth: int, items: list[Node], words: list[Word]) -> None:
        """The commands and the words of a block, in order."""
        if depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply")
        for child in raw.named_children:
            if child.type in _STATEMENTS:
                items.append(self.node(child, depth + 1))
            elif child.type in _INSIDE or child.type.endswith("_expression"):
                self._gather(child, depth + 1, items, words)
            elif child.type not in _TOKENS and child.type != "test_operator":
                words.append(self.word(child, depth))

    def _scripts(self, raw: "Raw", depth: int) -> tuple[Node, ...]:
        """Commands anywhere below: those of substitutions, heredocs, arrays."""
        if depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply")
        if raw.type in _STATEMENTS and raw.type not in ("variable_assignment", "variable_assignments"):
            return (self.node(raw, depth + 1),)
        found: tuple[Node, ...] = ()
        for child in raw.named_children:
            found += self._scripts(child, depth + 1)
        return found

    def word(self, raw: "Raw", depth: int) -> Word:
        source = self._source(raw)
        parts = raw.children if raw.type == "concatenation" else [raw]
        pieces: list[Piece] = []
        try:
            at = raw.start_byte
            for part in parts:
                if part.start_byte != at:
                    raise NotUnderstood("a part of a word was not understood")
                at = part.end_byte
                pieces += self._pieces(part)
            if why := surprise(source):
                raise Dynamic(why)
        except Dynamic as why_not:
            known = joined(pieces)
            return Word(source, known, str(why_not), source[:1] in "'\"", self._scripts(raw, depth + 1))
        return Word(source, joined(pieces), "", source[:1] in "'\"\\")

    def _pieces(self, part: "Raw") -> list[Piece]:
        """What a part of a word gives. Raises Dynamic."""
        text = self._source(part)
        match part.type:
            case "word" | "number" | "variable_name" | "extglob_pattern" | "regex" if not part.named_children:
                return bare(text)
            case "$" if text == "$":
                return [Piece("$")]
            case "raw_string":
                return [Piece(text[1:-1])]
            case "string" if all(child.type in ('"', "string_content", "$") for child in part.children):
                return [Piece(double_quoted(text[1:-1]))]
        raise Dynamic(EXPANDS)


def _on_last(chain: Chain, redirects: tuple[Redirect, ...], source: str) -> Node:
    """`a | b > f` may come as a redirected list; the redirection is the last command's."""
    *before, last = chain.items
    if isinstance(last, Simple):
        last = Simple(f"{last.source} …", last.words, last.assignments, (*last.redirects, *redirects))
    elif isinstance(last, Block):
        last = Block(last.kind, source, last.items, last.words, (*last.redirects, *redirects))
    else:
        return Chain((*before, _on_last(last, redirects, source)), chain.joints)
    return Chain((*before, last), chain.joints)
