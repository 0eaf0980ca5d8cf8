"""From the command line to an exit code: the one place that turns errors into words for a person."""

import os
import sys
from importlib import import_module

from halocline.protocol.errors import HaloclineError
from halocline.surfaces.cli.arguments import parse
from halocline.surfaces.cli.exit_codes import ExitCode, of_error

MODULES = {
    "": "run",
    "run": "run",
    "demo": "demo",
    "tasks": "tasks",
    "export": "tasks",
    "checkpoints": "checkpoints",
    "doctor": "doctor",
}
"""Which module serves which command; it is imported when chosen."""


def main(argv: list[str]) -> int:
    """Do what the words say, and give the exit code."""
    try:
        return _command(argv)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads: not an error worth a trace
        return int(ExitCode.ERROR)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    except HaloclineError as error:
        return _explain(error)
    except ExceptionGroup as group:
        return _explain_group(group)


def _command(argv: list[str]) -> int:
    arguments = parse(argv)
    module = import_module(f"halocline.surfaces.cli.{MODULES[arguments.command]}")
    code = int(module.command(arguments))
    sys.stdout.flush()
    return code


def _explain_group(group: ExceptionGroup[Exception]) -> int:
    """Parallel tool calls report together; one explained error is enough, a bug keeps its trace."""
    explained, bugs = group.split(HaloclineError)
    if bugs is not None or explained is None:
        raise group
    first: BaseException = explained
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    assert isinstance(first, HaloclineError)
    return _explain(first)


def _explain(error: HaloclineError) -> int:
    print(f"halo: {error.text}", file=sys.stderr)
    if error.hint:
        print(f"      {error.hint}", file=sys.stderr)
    return int(of_error(error))
