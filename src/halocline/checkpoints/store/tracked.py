"""Finds what the project's git tracks of a workspace. Its index is only read, and again when it changed."""

import os
from collections.abc import Iterable
from pathlib import Path

from halocline.checkpoints.store.foreign_index import Unreadable, parse_index
from halocline.files.regular import read_beginning
from halocline.git.repository import GitUnusable, Repository, check_ownership, find_repository

_MOST_INDEX = 256 << 20


class Tracked:
    """The files that git tracks in a workspace. `overruled` keeps an answer about them until they are others."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._repository: Repository | None = None
        self._stamp: tuple[int, ...] = ()
        self._names: frozenset[bytes] | None = None
        self.overruled: frozenset[bytes] | None = None

    @property
    def repository(self) -> Repository | None:
        """The project's git repository with the workspace in its work tree, if it has an index."""
        above = (self._workspace, *self._workspace.parents)
        if self._repository is None and any(os.path.lexists(folder / ".git") for folder in above):
            try:
                found = find_repository(self._workspace, os.environ)
                check_ownership(found)
            except GitUnusable:
                return None
            self._repository = found
        return self._repository if self._repository and (self._repository.folder / "index").is_file() else None

    @property
    def names(self) -> frozenset[bytes]:
        """The names of all ordinary files that are tracked, from the workspace on."""
        self.look()
        if self._names is None:
            self._names = self._read_names()
        return self._names

    def look(self) -> None:
        """Forget what was read from the index if that is another one now."""
        try:
            found = os.stat(self.repository.folder / "index") if self.repository else None
        except OSError:
            found = None
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size) if found else ()
        if stamp != self._stamp:
            self._stamp, self.overruled, self._names = stamp, None, None

    def inside(self, names: Iterable[bytes]) -> frozenset[bytes]:
        """Return names of the repository from the workspace on, without those of files elsewhere."""
        top = self.repository.top if self.repository else self._workspace
        below = b"" if top == self._workspace else os.fsencode(self._workspace.relative_to(top)) + b"/"
        return frozenset(name[len(below) :] for name in names if name.startswith(below))

    def _read_names(self) -> frozenset[bytes]:
        if self.repository is None:
            return frozenset()
        try:
            found = parse_index(read_beginning(self.repository.folder / "index", _MOST_INDEX))
        except (OSError, Unreadable):
            return frozenset()
        return self.inside(path for n, path in enumerate(found.paths) if n not in found.odd)
