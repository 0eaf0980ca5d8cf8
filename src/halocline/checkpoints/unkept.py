"""Find what a change may lose because no checkpoint holds it: ignored, hidden and large files, and git's own.

What git does with the store decides; this says the same of one path, without a store. A test compares the two.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from halocline.checkpoints.selection import overruled, sizes
from halocline.checkpoints.store import layout, tracked
from halocline.files.hard_links import list_entries
from halocline.files.patterns import find_match
from halocline.files.regular import read_beginning
from halocline.policy.paths import is_within

MOST_ENTRIES = 5_000
MOST_NAMED = 3
_MOST_RULES = 1 << 20


def find_unkept(paths: Iterable[str], roots: Sequence[str], largest: int) -> tuple[str, ...]:
    """Return the first existing files at or below these absolute paths that no checkpoint of the roots holds.

    Checkpoints leave out what the project or we ignore unless git tracks it, what is secret or hidden, files over
    `largest` bytes, fewer for some kinds, and git's own folders. A folder with too many files to look at is returned
    itself.
    """
    found: list[str] = []
    for path in dict.fromkeys(paths):
        if not os.path.lexists(path):
            continue
        root = next((root for root in roots if is_within(path, root) and path != root), "")
        found += [path] if not root else _Kept(root, largest).list_unkept(path)
        if len(found) >= MOST_NAMED:
            break
    return tuple(found[:MOST_NAMED])


def is_kept(path: str, roots: Sequence[str], largest: int) -> bool:
    """True if checkpoints of one of these folders hold a file at an absolute path, whether or not one is there."""
    root = next((root for root in roots if is_within(path, root) and path != root), "")
    return bool(root) and _Kept(root, largest).holds(path)


class _Kept:
    """The files of a root that checkpoints hold. `rules` keeps the patterns of each folder while it is looked at."""

    def __init__(self, root: str, largest: int) -> None:
        self._root = root
        self._largest = largest
        self._ours = tuple(layout.build_excludes(Path(root)).splitlines())
        self._rules: dict[str, tuple[str, ...]] = {}
        self._is_never = overruled.Never(Path(root))

    @cached_property
    def _tracked(self) -> frozenset[bytes]:
        return tracked.Tracked(Path(self._root)).names

    def holds(self, path: str) -> bool:
        """True if checkpoints hold this file, or would if it were there."""
        is_out = any(map(self._is_left_out, (*self._list_above(path), path)))
        if is_out and not self._holds_tracked(path):
            return False
        return not os.path.isfile(path) or os.path.getsize(path) <= self._find_largest(path)

    def list_unkept(self, path: str) -> Iterator[str]:
        """Yield what is not held at or below a path, or the path if that is too much to look at."""
        is_below = any(map(self._is_left_out, self._list_above(path)))
        waiting, left = [(path, is_below)], MOST_ENTRIES
        while waiting:
            here, is_out = waiting.pop()
            is_out = is_out or self._is_left_out(here)
            if is_out and not self._holds_tracked(here):
                yield here
            elif _is_folder(here):
                entries = list_entries(here)
                left -= len(entries)
                if left < 0:
                    yield path
                    return
                waiting += [(entry.path, is_out) for entry in entries]
            elif not os.path.islink(here) and os.path.getsize(here) > self._find_largest(here):
                yield here

    def _holds_tracked(self, path: str) -> bool:
        """Return True if what is left out by a rule is saved because git tracks it, or something in this folder."""
        name = os.fsencode(os.path.relpath(path, self._root))
        if os.path.basename(path) == ".git" or self._is_never(name):
            return False
        return name in self._tracked or (_is_folder(path) and any(one.startswith(name + b"/") for one in self._tracked))

    def _find_largest(self, path: str) -> int:
        name = os.fsencode(os.path.relpath(path, self._root))
        size = sizes.largest_saved(name, self._largest)
        return size if os.path.getsize(path) <= size or name not in self._tracked else self._largest

    def _list_above(self, path: str) -> Iterator[str]:
        folder = os.path.dirname(path)
        while folder != self._root:
            yield folder
            folder = os.path.dirname(folder)

    def _is_left_out(self, path: str) -> bool:
        """Return True for an ignored path and for git's own folder, if the folders above it are not left out."""
        if os.path.basename(path) == ".git":
            return True
        end = "/" if _is_folder(path) else ""
        folder = os.path.dirname(path)
        while is_within(folder, self._root):
            if (found := find_match(self._read_rules(folder), os.path.relpath(path, folder) + end)) is not None:
                return found
            folder = os.path.dirname(folder)
        return bool(find_match(self._ours, os.path.relpath(path, self._root) + end))

    def _read_rules(self, folder: str) -> tuple[str, ...]:
        if folder not in self._rules:
            try:
                text = read_beginning(Path(folder, ".gitignore"), _MOST_RULES).decode("utf-8", "replace")
            except OSError:
                text = ""
            self._rules[folder] = tuple(text.splitlines())
        return self._rules[folder]


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
