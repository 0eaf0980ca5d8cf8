"""Build scripts that are known only in part: unknown parts become a variable with an unknown value."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product

from halocline.policy.shell.syntax.tree import Piece, Word
from halocline.policy.shell.values.variables import MOST_VALUES, UNKNOWN

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
