"""Render words as they are run: everything is quoted except patterns that were written as patterns."""

import os
import shlex

from halocline.policy.shell.syntax.tree import Word


def render(word: Word) -> str:
    """Return a word for the shell. Its value must be known, or it must be a pattern."""
    text = word.text
    if word.verbatim:
        return word.source
    if not word.is_pattern:
        return shlex.quote(home_of(word))
    shown = "".join(
        piece.text if piece.active else (shlex.quote(piece.text) if piece.text else "") for piece in word.pieces
    )
    if text.startswith("~") and not word.quoted:
        head, _, rest = shown.strip("'").partition("/")
        return shlex.quote(os.path.expanduser(head)) + "/" + rest
    return shown


def home_of(word: Word) -> str:
    """Return the text of a word with a leading unquoted tilde expanded."""
    return os.path.expanduser(word.text) if word.text.startswith("~") and not word.quoted else word.text
