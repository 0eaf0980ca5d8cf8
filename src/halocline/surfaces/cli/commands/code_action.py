"""`halo explain`, `halo fix` and `halo improve`: start a task about a file or some of its lines.

`halo fix the tests`, without a file, is a prompt like any other.
"""

import argparse
import os
import re
from pathlib import Path
from typing import NamedTuple

from halocline.client.folders import find_problems
from halocline.client.prompts import CODE_ACTIONS, make_code_action
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Text
from halocline.surfaces import event_loop
from halocline.surfaces.cli.args.task_options import choices_of, workspace_of
from halocline.surfaces.cli.commands import run
from halocline.surfaces.figures import format_plural

_LINES = re.compile(r"(.+):(\d{1,7})(?:-(\d{1,7}))?")


class CodeRange(NamedTuple):
    """A file, and its first and last line; None means all of it."""

    path: Path
    first: int | None = None
    last: int | None = None


def command(arguments: argparse.Namespace) -> int:
    """Run the action that the command names, with the options of `halo [prompt]`."""
    action = CODE_ACTIONS[arguments.command]
    workspace = workspace_of(arguments.cwd)
    place = _find_range(workspace, arguments.command, arguments.file)
    if place is None and arguments.problems:
        raise UsageError(f"There is no file {arguments.file[0]}.", "Name the file that has the problem.")
    if place is None:
        arguments.prompt, arguments.command = [arguments.command, *arguments.file], ""
        return run.command(arguments)
    problems = tuple(arguments.problems)
    if action.looks_up_problems and not problems:
        problems = event_loop.run_loop(find_problems(choices_of(arguments), workspace, *place))
    path = place.path.relative_to(workspace) if place.path.is_relative_to(workspace) else place.path
    first, *notes = make_code_action(action.name, str(path), place.first, place.last, problems=problems)
    assert isinstance(first, Text)
    arguments.prompt, arguments.along = [first.text], tuple(notes)
    arguments.mode = arguments.mode or action.mode.value
    return run.command(arguments)


def _find_range(workspace: Path, command: str, words: list[str]) -> CodeRange | None:
    """Parse FILE[:LINE[-LINE]]; a file whose whole name is that wins. None if the words are a prompt.

    Raises UsageError.
    """
    if not words:
        raise UsageError("No file.", f"Use: halo {command} FILE[:LINE[-LINE]]")
    named, as_prompt = words[0], f'To send it as a prompt: halo run "{" ".join((command, *words))}"'
    path, lines = _locate_file(workspace, named), None
    if path is None and (lines := _LINES.fullmatch(named)):
        path = _locate_file(workspace, lines[1])
    if path is None and len(words) > 1:
        return None
    if path is None:
        raise UsageError(f"There is no file {lines[1] if lines else named}.", as_prompt)
    if len(words) > 1:
        raise UsageError("Name one file.", as_prompt)
    if lines is None:
        return CodeRange(path)
    first, last = int(lines[2]), int(lines[3] or lines[2])
    if not 1 <= first <= last:
        raise UsageError(f"{named} has no lines: they count from 1, the first one first.", "Use: FILE:10-20")
    if (count := _count_lines(path)) < last:
        raise UsageError(f"{named} has no such lines: the file has {format_plural(count, 'line')}.", "Use: FILE:10-20")
    return CodeRange(path, first, last)


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _locate_file(workspace: Path, name: str) -> Path | None:
    """Return the absolute path of a file, without links in its folder; None if there is none."""
    path = Path(os.path.normpath(workspace / Path(name).expanduser()))
    return path.parent.resolve() / path.name if path.is_file() else None
