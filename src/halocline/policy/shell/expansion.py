"""Expand words as the shell would, as far as that is known: tildes, variables, splitting, and simple commands.

A known word becomes the words that a program gets. Any other stays one word, with the words that it could become.
"""

import os
import re
from collections.abc import Iterable
from fnmatch import translate
from itertools import islice, product
from math import prod

from msgspec.structs import replace

from halocline.policy.shell.listed_names import names_printed
from halocline.policy.shell.syntax.tree import Assignment, Expansion, Kind, Node, Piece, Redirect, Simple, Word, render
from halocline.policy.shell.syntax.words import EXPANDS, join_pieces
from halocline.policy.shell.values.ground import Ground
from halocline.policy.shell.values.kept_places import INSIDE
from halocline.policy.shell.values.printed_texts import find_output
from halocline.policy.shell.values.variables import MOST_VALUES, UNKNOWN, Values, assign_value, edit_texts, use_default
from halocline.protocol.patterns import compile_later

_PATTERN = compile_later(r"[*?]+|\[[!^]?[A-Za-z0-9_.\-]+\]")
_BLANK = compile_later(r"[ \t\n]+")
_TILDE = compile_later(r"~([A-Za-z0-9_.+-]*)(?=/|$)")
_ODD_TILDE = compile_later(r"[=:]~|^~[^/]*:")
_LONGEST_TRIMMED = 300
_EVERYTHING = (["$@"], ["$*"])


def expand_simple(simple: Simple, ground: Ground) -> Simple:
    """Return a simple command with its words, assignments and redirections expanded."""
    words = tuple(found for word in simple.words for found in expand_word(word, ground))
    assignments = []
    for one in simple.assignments:
        value = expand_value(one.value, ground) if one.values is None else one.value
        elements = (made for word in one.values or () for made in expand_word(word, ground))
        values = None if one.values is None else with_names(elements, ground)
        expanded = Assignment(one.name, value, one.adds, one.subscript, values)
        assignments.append(expanded)
        ground = ground.with_variables(assign_value(expanded, ground.variables))
    redirects = tuple(expand_redirect(one, ground) for one in simple.redirects)
    return Simple(simple.source, words, tuple(assignments), redirects)


def with_names(words: Iterable[Word], ground: Ground) -> tuple[Word, ...]:
    """Return expanded words with patterns replaced by the names they match, as far as those are known."""
    found: list[Word] = []
    for one in words:
        names = ground.names(one) if one.is_pattern else None
        found += [_known_word((Piece(name, quoted=True),), one) for name in names] if names else [one]
    return tuple(found)


def expand_word(word: Word, ground: Ground) -> list[Word]:
    """Return the words that one word expands to."""
    if word.verbatim or not word.parts:
        return [word]
    fast = len(word.parts) == 1 and isinstance(word.parts[0], Piece) and word.parts[0].text[:1] != "~"
    if fast and not word.dynamic and not _reads_oddly(word):
        return [_known_word(word.pieces, word)]
    if (arguments := _all_arguments(word, ground)) is not None:
        return [_known_word((Piece(text, quoted=True),), word) for text in arguments]
    alternatives = _list_alternatives(word.parts, ground)
    fields = [_split_fields(one, ground) for one in alternatives]
    certain = len(fields) == 1 and not any(map(_is_unknown, fields[0]))
    if certain and not _reads_oddly(word) and word.dynamic in ("", EXPANDS):
        return [_known_word(one, word) for one in fields[0]]
    fields += [_split_unknown(one, ground) for one in alternatives]
    could = tuple(dict.fromkeys(_known_word(one, word) for some in fields for one in some))
    return [replace(word, dynamic=word.dynamic or EXPANDS, could=could)]


def _all_arguments(word: Word, ground: Ground) -> tuple[str, ...] | None:
    """Return a function's arguments for a word that is `$@` or `$*` alone; None for any other."""
    expansions = [part.source for part in word.parts if isinstance(part, Expansion)]
    alone = not any(part.text for part in word.parts if isinstance(part, Piece))
    return ground.variables.arguments if alone and expansions in _EVERYTHING else None


def expand_value(word: Word, ground: Ground) -> Word:
    """Expand the value of an assignment or a heredoc: one word, without splitting or globbing."""
    texts = _join_alternatives(word, ground, assigned_tilde=True)
    could = tuple(_known_word((Piece(text, quoted=True),), word) for text in texts)
    if len(could) == 1 and UNKNOWN not in could[0].text and word.dynamic in ("", EXPANDS):
        return could[0]
    return replace(word, dynamic=word.dynamic or EXPANDS, could=could)


