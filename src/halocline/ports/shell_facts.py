"""The door to what the judge of shell commands must know of this machine. Everything here only looks."""

import os
from collections.abc import Iterable
from typing import Protocol


class ShellFacts(Protocol):
    """Facts as they are now. None of these raises."""

    @property
    def permissions(self) -> str | None:
        """What `CLINE_COMMAND_PERMISSIONS` says; None when it is not set."""

    def git_doubt(self, folder: str) -> str:
        """Why a git that only looks may run programs or read elsewhere in a folder; empty when it does not."""

    def matches(self, pattern: str, folder: str) -> tuple[str, ...] | None:
        """The names that a pattern of the shell stands for in a folder; None when there are too many."""

    def files_below(self, folder: str) -> tuple[str, ...] | None:
        """The files below a folder, as they are named from there; None when there are too many to look at.

        A link is told as the absolute path that it leads to.
        """

    def is_file(self, path: str) -> bool:
        """Whether a regular file is there."""

    def is_program(self, path: str) -> bool:
        """Whether a file is there that may be run."""

    def search_places(self, path: str) -> tuple[str, ...]:
        """The folders in which programs are looked for, as a PATH names them; of an empty one, the person's."""

    def is_overwritten(self, path: str) -> bool:
        """Whether a command that writes there would write over a file."""

    def has_toolchain_file(self, folder: str) -> bool:
        """Whether a `rust-toolchain` file decides which programs `cargo` and `rustc` stand for."""

    def fingerprint(self, path: str, script: str) -> str:
        """Stands for what a file holds; empty where there is none.

        With `script`, for that script of a `package.json` there or above, and what runs before and after it.
        """


class NoFacts:
    """Fulfils `ShellFacts` for one who knows nothing: no settings, no matches, no files."""

    permissions: str | None = None

    def git_doubt(self, folder: str) -> str:
        return ""

    def matches(self, pattern: str, folder: str) -> tuple[str, ...] | None:
        return ()

    def files_below(self, folder: str) -> tuple[str, ...] | None:
        return ()

    def is_file(self, path: str) -> bool:
        return False

    def is_program(self, path: str) -> bool:
        return False

    def search_places(self, path: str) -> tuple[str, ...]:
        return ()

    def is_overwritten(self, path: str) -> bool:
        return False

    def has_toolchain_file(self, folder: str) -> bool:
        return False

    def fingerprint(self, path: str, script: str) -> str:
        return ""


class ToldFacts(NoFacts):
    """Knows of scripts what an event tells, as `name=fingerprint` seen from the workspace, and nothing else."""

    def __init__(self, scripts: Iterable[str], workspace: str) -> None:
        self._scripts = dict(entry.rpartition("=")[::2] for entry in scripts)
        self._workspace = os.path.realpath(workspace)

    def fingerprint(self, path: str, script: str) -> str:
        name = os.path.relpath(os.path.normpath(path), self._workspace)
        return self._scripts.get(f"{name}#{script}" if script else name, "")
