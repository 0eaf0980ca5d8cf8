"""Resolve paths and classify the places they lead to. Links are resolved; paths are compared by whole components."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from halocline.files.opening import find_place
from halocline.files.patterns import matches_any
from halocline.files.real_paths import find_real_path
from halocline.policy.sensitive_names import fold_case, is_secret, runs_later
from halocline.protocol.config_locations import PLUGIN_COPIES
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import IGNORE_FILES, OtherRoot, Place
from halocline.protocol.values import Value

LONGEST_PATH = 4_096
"""Bytes of the longest path that a system call takes, with its end (PATH_MAX of Linux). Nothing longer names a file.

A smaller limit would be a hole: what is not looked at may then be a path that leads anywhere.
"""


class Resolved(Value, frozen=True):
    """A resolved path. `path` is absolute; `shown` is for display. `linked`: the file has other hard links.

    `root` is the folder of the task that it is in, if that is not the workspace. `identity` identifies the file or
    folder found there; empty if there was none. `entry` is the directory entry that was named, without links on the way
    to it: the same as `path`, unless it is a link itself.
    """

    path: str
    shown: str
    place: Place
    linked: bool = False
    root: str = ""
    identity: str = ""
    entry: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The entry and the path it leads to: a change is to one of them, depending on the program."""
        return (self.path,) if self.entry in ("", self.path) else (self.entry, self.path)


class Judged:
    """A predicate: True if a resolved path was judged, perhaps spelled differently, or lies in one of our folders."""

    def __init__(self, places: tuple[str, ...], *folders: Path) -> None:
        self._places = places
        self._folders = folders

    def __call__(self, path: str) -> bool:
        if path in self._places or any(is_within(path, find_real_path(folder)) for folder in self._folders):
            return True
        return any(is_spelt_alike(path, place) for place in self._places)


def is_spelt_alike(path: str, other: str) -> bool:
    """Return True if two paths are in the same folder and their names differ only in accents' form or blanks."""
    if os.path.dirname(path) != os.path.dirname(other):
        return False
    return plain_name(os.path.basename(path)) == plain_name(os.path.basename(other))


def plain_name(name: str) -> str:
    """Return a name with composed accents and every kind of blank as a space."""
    import unicodedata  # only needed for a wrong name

    return "".join(" " if char.isspace() else char for char in unicodedata.normalize("NFC", name))


_BROKEN = compile_later("[\0\ud800-\udc7f\udd00-\udfff]")
"""Characters and halves of them that no path can have; the other halves stand for bytes."""


class Folders(Value, frozen=True):
    """The task's own folders, without links: its workspace, Halocline's home, what may be read of that; "" for none."""

    workspace: str
    home: str = ""
    outputs: str = ""


def resolve_folders(workspace: Path, home: Path | None = None, outputs: Path | None = None) -> Folders:
    """Resolve the links of a task's own folders, as they are now."""
    real = find_real_path(home) if home else ""
    return Folders(find_real_path(workspace), real, _resolve_below(outputs, home, real) if outputs else "")


