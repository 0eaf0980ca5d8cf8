"""Ports for an editor in which the person has files and terminals open."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from halocline.ports.diagnostics import Problem
from halocline.protocol.values import Value


class Editor(Protocol):
    """Files as the editor has them, with unsaved changes. Paths are absolute, without links.

    Every failure of the editor, and a late answer, means that the disk is used.
    """

    async def read(self, path: str) -> str | None:
        """Return the text of a file; None if the editor does not give it."""

    async def write(self, path: str, text: str) -> bool:
        """Set and save a file's text; False if it did not. Raises FileChangedOutside: it has text it did not give."""


class CheckedFiles(Value, frozen=True):
    """The files of a request that the editor checks, and all errors in them now."""

    paths: tuple[Path, ...] = ()
    problems: tuple[Problem, ...] = ()


class ProblemSource(Protocol):
    """Errors that an editor shows, from whatever checks its files. A failure is an answer without files."""

    async def check(self, paths: Sequence[Path], wait: float) -> CheckedFiles:
        """Return the errors in these files once the editor has checked them as they are, or after `wait` seconds."""

    async def shown(self) -> tuple[Problem, ...] | None:
        """Return all errors and warnings that the editor shows, errors first; None if it does not say."""


class TerminalCommand(Value, frozen=True):
    """The latest command of a terminal: its end of `output`, and its exit code, if it has ended and one is known."""

    terminal: str
    command: str
    output: str = ""
    folder: str = ""
    exit_code: int | None = None
    is_running: bool = False


class TerminalSource(Protocol):
    """The person's terminals in an editor. They are only read: the task's commands run in its own shell."""

    async def latest(self) -> Sequence[TerminalCommand]:
        """Return the latest command of each terminal, the active one first. A failure is no commands."""