def expand_redirect(redirect: Redirect, ground: Ground) -> Redirect:
    """Return a redirection with its target expanded; for a heredoc, with the text that the program reads."""
    if redirect.target is None:
        return redirect
    if redirect.operator in ("<<", "<<-"):
        value = expand_value(redirect.target, ground)
        return replace(redirect, target=value, body=redirect.body if value.dynamic else value.text)
    if redirect.operator == "<<<":
        return replace(redirect, target=expand_value(redirect.target, ground))
    found = expand_word(redirect.target, ground)
    target = found[0] if len(found) == 1 else replace(redirect.target, dynamic=EXPANDS, could=tuple(found))
    return replace(redirect, target=target)


def _reads_oddly(word: Word) -> bool:
    """Return True for a bare `$` after an expansion, or a tilde after `=` or before a colon: special cases of bash."""
    bare = "".join(part.text for part in word.parts if isinstance(part, Piece) and not part.quoted)
    if "~" in bare and _ODD_TILDE.search(bare):
        return True
    return "$" in bare and any(isinstance(part, Expansion) for part in word.parts)


def _known_word(pieces: tuple[Piece, ...], word: Word) -> Word:
    """Return a word made of pieces. Its source is its plainest spelling, so that no quoting hides what it is."""
    kept = join_pieces(list(pieces))
    found = Word("", kept, quoted="".join(piece.text for piece in kept[:1]).startswith("~"), parts=kept)
    return replace(found, source=render(found), scripts=word.scripts)


def _is_unknown(pieces: tuple[Piece, ...]) -> bool:
    return any(UNKNOWN in piece.text for piece in pieces)


def _list_alternatives(
    parts: tuple[Piece | Expansion, ...], ground: Ground, *, assigned_tilde: bool = False
) -> list[tuple[Piece, ...]]:
    choices: list[list[tuple[Piece, ...]]] = []
    for number, part in enumerate(parts):
        if isinstance(part, Expansion):
            # `active` and `quoted` together mark a value as unquoted, to be split later.
            values = _values_of_part(part, ground)
            choices.append([(Piece(value, active=not part.quoted, quoted=True),) for value in values])
        elif not number and not part.quoted and part.text.startswith("~"):
            whole = len(parts) == 1 or "/" in part.text
            choices.append([(one,) for one in _expand_tilde(part, ground)] if whole else [(part,)])
        elif assigned_tilde and not part.quoted and ":~" in part.text:
            choices.append([(Piece(UNKNOWN),)])
        else:
            choices.append([(part,)])
    if prod(max(1, len(some)) for some in choices) > MOST_VALUES:
        unknown: tuple[Piece, ...] = (Piece(UNKNOWN),)
        choices = [some if len(some) == 1 else [*islice(filter(_is_unknown, some), 1), unknown] for some in choices]
    return [tuple(piece for some in one for piece in some) for one in product(*choices)]


def _expand_tilde(part: Piece, ground: Ground) -> list[Piece]:
    found = _TILDE.match(part.text)
    if not found:
        return [replace(part, quoted=True)]
    match found[1]:
        case "":
            values = ground.value("HOME")
        case "+":
            values = ground.value("PWD")
        case "-":
            values = ground.value("OLDPWD")
        case name if name.lstrip("+-").isdecimal():
            values = (*(one for some in ground.stack for one in some), UNKNOWN)
        case name:
            values = (os.path.expanduser(f"~{name}"),)
    return [Piece(value + part.text[found.end() :], quoted=True) for value in values]


def _split_fields(pieces: tuple[Piece, ...], ground: Ground) -> list[tuple[Piece, ...]]:
    """Split one possible result into fields."""
    fields: list[list[Piece]] = []
    begun = False
    for piece in pieces:
        if not (piece.active and piece.quoted):
            fields = fields if begun else [*fields, []]
            fields[-1].append(piece)
            begun = True
            continue
        texts = _BLANK.split(piece.text) if not ground.splits_oddly else [UNKNOWN]
        for number, text in enumerate(texts):
            begun = begun and not number
            if text:
                fields = fields if begun else [*fields, []]
                fields[-1] += _find_patterns(text)
                begun = True
    return [tuple(one) for one in fields]


def _split_unknown(pieces: tuple[Piece, ...], ground: Ground) -> list[tuple[Piece, ...]]:
    """Return further fields of a result whose splitting is unknown: names apart from what stands before and after them.

    A list of names is more than one field: only the first has the text before it.
    """
    split = [piece for piece in pieces if piece.active and piece.quoted]
    if ground.splits_oddly:
        return [tuple(_find_patterns(piece.text)) for piece in split]
    names = [piece for piece in split if UNKNOWN in piece.text and piece.text != UNKNOWN]
    return [tuple(_find_patterns(piece.text)) for piece in names] if len(pieces) > 1 else []


