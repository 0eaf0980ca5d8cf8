"""Words as they are run: each character is quoted that is not a pattern which the person or the model wrote as one."""

import os
import shlex

from halocline.policy.shell.tree import Word


def render(word: Word) -> str:
    """The word for a shell. Only for words whose value is known, or patterns."""
    text = word.text
    if word.verbatim:
        return word.source
    if not word.is_pattern:
        return shlex.quote(home_of(word))
    said = "".join(
        piece.text if piece.active else (shlex.quote(piece.text) if piece.text else "") for piece in word.pieces
    )
    if text.startswith("~") and not word.quoted:
        head, _, rest = said.strip("'").partition("/")
        return shlex.quote(os.path.expanduser(head)) + "/" + rest
    return said


def home_of(word: Word) -> str:
    """The text of a word, with an unquoted tilde in front as the folder it stands for."""
    return os.path.expanduser(word.text) if word.text.startswith("~") and not word.quoted else word.text
