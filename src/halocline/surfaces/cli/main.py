"""Entry point: from the command line to an exit code. The only place that prints errors that end the program."""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

from halocline import client
from halocline.protocol.errors import HaloclineError
from halocline.surfaces.cli.args.command_line import parse_arguments
from halocline.surfaces.cli.command_table import CHAT, COMMANDS
from halocline.surfaces.cli.exit_codes import ExitCode, explain_error, of_error
from halocline.surfaces.cli.stderr import print_message
from halocline.surfaces.lazy_functions import load_function


def run_main(argv: list[str]) -> int:
    """Run the command line and return the exit code."""
    sys.stdout = sys.stdout or _null_stream()
    sys.stderr = sys.stderr or _null_stream()
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal may lack letters: `?` instead of an error
        sys.stdout.reconfigure(errors="replace")
    try:
        return _run_command(argv)
    except OSError as error:
        return _without_output(error)
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # ends the line on which the terminal echoed ^C
        return int(ExitCode.INTERRUPTED)
    except (HaloclineError, ExceptionGroup) as error:
        return _print_error(explain_error(error))


def _run_command(argv: list[str]) -> int:
    arguments = parse_arguments(argv)
    client.start.refuse_from_task(argv, os.environ)
    client.start.refuse_unwritable_home(arguments.command, vars(arguments), os.environ)
    run = load_function(f"{COMMANDS.get(arguments.command, CHAT).module}:command")
    code = int(run(arguments))
    sys.stdout.flush()
    return code


def _null_stream() -> TextIO:
    """A stand-in for a stream that was closed before the start."""
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _without_output(error: OSError) -> int:
    """Handle closed standard output. A closed pipe is silent; an error with a file name has another cause."""
    if error.filename is not None:
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        with suppress(OSError):  # standard error may be gone with the terminal
            print_message(f"Cannot write the output: {error.strerror}.", "The task is saved. See: halo tasks list")
    return int(ExitCode.ERROR)


def _print_error(error: HaloclineError) -> int:
    print_message(error.text, error.hint)
    return int(of_error(error))
