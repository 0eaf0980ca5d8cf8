"""Notes on errors that language servers found: few, short, each with its line."""

from collections.abc import Sequence
from pathlib import Path

from halocline.ports.diagnostics import Problem
from halocline.protocol.file_names import make_printable
from halocline.protocol.messages import Note

SOURCE = "diagnostics"
PROBLEMS = "problems"
MOST_TOLD = 10
MOST_LISTED = 50
_LONGEST = 300
INTRODUCED = "This edit introduced {errors}:"
LATE = "The language server has since found {errors} introduced by an earlier edit:"


def note_new_problems(problems: Sequence[Problem], workspace: Path, heading: str = INTRODUCED) -> Note:
    """Build the note on new errors."""
    return Note(
        f"{heading.format(errors=_count_errors(len(problems)))}\n{_list_problems(problems, workspace, MOST_TOLD)}",
        SOURCE,
    )


def note_problems(problems: Sequence[Problem] | None, workspace: Path) -> Note:
    """Build the note for a prompt that asks for the problems; None means that no language server answered."""
    if problems is None:
        return Note("Unknown: no language server responded for the files changed or read in this task.", PROBLEMS)
    if not problems:
        return Note("No errors in the files changed or read in this task.", PROBLEMS)
    return Note(
        f"{_count_errors(len(problems)).capitalize()}:\n{_list_problems(problems, workspace, MOST_LISTED)}", PROBLEMS
    )


def note_shown_problems(problems: Sequence[Problem], workspace: Path) -> Note:
    """Build the note for a prompt that asks for the problems, from those that the person's editor shows."""
    if not problems:
        return Note("The editor shows no errors or warnings.", PROBLEMS)
    warnings = sum(one.is_warning for one in problems)
    counts = [_count_errors(len(problems) - warnings), "1 warning" if warnings == 1 else f"{warnings} warnings"]
    listed = _list_problems(problems, workspace, MOST_LISTED)
    return Note(f"The editor shows {counts[0]} and {counts[1]}:\n{listed}", PROBLEMS)


def _count_errors(errors: int) -> str:
    return "1 error" if errors == 1 else f"{errors} errors"


def _list_problems(problems: Sequence[Problem], workspace: Path, most: int) -> str:
    lines = [_describe_problem(problem, workspace) for problem in problems[:most]]
    if len(problems) > most:
        lines.append(f"and {len(problems) - most} more")
    return "\n".join(lines)


def _describe_problem(problem: Problem, workspace: Path) -> str:
    path = problem.path
    name = path.relative_to(workspace) if path.is_relative_to(workspace) else path
    message = " ".join(problem.message.split())
    message = message if len(message) <= _LONGEST else message[:_LONGEST] + "…"
    who = " ".join(filter(None, (problem.source, problem.code)))
    text = f" | {problem.text}" if problem.text else ""
    kind = "warning: " if problem.is_warning else ""
    return f"{make_printable(str(name))}:{problem.line}{text}\n  {kind}{message}{f' ({who})' if who else ''}"
