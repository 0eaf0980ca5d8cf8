"""Finds the programs we start."""

import os
from collections.abc import Iterable

from halocline.installation import program_folders
from halocline.protocol.errors import ToolFailure


def find_program(name: str, folders: Iterable[str] | None = None) -> str | None:
    """The first executable file of that name in the folders, by default those of PATH."""
    for folder in os.get_exec_path() if folders is None else folders:
        candidate = os.path.join(folder, name)
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def find_ripgrep() -> str:
    """The `rg` installed with Halocline, else the one on PATH.

    Raises:
        ToolFailure: there is none.
    """
    program = find_program("rg", program_folders()) or find_program("rg")
    if program is None:
        raise ToolFailure(
            "ripgrep (`rg`) is not installed, so this tool cannot search. Search with execute_command instead.",
            "Reinstall Halocline, or install ripgrep.",
        )
    return program
