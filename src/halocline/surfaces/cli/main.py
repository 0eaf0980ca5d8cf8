"""Entry point: from the command line to an exit code. The only place that prints errors that end the program."""

import os
import sys
from contextlib import suppress
from errno import EDQUOT, EFBIG, EIO, ENOSPC, EROFS
from io import TextIOWrapper
from typing import TextIO

from halocline import client
from halocline.first_frame import FirstFrame
from halocline.protocol.errors import HaloclineError
from halocline.surfaces.cli.args.command_line import parse_arguments
from halocline.surfaces.cli.command_table import CHAT, COMMANDS
from halocline.surfaces.cli.exit_codes import ExitCode, explain_error, of_error
from halocline.surfaces.cli.stderr import print_message
from halocline.surfaces.lazy_functions import load_function

_OF_THE_DISK = frozenset({ENOSPC, EDQUOT, EFBIG, EIO, EROFS})


def run_main(argv: list[str], frame: FirstFrame | None = None) -> int:
    """Run the command line and return the exit code. `frame` is what stands on the terminal already."""
    sys.stdout = sys.stdout or _null_stream()
    sys.stderr = sys.stderr or _null_stream()
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal may lack letters: `?` instead of an error
        sys.stdout.reconfigure(errors="replace")
    try:
        return _run_command(argv, frame)
    except OSError as error:
        return _without_disk(error)
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # ends the line on which the terminal echoed ^C
        return int(ExitCode.INTERRUPTED)
    except (HaloclineError, ExceptionGroup) as error:
        return _print_error(explain_error(error))


def _run_command(argv: list[str], frame: FirstFrame | None) -> int:
    arguments = parse_arguments(argv)
    arguments.frame = frame
    client.start.refuse_from_task(argv, os.environ)
    client.start.refuse_unwritable_home(arguments.command, vars(arguments), os.environ)
    run = load_function(f"{COMMANDS.get(arguments.command, CHAT).module}:command")
    code = int(run(arguments))
    sys.stdout.flush()
    return code


def _null_stream() -> TextIO:
    """A stand-in for a stream that was closed before the start."""
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _without_disk(error: OSError) -> int:
    """Explain that the output or a file could not be written. A closed pipe is silent; any other error is a bug."""
    if _is_of_output(error):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        what, hint = "the output", "The task is saved. See: halo tasks list"
    elif error.errno in _OF_THE_DISK:
        what, hint = (
            error.filename or "to the disk",
            "Make room or repair the disk, then try again. What was saved is safe.",
        )
    else:
        raise error
    if not isinstance(error, BrokenPipeError):
        with suppress(OSError):  # standard error may be gone with the terminal
            print_message(f"Cannot write {what}: {error.strerror}.", hint)
    return int(ExitCode.ERROR)


def _is_of_output(error: OSError) -> bool:
    """True if standard output cannot be written: what it refused is still in its buffer."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return error.filename is None
    return isinstance(error, BrokenPipeError)


def _print_error(error: HaloclineError) -> int:
    print_message(error.text, error.hint)
    return int(of_error(error))
