"""The problems that a language server reports for a part of a file, where no task is open."""

from pathlib import Path

from halocline.ports.diagnostics import Problem
from halocline.runtime.assembly.folder_access import FolderAccess
from halocline.runtime.assembly.optional_parts import build_diagnostics
from halocline.runtime.task_options import Choices


async def find_problems(
    choices: Choices, workspace: Path, path: Path, first: int | None = None, last: int | None = None
) -> tuple[str, ...]:
    """Return the errors in these lines of a file, all without lines; empty if no server knows such files or answers.

    It waits for the server's start, but no longer than for `@problems`. Raises UsageError and SettingsError.
    """
    access = FolderAccess.of(choices)
    diagnostics = build_diagnostics(access.settings, workspace, access.key_variables(), access.env)
    try:
        found = await diagnostics.current([path]) if diagnostics.knows(path) else None
    finally:
        await diagnostics.close()
    lines = range(first or 1, (last or first or 1) + 1)
    return tuple(_describe_problem(one) for one in found or () if one.path == path and (not first or one.line in lines))


def _describe_problem(problem: Problem) -> str:
    source = " ".join(filter(None, (problem.source, problem.code)))
    return f"line {problem.line}: {problem.message}{f' ({source})' if source else ''}"
