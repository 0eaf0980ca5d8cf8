"""Tell the flags of a program from its operands, and require each flag to be in the program's table.

Patterns that match the parent folder in some shells are rewritten: `.*` matches `..` in bash before 5.2.
"""

from fnmatch import fnmatchcase
from itertools import groupby
from shlex import quote

from halocline.policy.shell.programs.specs import Given, Spec, Unlisted, Value, read_letters, read_long_flags
from halocline.policy.shell.syntax.tree import Piece, Word

_Chars = list[tuple[str, bool]]


def sort_words(spec: Spec, words: tuple[Word, ...]) -> Given:
    """Tell flags from operands, and require all flags to be in the tables. Raises Unlisted."""
    given, rest = Given(), list(words)
    shown = frozenset(spec.flags)
    while rest:
        word = rest.pop(0)
        if word.dynamic:
            raise Unlisted(f"{word.source}: {word.dynamic}")
        text = word.text
        is_text = spec.prints and not (len(text) > 1 and text[0] == "-" and shown >= {*text[1:]})
        if (spec.in_front and given.operands) or is_text:
            given.add_operands(word, *rest)
            break
        if text == "--" and spec.ends:
            given.split = len(given.operands)
            given.order.append("--")
            given.add_operands(*rest)
            break
        if text.startswith("-") and len(text) > 1 and spec.single:
            _sort_single(spec, given, text, rest)
        elif text.startswith("--"):
            _sort_long(spec, given, text, rest)
        elif text.startswith("-") and len(text) > 1:
            _sort_short(spec, given, text, rest)
        else:
            given.add_operands(word)
    return given


def _sort_long(spec: Spec, given: Given, text: str, rest: list[Word]) -> None:
    name, equals, attached = text[2:].partition("=")
    flag = f"--{name}"
    long = read_long_flags(spec.words)
    if name not in long:
        raise Unlisted(f"the flag {flag} is not known to be harmless")
    given.names.append(flag)
    value = long[name]
    if value is None and equals:
        raise Unlisted(f"the flag {flag} takes no value")
    if value is None or (value.optional and not equals and not (value.at_end and rest)):
        given.add_flag(flag)
        return
    if value.named and equals:
        raise Unlisted(f"the flag {flag} takes two values")
    name_of_value = (quote(_next(rest, flag)),) if value.named else ()
    found = attached if equals else _next(rest, flag)
    _note(given, flag, value, found)
    if value.named or name in spec.apart.split():
        given.add_flag(flag, *name_of_value, quote(found))
    else:
        given.add_flag(f"{flag}={quote(found)}")


def _sort_single(spec: Spec, given: Given, text: str, rest: list[Word]) -> None:
    """Sort a flag of one dash and several letters, as in `find` and `go`."""
    name, equals, attached = text.lstrip("-").partition("=")
    long, dashes = read_long_flags(spec.words), text[: len(text) - len(text.lstrip("-"))]
    value = long.get(name)
    if name not in long or (equals and (value is None or not spec.glue)):
        raise Unlisted(f"the flag {text} is not known to be harmless")
    given.names.append(f"-{name}")
    if value is None or (value.optional and not equals):
        given.add_flag(text)
        return
    found = attached if equals else _next(rest, text)
    _note(given, text, value, found)
    if spec.glue:
        given.add_flag(f"{dashes}{name}{spec.glue}{quote(found)}")
        return
    if found.startswith("-") and value.kind not in ("number", "size", "age", "mode"):
        raise Unlisted(f"the value of {text} starts like a flag")
    given.add_flag(f"{dashes}{name}", quote(found))


def _sort_short(spec: Spec, given: Given, text: str, rest: list[Word]) -> None:
    if spec.numbers and text[1:].isdecimal():
        given.add_flag(text)
        return
    for at, letter in enumerate(text[1:], 2):
        flag = f"-{letter}"
        value = read_letters(spec.valued).get(letter)
        if value is None and letter not in spec.flags:
            raise Unlisted(f"the flag {flag} is not known to be harmless")
        given.names.append(flag)
        if value is None or (value.optional and not text[at:]):
            given.add_flag(dict(spec.renamed).get(flag, flag))
            continue
        found = text[at:] or _next(rest, flag)
        _note(given, flag, value, found)
        apart = letter in spec.apart.split()
        if apart and not found.startswith("-"):
            given.add_flag(flag, quote(found))
        elif apart or not found:
            raise Unlisted(f"the value of {flag} is empty or starts like a flag")
        else:
            given.add_flag(f"{flag}{spec.glue}{quote(found)}")
        return


def _next(rest: list[Word], flag: str) -> str:
    """Return the value of a flag from the next word. Raises Unlisted."""
    if not rest:
        raise Unlisted(f"the flag {flag} needs a value")
    word = rest.pop(0)
    if word.checked:
        raise Unlisted(f"{word.source}: the value of a flag is known only when it runs")
    if word.value is None:
        raise Unlisted(f"{word.source}: {word.dynamic or 'a flag takes no pattern as its value'}")
    return word.text


def _note(given: Given, flag: str, value: Value, text: str) -> None:
    if not value.fits(text):
        expected = f"one of {value.kind.replace('|', ', ')}" if "|" in value.kind else f"a {value.kind}"
        raise Unlisted(f"the value of {flag} is not {expected}")
    given.add_value(value, text)


def without_parents(word: Word) -> Word:
    """Return the word with `.*` rewritten to never match `.` or `..`. Raises Unlisted for other such patterns."""
    if not word.is_pattern:
        return word
    chars = [(char, piece.active) for piece in word.pieces for char in piece.text]
    kept: _Chars = []
    for is_slash, group in groupby(chars, key=lambda char: char[0] == "/"):
        part = list(group)
        kept += part if is_slash else _without_parent(part, word)
    runs = groupby(kept, key=lambda char: char[1])
    pieces = tuple(Piece("".join(char for char, _ in run), active) for active, run in runs)
    return Word(word.source, pieces, word.dynamic, word.quoted, word.scripts, word.verbatim)


def _without_parent(part: _Chars, word: Word) -> _Chars:
    pattern = "".join(char if active else f"[{char}]" for char, active in part)
    if part[0] != (".", False) or not any(active for _, active in part):
        return part
    if not any(fnmatchcase(name, pattern) for name in (".", "..")):
        return part
    if part[1:] != [("*", True)]:
        raise Unlisted(f"{word.source} may match the parent folder; write .[!.]*")
    return [part[0], *((char, True) for char in "[!.]*")]