class Classifier:
    """Classifies absolute, resolved paths into kinds of places; the task's own folders are resolved once.

    `home` is where Halocline keeps its own files; of these the task may read its outputs and the copies of plug-ins.
    `ignored` are the lines of the workspace's ignore files, and `roots` the task's other folders. `guard`
    is what rules make of a place that is not otherwise guarded: `IGNORED` if they deny reading it, `SECRET` if they ask
    first, None if neither.
    """

    def __init__(
        self,
        workspace: Path | Folders,
        home: Path | None = None,
        *,
        ignored: tuple[str, ...] = (),
        roots: tuple[OtherRoot, ...] = (),
        guard: Callable[[Resolved], Place | None] | None = None,
    ) -> None:
        folders = workspace if isinstance(workspace, Folders) else resolve_folders(workspace, home)
        self.workspace, self.home, self._outputs = folders.workspace, folders.home, folders.outputs
        self.roots = (OtherRoot(self.workspace, ignored), *roots)
        self.has_ignored = guard is not None or any(root.ignored for root in self.roots)
        self._guard = guard
        self._folds = {root.path: bool(root.ignored) and _folds_case(root.path) for root in self.roots}
        self._other_names: dict[int, tuple[str, ...]] | None = None

    def resolve(self, text: str) -> Resolved:
        """Resolve a path as the model wrote it: relative to the workspace, absolute, or `~`. Raises ToolFailure."""
        if _BROKEN.search(text):
            raise ToolFailure("A path cannot contain a NUL character or half a character. Nothing was run.")
        spelled = os.path.join(self.workspace, os.path.expanduser(text))
        path = _real_path(spelled)
        folder, name = os.path.split(spelled)
        leads = path == spelled or name in ("", ".", "..")  # the path names where its entry leads
        one = self._describe(path, path if leads else os.path.join(_real_path(folder), name))
        if one.place is Place.PROJECT and path != spelled and runs_later(self.named_in_root(spelled)):
            return replace(one, place=Place.RUNS_LATER)  # a link with such a name to a file with another name
        return one

    def resolve_entry(self, one: Resolved) -> Resolved:
        """Return the place of a link itself, for what changes the entry and not what it leads to."""
        return one if one.entry in ("", one.path) else self._describe(one.entry, one.entry)

    def _describe(self, path: str, entry: str) -> Resolved:
        found, root = look_at(path), self.root_of(path)
        is_here = root is not None and root.path == self.workspace
        return Resolved(
            path,
            _path_in_root(path, root) if root and is_here else path,
            self.kind(path, found),
            linked=bool(found and is_linked(found)),
            root=root.path if root and not is_here else "",
            identity=identity_of(found) if found else "",
            entry=entry,
        )

    def root_of(self, path: str) -> OtherRoot | None:
        """Return the folder of the task that a path is in."""
        return next((root for root in self.roots if is_within(path, root.path)), None)

    def named_in_root(self, path: str) -> str:
        return os.path.relpath(path, (self.root_of(path) or self.roots[0]).path)

    def kind(self, path: str, found: os.stat_result | None = None) -> Place:
        """Return the kind of a place; for a file with several hard links (by `found`), the strictest one known."""
        if guarded := self.guarded_kind(path, found):
            return guarded
        root = self.root_of(path)
        if self._is_readable(path):
            return Place.OUTPUT
        if not root:
            return Place.OUTSIDE
        return Place.RUNS_LATER if runs_later(_path_in_root(path, root)) else Place.PROJECT

    def guarded_kind(self, path: str, found: os.stat_result | None = None) -> Place | None:
        """Return the kind if the content is not readable without asking; None for other places."""
        if self._is_readable(path):
            return None
        kind = self._guarded_name(path)
        if kind or found is None or not is_linked(found):
            return kind
        others = {self._guarded_name(name) for name in self._names_of(found)}
        return next((one for one in _GUARDED if one in others), None)

    def _is_readable(self, path: str) -> bool:
        """True for what a task may read of Halocline's own files."""
        copies = f"{self.home}/{PLUGIN_COPIES}"
        return self._outputs != "" and (is_within(path, self._outputs) or is_within(path, copies))

    def _guarded_name(self, path: str) -> Place | None:
        if self.home and is_within(path, self.home):
            return Place.OWN_STATE
        root = self.root_of(path)
        inside = _path_in_root(path, root) if root else ""
        if root and root.ignored and is_hidden(root.ignored, inside, folds=self._folds[root.path]):
            return Place.IGNORED
        named = Place.SECRET if is_secret(inside or path) else None
        if self._guard is None:
            return named
        other = root.path if root and root.path != self.workspace else ""
        place = named or (Place.PROJECT if root else Place.OUTSIDE)
        return self._guard(Resolved(path, path, place, root=other)) or named

    def _names_of(self, found: os.stat_result) -> list[str]:
        """Return other, guarded names of a file; they are searched for once."""
        if self._other_names is None:
            from halocline.files.hard_links import guarded_names  # few files have several names

            self._other_names = guarded_names([root.path for root in self.roots], self.home, self._guarded_name)
        names = ((name, look_at(name)) for name in self._other_names.get(found.st_ino, ()))
        return [name for name, other in names if other and os.path.samestat(other, found)]


_GUARDED = (Place.OWN_STATE, Place.IGNORED, Place.SECRET)
"""Kinds of places whose content is not readable without asking, strictest first."""


def _resolve_below(path: Path, folder: Path | None, real: str) -> str:
    """Resolve a path, which may be below a folder that was resolved to `real`, without resolving that again."""
    inside = os.fspath(path).removeprefix(f"{folder}/")
    if inside == os.fspath(path):
        return find_real_path(path)
    place = real
    for name in inside.split("/"):
        place = f"{place}/{name}"
        if os.path.islink(place):
            return find_real_path(path)
    return place


def _path_in_root(path: str, root: OtherRoot) -> str:
    return path[len(root.path) :].strip("/") or "."


def _real_path(path: str) -> str:
    try:
        return find_place(path)
    except OSError:
        raise ToolFailure(f"{path} changed while it was being checked. Nothing was done; try again.") from None


def look_at(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def is_linked(found: os.stat_result) -> bool:
    """Return True if a file has several names (hard links), any of which may be outside."""
    return stat.S_ISREG(found.st_mode) and found.st_nlink > 1


def identity_of(found: os.stat_result) -> str:
    """Return a string that identifies a file or folder among all that exist now."""
    return f"{found.st_dev}:{found.st_ino}"


def is_hidden(ignored: tuple[str, ...], path: str, *, folds: bool = False) -> bool:
    """Return True if ignore files hide a path, relative to the workspace. `folds`: its disk ignores letter case."""
    if path == ".":
        return False
    if folds and is_hidden(tuple(map(fold_case, ignored)), fold_case(path)):
        return True
    return fold_case(path) in IGNORE_FILES or matches_any(ignored, path)


def _folds_case(folder: str) -> bool:
    return any(all(os.path.lexists(os.path.join(folder, one)) for one in (name.upper(), name)) for name in IGNORE_FILES)


def is_within(path: str, folder: str) -> bool:
    """Return True if a path is a folder or below it; both are absolute and resolved."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
