"""Track the values of variables along a sequence of commands. A NUL in a value is an unknown part.

Only what is certain is tracked: after a branch, a loop or a command that may set variables in other ways, a value is
one of several, or unknown.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import field
from msgspec.structs import replace

from halocline.policy.shell.syntax.tree import Assignment, Block, Expansion, Node, Simple, Word, every_node, words_of
from halocline.policy.shell.syntax.words import DECLARES
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value, set_of

UNKNOWN = "\0"
MOST_VALUES = 64
LONGEST_VALUE = 4_000
Values = tuple[str, ...]
_SETTERS = DECLARES | set_of("read mapfile readarray printf unset let getopts wait shift set")
READ_INPUT = frozenset({"read", "mapfile", "readarray"})
_FORGETS = set_of("eval source . trap alias unalias enable hash builtin command exec shopt")
"""Builtins after which no value is certain, except in forms known to be harmless."""
_PLAIN = compile_later(r"-[xrg]+\Z|[A-Za-z_][A-Za-z0-9_]*(\Z|\+?=)")
NAME = compile_later(r"[A-Za-z_][A-Za-z0-9_]*")
_LIST, _BETWEEN = compile_later(r"([A-Za-z_]\w*)\+?=\((.*)\)$", re.DOTALL), compile_later(r"[\s=\[\]'\"]+")
_SET = compile_later(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=(.*)", re.DOTALL)


def is_fully_known(value: str) -> bool:
    """Return True if no part of a value is unknown."""
    return UNKNOWN not in value


def limit_values(values: Values) -> Values:
    """Return the values without repeats; of too many, or too long ones, only those that are partly known.

    Names that a search lists are partly known: they may be protected files, though no part of the text names one.
    """
    kept = tuple(dict.fromkeys(values))
    if len(kept) <= MOST_VALUES and all(len(value) <= LONGEST_VALUE for value in kept):
        return kept
    partly = [value for value in kept if not is_fully_known(value) and len(value) <= LONGEST_VALUE]
    return tuple(dict.fromkeys((*partly[: MOST_VALUES - 1], UNKNOWN)))


class Variables(Value, frozen=True):
    """The values of variables. `known` are by name; if `lost`, any other may have been set too.

    `arguments` are those of a function.
    """

    known: Mapping[str, Values] = field(default_factory=dict)
    lost: bool = False
    arguments: tuple[str, ...] | None = None

    def value(self, name: str, folders: Iterable[str], exported: tuple[str, ...]) -> Values:
        """Return the values that a variable may have."""
        if name in self.known:
            return self.known[name]
        if name.isdecimal() and self.arguments is not None and name != "0":
            return (self.arguments[int(name) - 1] if int(name) <= len(self.arguments) else "",)
        if (name.isdecimal() and name != "0") or name == "*":
            return self.known.get("@", (UNKNOWN,))
        if name == "HOME" and "HOME" not in exported:
            values: Values = (os.path.expanduser("~"),)
        else:
            values = tuple(folders) if name == "PWD" else ()
        return (*values, UNKNOWN) if self.lost or not values else values

    def with_value(self, name: str, values: Values) -> "Variables":
        return replace(self, known={**self.known, name: limit_values(values)})

    def forgotten(self) -> "Variables":
        """Return the variables after something that may have set any of them. Known values stay possible."""
        return Variables({name: _unsure(values) for name, values in self.known.items()}, True, None)

    def merge(self, other: "Variables") -> "Variables":
        """Return the variables after either of two branches."""
        if self is other:
            return self
        names = {*self.known, *other.known}
        pairs = ((name, self.known.get(name, (UNKNOWN,)), other.known.get(name, (UNKNOWN,))) for name in names)
        known = {name: limit_values((*here, *there)) for name, here, there in pairs}
        return Variables(known, self.lost or other.lost, self.arguments if self.arguments == other.arguments else None)

    def perhaps(self, names: Iterable[str], values: Values) -> "Variables":
        """Return the variables after something that may have set these names, to these values or others."""
        found = self
        for name in names:
            before = [value for value in self.known.get(name, ()) if value != UNKNOWN]
            if len(kept := tuple(dict.fromkeys((*values, *before)))) >= MOST_VALUES:
                kept = tuple(sorted(kept, key=is_fully_known))[: MOST_VALUES - 1]
            found = found.with_value(name, (*kept, UNKNOWN))
        return found

    def before_loop(self, block: Block) -> "Variables":
        """Return the variables at the start of a loop, whose later rounds see what earlier ones set, arguments too."""
        found = self.unsure_of(names_set(block))
        if any(isinstance(one, Simple) and _forgets(one) for one in every_node(block)):
            found = found.forgotten()
        simple = (node for node in every_node(block) if isinstance(node, Simple) and node.words)
        if self.arguments is None or not any(node.words[0].text in ("set", "shift") for node in simple):
            return found
        return replace(found, arguments=None).perhaps(["@"], self.arguments)

    def unsure_of(self, names: Iterable[str]) -> "Variables":
        """Return the variables after something that may have set these names."""
        found = {name: _unsure(self.known.get(name, ())) for name in names}
        return replace(self, known={**self.known, **found}) if found else self


def _unsure(values: Values) -> Values:
    return (*(value for value in values if value != UNKNOWN), UNKNOWN)


def changed_by(simple: Simple, variables: Variables, fed: Values = ()) -> Variables:
    """Return the variables after an expanded simple command. `fed` are names that it may read."""
    if not simple.words:
        for one in simple.assignments:
            variables = assign_value(one, variables)
    variables = variables.unsure_of(names_in_expansions(simple))
    name = simple.words[0].value if simple.words else ""
    if name == "time":
        timed = next((at for at, word in enumerate(simple.words) if at and word.text not in ("-p", "--")), 1)
        return changed_by(replace(simple, words=simple.words[timed:]), variables, fed)
    if _forgets(simple):
        return variables.forgotten()
    for found in map(_LIST.match, (word.source for word in simple.words[1:])) if name in DECLARES else ():
        variables = variables.perhaps([found[1]], tuple(_BETWEEN.split(found[2]))) if found else variables
    if name in DECLARES and all(_PLAIN.match(word.text) for word in simple.words[1:]):
        for word in simple.words[1:]:
            variables = _declare(word, variables)
        return variables
    if name == "shift" or (name == "set" and len(simple.words) > 1):  # any of the earlier ones and the new ones
        new = [text for word in simple.words[1:] for text in values_of(word)]
        return replace(variables, arguments=None).perhaps(["@"], (*(variables.arguments or ()), *new))
    if name in ("printf", "getopts"):
        given = tuple(text for one in simple.words[1:] for text in values_of(one))
        return variables.perhaps(_names_mentioned(simple), (*given, *fed))
    if name in READ_INPUT and fed:
        return variables.perhaps(_names_mentioned(simple), fed)
    return variables.unsure_of(_names_mentioned(simple)) if name in _SETTERS else variables


def assign_value(one: Assignment, variables: Variables) -> Variables:
    """Return the variables after one expanded assignment."""
    if one.subscript is not None or one.values is not None:
        given = [text for word in one.values or (one.value,) for text in values_of(word)]
        return variables.perhaps([one.name], tuple(given))
    values = values_of(one.value)
    if one.adds:
        before = variables.known.get(one.name, (UNKNOWN,))
        values = tuple(f"{old}{new}" for old in before for new in values)
    return variables.with_value(one.name, values)


def values_of(word: Word) -> Values:
    """Return the texts that an expanded word may be."""
    return tuple(one.text for one in word.possible) or (UNKNOWN,)


def _forgets(simple: Simple) -> bool:
    """Return True if no value is certain after a command."""
    name = simple.words[0].value if simple.words else ""
    harmless = len(simple.words) < 2 and name in ("command", "builtin", "exec", "trap", "hash")
    return name is None or (name in _FORGETS and not harmless)


def _declare(word: Word, variables: Variables) -> Variables:
    found = [_SET.fullmatch(text) for text in values_of(word)]
    if not all(found):
        return variables
    names = {one[1] for one in found if one}
    if len(names) != 1 or any(one[2] for one in found if one):
        return variables.unsure_of(names)
    return variables.with_value(names.pop(), tuple(one[3] for one in found if one))


def _names_mentioned(simple: Simple) -> list[str]:
    """Return every name among the words, and those that builtins set by default."""
    texts = [part for word in simple.words[1:] for text in values_of(word) for part in NAME.findall(text)]
    return [*texts, "REPLY", "MAPFILE", "OPTARG", "OPTIND"]


def names_in_expansions(node: Simple | Block) -> Iterator[str]:
    """Yield the variables that `${name:=value}` and arithmetic may set, in words or as a block."""
    if isinstance(node, Block) and (node.kind == "arithmetic" or node.name == "(("):
        yield from NAME.findall(node.words[0].source)
    waiting = list(words_of(node))
    while waiting:
        for part in waiting.pop().parts:
            if isinstance(part, Expansion):
                yield from [part.name] if part.operator.endswith("=") else []
                yield from NAME.findall(part.source) if part.kind == "arithmetic" else []
                waiting += [part.argument] if part.argument else []


def names_set(node: Node) -> list[str]:
    """Return the variables that a node may set, as needed for the second round of a loop."""
    names: list[str] = []
    for here in every_node(node):
        match here:
            case Simple():
                names += (one.name for one in here.assignments)
                if here.words and here.words[0].text in _SETTERS:
                    names += _names_mentioned(here)
                names += names_in_expansions(here)
            case Block():
                names += [here.name, *names_in_expansions(here)]
    return names


_EDITS = compile_later(r"\$\{\w+(?:(//?)([\w.,:@+-]+)/?([\w./,:@+-]*)|:(\d{1,4})(?::(\d{1,4}))?|,,|(\^\^))\}", re.ASCII)
"""Plain text replaced by other plain text, a part of a text, or its letters in another case."""


def edit_texts(source: str, values: Iterable[str]) -> Values:
    """Return the values that are ASCII as an expansion changes them; nothing if it is no plain edit."""
    edits = _EDITS.fullmatch(source)
    return tuple(_edit_text(one, *edits.groups("")) for one in values if one.isascii()) if edits else ()


def _edit_text(value: str, every: str, old: str, new: str, begin: str, length: str, upper: str) -> str:
    if old:
        return value.replace(old, new, 1 if every == "/" else -1)
    if begin:
        return value[int(begin) :][: int(length) if length else None]
    return value.upper() if upper else value.lower()


def use_default(operator: str, values: Values, argument: Values) -> Values:
    """Apply `${name:-argument}` and the like. Without a colon, an empty value may also mean unset."""
    kind, sees_empty = operator.lstrip(":"), operator.startswith(":")
    found: list[str] = []
    for value in values:
        is_set = value != "" and value != UNKNOWN
        maybe_set = value == UNKNOWN or (value == "" and not sees_empty)
        if kind == "+":
            found += argument if is_set or maybe_set else ()
            found += [""] if not is_set else []
            continue
        found += [value] if is_set or maybe_set else []
        found += argument if not is_set and kind in "-=" else ()
    return tuple(dict.fromkeys(found)) or (UNKNOWN,)
