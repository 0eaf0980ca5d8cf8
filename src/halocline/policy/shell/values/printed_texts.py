"""The texts that `echo`, `printf` and others print, and the names that a program may read in a text."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise, product, takewhile

from halocline.policy.shell.syntax.cursor import LETTERS, compile_escapes
from halocline.policy.shell.syntax.tree import Piece, Simple, Word
from halocline.policy.shell.values.variables import MOST_VALUES, UNKNOWN, Values
from halocline.protocol.patterns import compile_later

_ECHO_FLAGS = compile_later(r"-[neE]+")
_ECHO, _FORMAT, _ARGUMENT = map(compile_escapes, ("0([0-7]{0,3})", "([0-7]{1,3})", "0?([0-7]{1,3})"))
"""Escapes of `echo`, of a format of `printf`, and of an argument for `%b`: they differ in octal numbers."""
_DIRECTIVE = compile_later(r"%(?:%|[-+ #0']*(?:\*|\d+)?(?:\.(\*|\d+)?)?(\w))")
_QUOTES = compile_later(r"[\\'\"]")
_MOST = 100_000
"""Characters of a text that is looked at."""


def print_text(words: Sequence[str]) -> str:
    """Return what `echo` or `printf` prints; where shells differ about backslashes, both texts, a line each."""
    name, *rest = words
    if name.rpartition("/")[2] == "printf":
        form, *given = rest[1:] if rest[:1] == ["--"] else rest or [""]
        return _fill(form, given)
    flags = list(takewhile(_ECHO_FLAGS.fullmatch, rest))
    text = " ".join(rest[len(flags) :])[:_MOST]
    if "\\" not in text:
        return text
    return _ECHO.sub(_decode_one, text) if "e" in "".join(flags) else f"{text}\n{_ECHO.sub(_decode_one, text)}"


def part_as_read(simple: Simple, texts: Values) -> Values:
    """Return texts with their parts between the separators of `read`; of `printf -v`, what it prints."""
    words = [word.text for word in simple.words] if texts or simple.program == "printf" else []
    if words[:1] == ["printf"] and words[1:2] == ["-v"]:
        return (print_text(["printf", *words[3:]]),) if not any(word.dynamic for word in simple.words) else texts
    marks = [one.value.text for one in simple.assignments if one.name == "IFS"]
    marks += [behind if flag == "-d" else flag[2:] for flag, behind in pairwise(words) if flag.startswith("-d")]
    between = f"[{re.escape(''.join(marks))}]"
    return (*texts, *(part for text in texts for part in re.split(between, text))) if any(marks) else texts


def split_text(text: str) -> list[str]:
    """Return the lines of a text that a command reads, and the words in them: programs take one or the other.

    `xargs` and `read` also take quotes and backslashes away.
    """
    lines = [line for line in text[:_MOST].split("\n") if line]
    names = [*lines, *(word for line in lines for word in line.split())]
    return [*dict.fromkeys((*names, *(bare for name in names if (bare := _QUOTES.sub("", name)))))]


def _fill(form: str, given: Sequence[str]) -> str:
    """Fill the directives of a format; it is used again as long as arguments are left."""
    left, printed = list(given), ""

    def fill_one(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        text = left.pop(0) if left else ""
        text = _ARGUMENT.sub(_decode_one, text) if found[2] == "b" else text
        if found[2] in "sb" and (found[1] or "").isdecimal():  # bash counts bytes
            return text.encode("utf-8", "surrogateescape")[: int(found[1])].decode("utf-8", "replace")
        return text

    while len(printed) < _MOST:
        had = len(left)
        printed += _DIRECTIVE.sub(fill_one, _FORMAT.sub(_decode_one, form))
        if not left or len(left) == had:
            break
    return printed


def _decode_one(found: re.Match[str]) -> str:
    for number, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
        if (digits := found[number]) is not None:
            return chr(min(int(digits or "0", base), 0x10FFFF))
    return "" if found[6] == "c" else LETTERS.get(found[6], found[0])


NAME = "known_only_when_it_runs"


def possible_text(words: Sequence[Word]) -> str:
    """Return the texts that words together may turn out to be, one per line, to be judged as if all of them ran."""
    choices = [word.could or ((word,) if not word.dynamic else ()) for word in words]
    texts = [[_name_of(one.text) for one in some] or [f"${{{NAME}}}"] for some in choices]
    return "\n".join(" ".join(one) for one in islice(product(*texts), MOST_VALUES))


def fill_slot(word: Word, slot: str) -> Word:
    """Return a script with a variable in place of `slot`, where a name is filled in."""
    text = _name_of(word.text.replace(slot, UNKNOWN))
    return Word(shlex.quote(text), (Piece(text),)) if slot in word.text and not word.dynamic else word


def fill_names(script: str, slot: str, names: Iterable[str]) -> str:
    """Return a script once for each name, in place of `slot` or behind all words; or the names, if it is empty."""
    lines = (script.replace(slot, one) if slot in script else f"{script} {one}" for one in names)
    return "\n".join(map(_name_of, lines))


def _name_of(text: str) -> str:
    return "".join(_split_pieces(text)) if UNKNOWN in text else text


def _split_pieces(text: str) -> Iterator[str]:
    """Yield the text with a variable for each unknown part, outside single quotes."""
    quote, escaped = "", False
    for char in text:
        if char == UNKNOWN:
            yield f"'\"${{{NAME}}}\"'" if quote == "'" else f"${{{NAME}}}"
            continue
        if char in "'\"" and not escaped and quote in ("", char):
            quote = "" if quote else char
        escaped = char == "\\" and not escaped and quote != "'"
        yield char


_PLAIN_FORM = compile_later(r"([^%\\-]|%s)+")
_TEMPORARY = "/tmp/tmp.XXXXXXXXXX"
"""Stands for the new file or folder that `mktemp` creates."""


def find_output(words: Sequence[str], simple: Simple, folders: Sequence[str]) -> str | None:
    """Return what a command with these words prints in one of these folders; None if that is not known."""
    name, *rest = words
    if name == "cat" and not rest and len(simple.redirects) == 1:
        [read] = simple.redirects
        return read.target.value if read.operator[:2] == "<<" and read.fd in ("", "0") and read.target else None
    if name == "mktemp":
        return _TEMPORARY
    if simple.redirects and not all(one.fd == "2" for one in simple.redirects):
        return None
    match name:
        case "echo" if not _ECHO_FLAGS.fullmatch("".join(rest[:1])):
            return " ".join(rest)
        case "printf" if _PLAIN_FORM.fullmatch("".join(rest[:1])):
            return print_text(words)
        case "pwd" if not rest and len(folders) == 1:
            return folders[0]
        case "dirname" if len(rest) == 1 and not rest[0].startswith("-"):
            return os.path.dirname(rest[0].rstrip("/")) or ("/" if rest[0].startswith("/") else ".")
        case "basename" if len(rest) == 1 and not rest[0].startswith("-"):
            return os.path.basename(rest[0].rstrip("/")) or rest[0][:1]
        case "seq" if 1 <= len(rest) <= 2 and all(word.isdecimal() and len(word) < 4 for word in rest):
            first = int(rest[0]) if len(rest) == 2 else 1
            return "\n".join(map(str, range(first, int(rest[-1]) + 1)))
    return None
