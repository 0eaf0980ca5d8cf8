"""The first prompt: the arguments, and the text on standard input."""

import sys

from halocline.protocol.errors import UsageError
from halocline.protocol.messages import PIPED, Note, UserPart
from halocline.surfaces.cli.stderr import print_message

STDIN_WAIT = 2.0
"""Seconds to wait for the first byte on standard input when there is also a prompt."""
SILENT = f"No input on standard input within {STDIN_WAIT:g} s; it is ignored."
NOT_SILENT = "To skip the wait: </dev/null. For a slow program, write its output to a file, then: halo … <FILE"


def prompt_text(words: list[str], *, needed: bool) -> tuple[str, tuple[UserPart, ...]]:
    """Return the prompt, and piped text as a note, in which mentions do not count. Without words it is the prompt.

    Without words, a prompt that is `needed` is waited for. Raises UsageError for input that is not UTF-8.
    """
    prompt = _check_text(" ".join(words))
    prompt = prompt if prompt.strip() else ""
    piped = "" if sys.stdin is None or sys.stdin.isatty() else _read_pipe(patient=needed and not words).strip()
    if not prompt or not piped:
        return prompt or piped, ()
    return prompt, (Note(piped, PIPED),)


def _check_text(prompt: str) -> str:
    """Refuse bytes that are not UTF-8: they arrive as lone surrogates, which the log cannot hold."""
    try:
        prompt.encode()
    except UnicodeEncodeError as error:
        raise UsageError("The prompt is not UTF-8 text.", "Retype it, or pipe it in from a UTF-8 file.") from error
    return prompt


def _read_pipe(*, patient: bool) -> str:
    import select

    if not patient and not select.select([sys.stdin], [], [], STDIN_WAIT)[0]:
        print_message(SILENT, NOT_SILENT)
        return ""
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"Standard input is not UTF-8 text: {error}.", "Pipe text, or name the file in the prompt."
        ) from error
