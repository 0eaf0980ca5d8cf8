"""From the text of a word to what bash makes of it: quotes and backslashes are taken off, patterns are kept apart."""

import re

from halocline.policy.shell.tree import Piece, Word

EXPANDS = "what it stands for is known only when it runs"
CONTINUED = "it goes on behind a backslash at the line's end"
BRACES = "braces make several words of it"
ODD = "it holds a character that the shell may read in another way"

_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,\-#!^~{}\]$]")
_PATTERN = re.compile(r"[*?]+|\[[!^]?[A-Za-z0-9_.\-]+\]")
_ONE_PAIR = re.compile(r"([\w./*=@:+-]*)\{([\w./*-]*(?:,[\w./*-]*)+)\}([\w./*-]*)")
_BRACES = re.compile(r"\{[^{}]*(,|\.\.)[^{}]*\}|\{[^}]*\{|\}[^{]*\}")
_ASSIGNED_TILDE = re.compile(r"[A-Za-z_]\w*\+?=(.*:)?~", re.ASCII)
_DOLLAR = re.compile(r"\$(?=[A-Za-z0-9_({\[!@#*?$\-'\"])")


class Dynamic(Exception):
    """A word whose value is not known; the text says why."""


def bare(text: str) -> list[Piece]:
    """A word, or a part of one, that stands outside quotes. Raises Dynamic."""
    pieces: list[Piece] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
            if at == len(text) or text[at] in "\r\n":
                raise Dynamic(CONTINUED)
            pieces.append(Piece(text[at]))
        elif found := _PATTERN.match(text, at):
            pieces.append(Piece(found.group(), active=True))
            at = found.end()
            continue
        elif char == "`" or (char == "$" and _DOLLAR.match(text, at)):
            raise Dynamic(EXPANDS)
        elif not char.isascii():
            raise Dynamic(f"it holds U+{ord(char):04X} outside quotes")
        elif not _PLAIN.match(char):
            raise Dynamic(ODD)
        else:
            pieces.append(Piece(char))
        at += 1
    return pieces


def double_quoted(text: str) -> str:
    """What stands between double quotes. Raises Dynamic."""
    said: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            if text[at + 1] in "\r\n":
                raise Dynamic(CONTINUED)
            if text[at + 1] in '$`"\\':
                at += 1
                char = text[at]
        elif char == "`" or (char == "$" and _DOLLAR.match(text, at)):
            raise Dynamic(EXPANDS)
        elif char == '"':
            raise Dynamic(ODD)
        said.append(char)
        at += 1
    return "".join(said)


def joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Neighbours of one sort as one."""
    merged: list[Piece] = []
    for piece in pieces:
        if merged and merged[-1].active == piece.active:
            merged[-1] = Piece(merged[-1].text + piece.text, piece.active)
        else:
            merged.append(piece)
    return tuple(merged)


def expanded(word: Word) -> list[Word]:
    """A word with one pair of plain braces as the words that it makes."""
    found = _ONE_PAIR.fullmatch(word.source) if word.dynamic == BRACES else None
    if not found:
        return [word]
    head, choices, tail = found.groups()
    texts = [f"{head}{choice}{tail}" for choice in choices.split(",")]
    return [Word(text, joined(bare(text))) for text in texts]


def surprise(source: str) -> str:
    """Why a whole word is not what its parts say: braces that multiply, a tilde behind an equals sign."""
    if _BRACES.search(source):
        return BRACES
    return EXPANDS if _ASSIGNED_TILDE.match(source) else ""
