"""Find the encoding that people declare for a file: in the settings, for git, or for editors. The nearest word counts.

Nothing is checked here: a declared encoding counts only for bytes that are in it.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from threading import Lock

from halocline.context.instructions.globs import in_any_folder, matches_glob
from halocline.files.absence import Absence
from halocline.files.regular import read_regular

_LARGEST = 1 << 18
_NAMES = _GIT, _EDITORS = ".gitattributes", ".editorconfig"
_watching = Lock()
_FOR_GIT = "working-tree-encoding"


def find_declared(place: str, chosen: Mapping[str, str]) -> str:
    """Return the encoding for a file by its absolute path; empty if none is declared. `chosen` are the settings."""
    own = next((name for glob, name in chosen.items() if matches_glob(f"**/{glob.lstrip('/')}", place)), "")
    if own:
        return own
    with _watching:  # files are read in threads, too
        if _watch_folder(os.path.dirname(place)).lasts():
            return ""
    return _first(_for_git(place)) or _first(_for_editors(place))


@lru_cache(64)
def _watch_folder(folder: str) -> Absence:
    """Watch for files that declare something in a folder or above: most projects have none, and every read asks."""
    return Absence(f"{above}/{name}" for above in _folders_above(f"{folder}/file") for name in _NAMES)


def _first(found: Iterable[str]) -> str:
    """The first word; that no encoding is set is one, too."""
    return next(iter(found), "").replace("unset", "")


def _for_git(place: str) -> Iterator[str]:
    """Yield what `.gitattributes` say, the last word first, up to the folder of the repository."""
    for folder in _folders_above(place):
        for line in reversed(_read_lines(f"{folder}/{_GIT}")):
            pattern, *attributes = line.split() or [""]
            if pattern and _fits(pattern, place, folder):
                for name, _, value in (one.partition("=") for one in reversed(attributes)):
                    if name.lstrip("-!") == _FOR_GIT:
                        yield value or "unset"
        if os.path.lexists(f"{folder}/.git"):
            return


def _for_editors(place: str) -> Iterator[str]:
    """Yield what `.editorconfig` files say, the last word first, up to one that is the root."""
    for folder in _folders_above(place):
        found, glob, is_root = "", "", False
        for line in _read_lines(f"{folder}/{_EDITORS}"):
            name, _, value = (part.strip().lower() for part in line.partition("="))
            if line.startswith("["):
                glob = line[1 : line.rfind("]")]
            elif name == "charset" and glob and _fits(glob, place, folder):
                found = value
            is_root = is_root or (not glob and name == "root" and value == "true")
        if found:
            yield found
        if is_root:
            return


def _fits(pattern: str, place: str, folder: str) -> bool:
    return matches_glob(in_any_folder(pattern), place[len(folder) :])


def _folders_above(place: str) -> Iterator[str]:
    while (folder := os.path.dirname(place)) != place:
        yield folder.rstrip("/")
        place = folder


def _read_lines(path: str) -> list[str]:
    try:
        text = read_regular(path, _LARGEST).decode("utf-8", "replace")
    except OSError:
        return []
    return [line.strip() for line in text.splitlines() if not line.lstrip().startswith(("#", ";"))]
