"""Finds installed language servers, on PATH or in the project, and how to start each.

What must stay true: a program inside the workspace is code of the repository. Without permission, none is started, none
is named in what we send a server, and no folder of the workspace is on a server's PATH.
"""

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from halocline.hosts.executables import find_program
from halocline.hosts.language_servers.servers_table import ROWS, Row, rows_for
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.values import JsonObject, Value

_BINARIES = (".venv/bin", "venv/bin", "node_modules/.bin")
_PACKAGES = (".venv/lib/python3*/site-packages", "venv/lib/python3*/site-packages")
_LIBRARIES = ("node_modules", "lib/node_modules", "..")


class Found(Value, frozen=True):
    """An installed server. `allowed` is false if it would run the project's code without permission."""

    row: Row
    program: str
    root: Path
    allowed: bool
    options: JsonObject = {}
    settings: JsonObject = {}


class Finder:
    """Searches for one workspace; `project_programs` allows programs of the project to run.

    PATH is searched once for each program: a task reads files in many folders.
    """

    def __init__(self, workspace: Path, project_programs: bool, path: str) -> None:
        self.workspace = workspace
        self.project_programs = project_programs
        self.path = path
        self._on_path: dict[str, str | None] = {}

    def find(self, row: Row, file: Path | None = None) -> Found | None:
        """Find the server for a file; None when it is not installed or not meant for that project."""
        root = self._root(row, file or self.workspace / "file")
        if root is None:
            return None
        program = self._program(row, root)
        if program is None:
            return None
        library = self._library(row, program)
        unruly = row.runs_project or self.is_inside(program) or library is None
        options = {**row.options, **({"tsserver": {"path": library}} if library else {})}
        settings = self._settings(row, root)
        return Found(row, program, root, self.project_programs or not unruly, options, settings)

    def find_allowed(self, file: Path) -> Found | None:
        """Find the best server that may be started for a file."""
        every = (self.find(row, file) for row in rows_for(file))
        return next((found for found in every if found is not None and found.allowed), None)

    def all(self) -> list[Found]:
        """All installed servers, including those that may not be started."""
        return [found for row in ROWS if (found := self.find(row))]

    def environment(self, environment: ChildEnvironment) -> ChildEnvironment:
        """A server's environment: PATH without the workspace's folders, unless they are allowed."""
        return declare_environment(environment, {"PATH": os.pathsep.join(self._folders)})

    def is_inside(self, program: str) -> bool:
        """True if a program is in the workspace or a link into it."""
        path = Path(program)
        return any(one.is_relative_to(self.workspace) for one in (path, path.resolve()))

    @cached_property
    def _folders(self) -> list[str]:
        """The folders of PATH, without relative ones, which depend on the working folder."""
        folders = [folder for folder in self.path.split(os.pathsep) if os.path.isabs(folder)]
        return folders if self.project_programs else [folder for folder in folders if not self.is_inside(folder)]

    def _program(self, row: Row, root: Path) -> str | None:
        name, places = row.command[0], dict.fromkeys((root, self.workspace))
        own = find_program(name, [f"{place}/{below}" for place in places for below in _BINARIES])
        if own and self.project_programs:
            return own
        if name not in self._on_path:
            self._on_path[name] = find_program(name, self._folders)
        return self._on_path[name] or own

    def _root(self, row: Row, file: Path) -> Path | None:
        """The nearest folder above the file, up to the workspace, that has a marker."""
        for folder in _folders_above(file.parent, self.workspace):
            if any(os.path.exists(f"{folder}/{marker}") for marker in row.markers):  # for each folder that is read in
                return folder
        return None if row.needs_marker else self.workspace

    def _library(self, row: Row, program: str) -> str | None:
        """The library that the server runs; empty if the server may choose, None if there is none outside."""
        if not row.library or self.project_programs:
            return ""
        for folder in Path(program).resolve().parents:
            for below in _LIBRARIES:
                library = folder / below / row.library
                if library.is_file() and not self.is_inside(str(library)):
                    return str(library)
        return None

    def _settings(self, row: Row, root: Path) -> JsonObject:
        packages = [str(path) for pattern in _PACKAGES for path in sorted(root.glob(pattern))]
        return _with_setting(row.settings, row.packages, packages) if row.packages and packages else row.settings


def _folders_above(folder: Path, top: Path) -> Iterator[Path]:
    for one in (folder, *folder.parents):
        if not one.is_relative_to(top):
            return
        yield one


def _with_setting(settings: JsonObject, keys: tuple[str, ...], value: object) -> JsonObject:
    if not keys:
        raise ValueError("no key")
    first, *rest = keys
    return {**settings, first: _with_setting(settings.get(first, {}), tuple(rest), value) if rest else value}
