"""Finds the programs we start."""

import os
from collections.abc import Iterable, Iterator

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
    program = find_program("rg", _program_folders()) or find_program("rg")
    if program is None:
        raise ToolFailure(
            "ripgrep (`rg`) is not installed, so this tool cannot search. Search with execute_command instead.",
            "Reinstall Halocline, or install ripgrep.",
        )
    return program


def _program_folders() -> Iterator[str]:
    """Yield the folders where installers put the programs of our packages, the usual ones first.

    A virtual environment has one; `pip install --user` and `--target`, and archives that unpack themselves, others.
    """
    from sysconfig import get_path  # costs a millisecond, and only searches need it

    yield get_path("scripts")
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "bin")
    yield get_path("scripts", f"{os.name}_user")