def _find_patterns(text: str) -> list[Piece]:
    """Return the text of an unquoted variable with its patterns marked."""
    found, at = list[Piece](), 0
    for one in _PATTERN.finditer(text):
        found += [Piece(text[at : one.start()]), Piece(one.group(), active=True)]
        at = one.end()
    return [piece for piece in (*found, Piece(text[at:])) if piece.text]


def _values_of_part(part: Expansion, ground: Ground) -> Values:
    match part.kind:
        case Kind.VARIABLE:
            return _values_of_variable(part, ground)
        case Kind.COMMAND:
            return _outputs_of(part.scripts[0], ground) if part.scripts else (UNKNOWN,)
        case Kind.EXTENDED_PATTERN:
            return ("*",)
        case Kind.BRACES if part.argument:
            within = (one for one in part.argument.parts if isinstance(one, Expansion))
            return tuple(dict.fromkeys((UNKNOWN, *(value for one in within for value in _values_of_part(one, ground)))))
    return (UNKNOWN,)


def _values_of_variable(part: Expansion, ground: Ground) -> Values:
    values, operator = ground.value(part.name), part.operator
    if not operator:
        return values
    if operator == "#" and part.argument is None:
        return tuple(str(len(value)) if UNKNOWN not in value else UNKNOWN for value in values)
    if operator == "!":
        return tuple(dict.fromkeys((*(one for name in values for one in ground.value(name)), UNKNOWN)))
    # A part that is not known may be nothing.
    edited = edit_texts(part.source, (value.replace(UNKNOWN, "") or value for value in values))
    if len(edited) == len(values) and UNKNOWN not in "".join(values) and not ground.variables.lost:
        return edited
    if operator[0] in "![#" and operator not in ("#", "##", "["):
        return (UNKNOWN,)
    if part.argument:
        argument = _join_alternatives(part.argument, ground)
        if operator.lstrip(":") in ("-", "=", "?", "+"):
            return use_default(operator, values, argument)
        if operator in ("#", "##", "%", "%%") and len(argument) == 1:
            found = tuple(_trim_value(value, operator, part.argument, argument[0]) for value in values)
            return found if UNKNOWN not in found else tuple(dict.fromkeys((*values, *found)))
        if operator[0] == "/":
            values = (*values, *(text.partition("/")[2] for text in argument))
    return tuple(dict.fromkeys((*edited, *values, UNKNOWN)))  # an operator may leave a value as it is


def _join_alternatives(word: Word, ground: Ground, *, assigned_tilde: bool = False) -> Values:
    """Return the texts that a word may be if it is not split."""
    found = _list_alternatives(word.parts, ground, assigned_tilde=assigned_tilde)
    return tuple("".join(piece.text for piece in one) for one in found)


def _trim_value(value: str, operator: str, pattern: Word, text: str) -> str:
    """Return a value without what a pattern matches at its start or end; unknown if that is not certain."""
    if UNKNOWN in value + text or len(value) > _LONGEST_TRIMMED or any(isinstance(p, Expansion) for p in pattern.parts):
        return UNKNOWN
    plain = "".join(one.text if one.active else re.sub(r"([*?\[])", r"[\1]", one.text) for one in pattern.pieces)
    matches = re.compile(translate(plain)).match
    cuts = range(len(value) + 1)
    order = reversed(cuts) if operator in ("%", "##") else cuts
    if operator[0] == "%":
        return next((value[:cut] for cut in order if matches(value[cut:])), value)
    return next((value[cut:] for cut in order if matches(value[:cut])), value)


def _outputs_of(script: Node, ground: Ground) -> Values:
    """Return the outputs that a command may have, without trailing newlines; a NUL is an unknown one."""
    simple = expand_simple(script, ground) if isinstance(script, Simple) else Simple("", ())
    values = [word.value for word in simple.words]
    known = values and None not in values and not simple.assignments
    found = find_output([str(value) for value in values], simple, ground.folders) if known else None
    if found is None:
        names = names_printed((script,), ground, expand_simple)
        return (*(name for name in names if name not in (UNKNOWN, INSIDE)), UNKNOWN)
    # If names may run other programs, or `echo` may interpret backslashes, this is still the likeliest output, and
    # what it leads to must not be missed.
    read = values[0] == "echo" and "\\" in found
    sure = not (read or ground.rebinds or ground.variables.lost)
    return (found.rstrip("\n"),) if sure else (found.rstrip("\n"), UNKNOWN)
