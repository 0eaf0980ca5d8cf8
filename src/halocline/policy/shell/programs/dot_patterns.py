"""Rewrite patterns that match the parent folder in some shells: `.*` matches `..` in bash before 5.2."""

from fnmatch import fnmatchcase
from itertools import groupby

from halocline.policy.shell.programs.specs import Unlisted
from halocline.policy.shell.syntax.tree import Piece, Word

_Chars = list[tuple[str, bool]]


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
