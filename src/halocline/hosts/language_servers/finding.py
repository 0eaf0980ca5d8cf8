"""Which language servers are installed, on PATH or with the project, and how each is to be started.

What must stay true: a program inside the workspace is code of the repository. Without leave, none is started, none is
named in what we tell a server, and no folder of the workspace is on a server's PATH.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from halocline.hosts.language_servers.servers_table import ROWS, Row
from halocline.hosts.shell.executables import find_program
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.values import JsonObject, Value

_BINARIES = (".venv/bin", "venv/bin", "node_modules/.bin")
_PACKAGES = (".venv/lib/python3*/site-packages", "venv/lib/python3*/site-packages")
_LIBRARIES = ("node_modules", "lib/node_modules", "..")


class Found(Value, frozen=True):
    """A server that can be started. `allowed` is false for one that would run the project's code without leave."""

    row: Row
    program: str
    root: Path
    allowed: bool
    options: JsonObject = {}
    settings: JsonObject = {}


class Finder(Value, frozen=True):
    """Looks in one workspace; `project_programs` is the leave to run what the project brings."""

    workspace: Path
    project_programs: bool
    path: str

    def find(self, row: Row, file: Path | None = None) -> Found | None:
        """How to start the server for a file; None when it is not installed, or has no business there."""
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

    def all(self) -> list[Found]:
        """What there is for any language, whether or not it may be started."""
        return [found for row in ROWS if (found := self.find(row))]

    def environment(self, environment: ChildEnvironment) -> ChildEnvironment:
        """For a server: without the workspace's folders on PATH, unless they may be."""
        return declare_environment(environment, {"PATH": os.pathsep.join(self._folders())})

    def is_inside(self, program: str) -> bool:
        """Whether a program belongs to the workspace, or is a link into it."""
        path = Path(program)
        return any(one.is_relative_to(self.workspace) for one in (path, path.resolve()))

    def _folders(self) -> list[str]:
        """PATH; a folder that is not absolute would be one of wherever we stand."""
        folders = [folder for folder in self.path.split(os.pathsep) if os.path.isabs(folder)]
        return folders if self.project_programs else [folder for folder in folders if not self.is_inside(folder)]

    def _program(self, row: Row, root: Path) -> str | None:
        own = [str(place / below) for place in dict.fromkeys((root, self.workspace)) for below in _BINARIES]
        places = [own, self._folders()] if self.project_programs else [self._folders(), own]
        return find_program(row.command[0], [folder for folders in places for folder in folders])

    def _root(self, row: Row, file: Path) -> Path | None:
        """The nearest folder above the file, up to the workspace, that has a marker."""
        for folder in _folders_above(file.parent, self.workspace):
            if any((folder / marker).exists() for marker in row.markers):
                return folder
        return None if row.needs_marker else self.workspace

    def _library(self, row: Row, program: str) -> str | None:
        """What the server shall run of its own accord; empty when that is its own matter, None when it is missing."""
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
