"""Where a path really leads, and what kind of place that is. Links are resolved; whole components are compared."""

import os
import stat
from pathlib import Path

from halocline.policy.sensitive_names import fold, is_secret, runs_later
from halocline.protocol.errors import ToolFailure
from halocline.protocol.rules import OtherRoot, Place
from halocline.protocol.values import Value

IGNORE_FILES = (".haloclineignore", ".clineignore")
"""Files that say, as `.gitignore` does, which files of the workspace are hidden from the model."""


class Resolved(Value, frozen=True):
    """`path` is absolute with links resolved; `shown` is how a person reads it. `linked`: it has more names.

    `root` is the folder of the task that it is in, when that is not the workspace.
    """

    path: str
    shown: str
    place: Place
    linked: bool = False
    root: str = ""


class Judged:
    """Whether a resolved path is one that was judged, by another spelling at most, or lies in one of our folders."""

    def __init__(self, places: tuple[str, ...], *folders: Path) -> None:
        self._places = places
        self._folders = folders

    def __call__(self, path: str) -> bool:
        if path in self._places or any(_within(path, os.path.realpath(folder)) for folder in self._folders):
            return True
        return any(_is_spelt_alike(path, place) for place in self._places)


def _is_spelt_alike(path: str, other: str) -> bool:
    """A name in the same folder that differs only in invisible ways is found when the model writes it."""
    if os.path.dirname(path) != os.path.dirname(other):
        return False
    return plain(os.path.basename(path)) == plain(os.path.basename(other))


def plain(name: str) -> str:
    """The name with composed accents and with every kind of blank as a space."""
    import unicodedata  # only needed for a wrong name

    return "".join(" " if char.isspace() else char for char in unicodedata.normalize("NFC", name))


def resolve(
    text: str,
    workspace: Path,
    home: Path,
    *,
    outputs: Path | None = None,
    ignored: tuple[str, ...] = (),
    roots: tuple[OtherRoot, ...] = (),
) -> Resolved:
    """Judge a path as the model wrote it: relative to the workspace, absolute, or with `~`.

    `home` is where Halocline keeps its own files, `outputs` the folder in it that the task may look into; `ignored` are
    the lines of the workspace's ignore files, and `roots` the task's other folders.

    Raises:
        ToolFailure: it is no path.
    """
    if "\0" in text:
        raise ToolFailure("A path cannot hold a NUL character. Nothing was run.")
    real_workspace = os.path.realpath(workspace)
    spelt = os.path.join(real_workspace, os.path.expanduser(text))
    path = _real(spelt)
    root = _holding(path, real_workspace, ignored, roots)
    shown = os.path.relpath(path, real_workspace) if root and root.path == real_workspace else path
    if outputs and _within(path, os.path.realpath(outputs)):
        return Resolved(path=path, shown=shown, place=Place.OUTPUT)
    place = _place(path, root, os.path.realpath(home))
    if place is Place.PROJECT and path != spelt and runs_later(_named_in_root(spelt, real_workspace, roots)):
        place = Place.RUNS_LATER  # a link of such a name, to a file of the project with another
    other = root.path if root and root.path != real_workspace else ""
    return Resolved(path=path, shown=shown, place=place, linked=_is_linked(path), root=other)


def _holding(path: str, workspace: str, ignored: tuple[str, ...], roots: tuple[OtherRoot, ...]) -> OtherRoot | None:
    """The folder of the task that a path is in."""
    if _within(path, workspace):
        return OtherRoot(workspace, ignored)
    return next((root for root in roots if _within(path, root.path)), None)


def _named_in_root(spelt: str, workspace: str, roots: tuple[OtherRoot, ...]) -> str:
    root = _holding(spelt, workspace, (), roots)
    return os.path.relpath(spelt, root.path if root else workspace)


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except OSError:  # a link was there, and gone before it was read
        raise ToolFailure(f"Somebody is changing {path} just now. Nothing was done; try again.") from None


def _place(path: str, root: OtherRoot | None, home: str) -> Place:
    if _within(path, home):
        return Place.OWN_STATE
    inside = os.path.relpath(path, root.path) if root else ""
    if root and root.ignored and hides(root.ignored, inside):
        return Place.IGNORED
    if is_secret(inside or path):
        return Place.SECRET
    if not root:
        return Place.OUTSIDE
    return Place.RUNS_LATER if runs_later(inside) else Place.PROJECT


def _is_linked(path: str) -> bool:
    """Whether a file has several names (hard links), of which any may be outside."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink > 1


def hides(ignored: tuple[str, ...], path: str) -> bool:
    """Whether ignore files hide a path, which is relative to the workspace."""
    from halocline.policy.patterns import matches

    return fold(path) in IGNORE_FILES or (path != "." and matches(ignored, path))


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
