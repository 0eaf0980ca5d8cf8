"""The prompt of a call: its words, and the text that is piped in."""

import sys

from halocline.protocol.errors import UsageError
from halocline.protocol.messages import PIPED, Note, UserPart
from halocline.surfaces.cli.stderr import print_message

STDIN_WAIT = 2.0
"""Seconds to wait for the first byte on standard input when there is something to do without it."""
SILENT = f"Nothing came on standard input within {STDIN_WAIT:g} s, so it is not read."
NOT_SILENT = "To skip the wait: </dev/null. Output of a slow program: write it to a file first, then: halo … <FILE"


def prompt_text(words: list[str], *, needed: bool) -> tuple[str, tuple[UserPart, ...]]:
    """The words of the call, and what is piped in as a note: nobody meant what it mentions. It is the prompt itself
    when there are no words.

    Without words, a prompt that is `needed` is waited for. Raises UsageError for bytes that are no text.
    """
    prompt = _check_text(" ".join(words))
    piped = "" if sys.stdin is None or sys.stdin.isatty() else _read_pipe(patient=needed and not words).strip()
    if not prompt or not piped:
        return prompt or piped, ()
    return prompt, (Note(piped, PIPED),)


def _check_text(prompt: str) -> str:
    """What the shell passed as bytes that are no text came here as lone surrogates, which no log can hold."""
    try:
        prompt.encode()
    except UnicodeEncodeError as error:
        raise UsageError("The prompt is not UTF-8 text.", "Write it anew, or pipe it in from a UTF-8 file.") from error
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
