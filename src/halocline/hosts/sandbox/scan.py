"""Find in a task's folders, at any depth, what sandboxed commands may not read, and what they may not change.

What is hidden is the policy's to say (`Hides`); here are only the names of secrets that builds do not need. A folder is
listed again only if it changed, so an unchanged tree costs one `stat` for each folder.
"""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISLNK

from msgspec import Struct, field

from halocline.files.hard_links import list_entries
from halocline.policy.holding import PACKAGES, is_protected
from halocline.policy.sensitive_names import KEY_FILES, fold_case, is_secret, is_secret_folder, may_run_later
from halocline.ports.shell_facts import Hides
from halocline.protocol.patterns import compile_later

Identity = tuple[int, int, int]
"""Device and inode, and for a link when it last changed: a file in the place of a link is another one."""
GIT_OBEYS = ("hooks", "config", "config.worktree", "commondir", "gitdir", "info", "modules", "worktrees")
"""Parts of a repository that stay read-only where a command may write the rest."""
_REPOSITORIES = ({"HEAD", "objects", "refs"}, {"HEAD", "commondir"})
_NEEDED = compile_later(rf"{KEY_FILES}|\.npmrc|wp-config\.php|local\.settings\.json")
"""Secret files that tests and builds read: certificates, and the settings of tools."""
_SETTLED = 100_000_000
"""Nanoseconds after which a folder's time of change tells whether it changed again."""


class Listing(Struct, frozen=True):
    """The entries of one folder that matter: what is hidden or secret in it, or steers programs, and its folders."""

    stamp: tuple[int, int, int]
    key: object
    hidden: tuple[str, ...]
    secret: tuple[str, ...]
    steering: tuple[str, ...]
    below: tuple[str, ...]


class Scan(Struct):
    """The listings of a task's folders, kept from command to command."""

    listings: dict[str, Listing] = field(default_factory=dict)

    def find_masked(self, roots: Sequence[Path], hides: Hides | None, *, shows_secrets: bool) -> Iterator[Path]:
        """Yield existing paths in the roots that must not be read; nothing below a hidden folder."""
        for listing in self._walk(roots, hides):
            yield from map(Path, listing.hidden if shows_secrets else (*listing.hidden, *listing.secret))

    def find_protected(self, roots: Sequence[Path]) -> dict[Path, Identity]:
        """Return paths in the roots that must not be changed, with their identities."""
        return identify_paths(path for listing in self._walk(roots, None) for path in listing.steering)

    def _walk(self, roots: Sequence[Path], hides: Hides | None) -> Iterator[Listing]:
        for root in map(os.fspath, roots):
            waiting = [root]
            while waiting:
                folder = waiting.pop()
                with suppress(OSError):
                    listing = self._list_folder(folder, hides, root)
                    yield listing
                    waiting += listing.below

    def _list_folder(self, folder: str, hides: Hides | None, root: str) -> Listing:
        status = os.stat(folder)
        stamp = (status.st_dev, status.st_ino, status.st_ctime_ns)  # no program can set this time back
        known = self.listings.get(folder)
        if known and known.stamp == stamp and (hides is None or known.key == hides.key):
            return known
        listing = _list_entries(folder, stamp, hides, root)
        if time.time_ns() - status.st_ctime_ns > _SETTLED:
            self.listings[folder] = listing
        return listing


def identify_git_parts(git: Iterable[Path]) -> dict[Path, Identity]:
    """Return what git obeys in its folders, with identities."""
    return identify_paths(f"{folder}/{name}" for folder in git for name in GIT_OBEYS)


def identify_paths(paths: Iterable[str]) -> dict[Path, Identity]:
    """Return the identities of those that exist."""
    found: dict[Path, Identity] = {}
    for path in paths:
        with suppress(FileNotFoundError, NotADirectoryError):
            status = os.lstat(path)
            found[Path(path)] = (status.st_dev, status.st_ino, status.st_ctime_ns * S_ISLNK(status.st_mode))
    return found


def _list_entries(folder: str, stamp: tuple[int, int, int], hides: Hides | None, root: str) -> Listing:
    entries = list_entries(folder)
    hidden: list[str] = []
    secret: list[str] = []
    below: list[str] = []
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if hides and _is_hidden(entry, hides, is_folder=is_folder):
            hidden.append(entry.path)
        elif is_folder and is_secret_folder(entry.path[len(root) :]):
            secret.append(entry.path)
        elif is_folder and entry.name != ".git" and (entry.name not in PACKAGES or (hides and hides.key)):
            below.append(entry.path)
        elif is_secret(entry.name) and entry.is_file() and not _NEEDED.fullmatch(fold_case(entry.name)):
            secret.append(os.path.realpath(entry.path))
    steering = tuple(_list_steering(folder, entries, root))
    return Listing(stamp, hides.key if hides else None, tuple(hidden), tuple(secret), steering, tuple(below))


def _is_hidden(entry: "os.DirEntry[str]", hides: Hides, *, is_folder: bool) -> bool:
    """Return True if an entry is hidden, by its own name or that of a hard link. Few files have several names."""
    if is_folder:
        return bool(hides.key) and hides(entry.path, None)
    found = entry.stat(follow_symlinks=False)
    return (bool(hides.key) or found.st_nlink > 1) and hides(entry.path, found)


def _list_steering(folder: str, entries: "list[os.DirEntry[str]]", root: str) -> Iterator[str]:
    """Yield paths in a folder that other programs obey. To git, any folder with the names of a repository is one."""
    if not is_protected(folder[len(root) :]):  # or the folder around is protected as a whole
        for entry in entries:
            if may_run_later(entry.name) and is_protected(entry.path[len(root) :]):
                yield from (entry.path, *(f"{entry.path}/{part}" for part in GIT_OBEYS if entry.name == ".git"))
    names = {entry.name for entry in entries}
    if any(names >= needed for needed in _REPOSITORIES):
        yield from (os.path.join(folder, name) for name in GIT_OBEYS)
