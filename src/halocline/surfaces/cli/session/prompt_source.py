"""The first prompt: the arguments, and the text on standard input."""

import os
import sys
from contextlib import suppress

from halocline import client
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import PIPED, Note, UserPart
from halocline.surfaces.cli.stderr import print_message

STDIN_WAIT = 2.0
"""Seconds to wait for the first byte on standard input when there is also a prompt."""
SILENT = f"No input on standard input within {STDIN_WAIT:g} s; it is ignored."
NOT_SILENT = "To skip the wait: </dev/null. For a slow program, write its output to a file, then: halo … <FILE"


def take_terminal(words: list[str]) -> str | None:
    """Read what is piped in beside a prompt, then take the terminal for standard input; None if there is none.

    Then a person who pipes something in can be asked, and stay.
    """
    if not words or sys.stdin is None or sys.stdin.isatty() or not (sys.stdout.isatty() and sys.stderr.isatty()):
        return None
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return None
    try:
        if os.tcgetpgrp(terminal) != os.getpgrp():  # in the background, where reading would stop the program
            return None
        piped = _read_pipe(patient=False)
        if piped.strip():  # without text it is </dev/null, with which scripts say that nobody is there
            os.dup2(terminal, 0)
    finally:
        os.close(terminal)
    return piped


def prompt_text(words: list[str], *, needed: bool, piped: str | None = None) -> tuple[str, tuple[UserPart, ...]]:
    """Return the prompt, and piped text as a note, in which mentions do not count. Without words it is the prompt.
    `piped` is that text, if it is read already.

    Without words, a prompt that is `needed` is waited for. Raises UsageError for input that is not text.
    """
    prompt = _check_text(" ".join(words))
    prompt = prompt if prompt.strip() else ""
    if piped is None:
        piped = "" if sys.stdin is None or sys.stdin.isatty() else _read_pipe(patient=needed and not words)
    piped = piped.strip()
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
    data = sys.stdin.buffer.read()
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8")
    return _decode_foreign(data)


def _decode_foreign(data: bytes) -> str:
    """Decode text as files are: a diff may have lines in another encoding. Raises UsageError if it is none."""
    try:
        return client.diffs.decode_text(data).text
    except client.diffs.BinaryContent as error:
        raise UsageError("Standard input is not text.", "Pipe text, or name the file in the prompt.") from error
