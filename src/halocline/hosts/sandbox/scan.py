"""Find in a task's folders, at any depth, what sandboxed commands may not read, and what they may not change.

What is hidden is the policy's to say (`Hides`); here are only the names of secrets that builds do not need. A folder is
listed again only if it changed, so an unchanged tree costs one `stat` for each folder.
"""

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from halocline.policy.hard_links import list_entries
from halocline.policy.sensitive_names import MADE_BY_TOOLS, RUNS_LATER, fold_case
from halocline.ports.shell_facts import Hides
from halocline.protocol.config_locations import NESTED_ROWS, OBEYED

Identity = tuple[int, int]
PROTECTED = (
    frozenset(
        {fold_case(place.partition("/")[0]) for place in OBEYED}
        | {".github"}
        | {place.strip("/") for place in RUNS_LATER if place.count("/") == 2}
    )
    - MADE_BY_TOOLS
)
"""Case-folded names in the root of a folder whose content other programs run or obey."""
ANYWHERE = frozenset({".git", *(fold_case(row.path.partition("/")[0]) for row in NESTED_ROWS)})
"""Names that are obeyed below the root as well."""
GIT_OBEYS = ("hooks", "config", "config.worktree", "commondir", "info", "modules", "worktrees")
"""Parts of `.git` that stay read-only where a command may write the rest."""
_REPOSITORIES = ({"HEAD", "objects", "refs"}, {"HEAD", "commondir"})
_OBEYED_WITHIN = {
    ".github": (
        "workflows",
        "actions",
        "dependabot.yml",
        *(place[8:] for place in OBEYED if place.startswith(".github/")),
    )
}
"""Folders of which only some parts are obeyed."""
_SECRETS = re.compile(
    r"\.env(\..*)?|\.envrc|id_(rsa|dsa|ecdsa|ed25519)(_sk)?|\.git-credentials|\.netrc|\.pgpass|\.htpasswd|\.vault-token"
)
"""Secret files that the work does not need. Certificates and `.npmrc` stay readable for tests and builds."""
_EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist")
_OF_TOOLS = frozenset({"node_modules", ".venv", "venv", "__pycache__", ".tox"})
"""Folders of packages, which hold no secrets of the person's; they are looked at only for what rules hide."""
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
        found: dict[Path, Identity] = {}
        for listing in self._walk(roots, None):
            for path in listing.steering:
                with suppress(FileNotFoundError, NotADirectoryError):
                    status = os.lstat(path)
                    found[Path(path)] = (status.st_dev, status.st_ino)
        return found

    def _walk(self, roots: Sequence[Path], hides: Hides | None) -> Iterator[Listing]:
        for root in map(os.fspath, roots):
            waiting = [root]
            while waiting:
                folder = waiting.pop()
                with suppress(OSError):
                    listing = self._list_folder(folder, hides, is_root=folder == root)
                    yield listing
                    waiting += listing.below

    def _list_folder(self, folder: str, hides: Hides | None, *, is_root: bool) -> Listing:
        status = os.stat(folder)
        stamp = (status.st_dev, status.st_ino, status.st_mtime_ns)
        known = self.listings.get(folder)
        if known and known.stamp == stamp and (hides is None or known.key == hides.key):
            return known
        listing = _list_entries(folder, stamp, hides, is_root=is_root)
        if time.time_ns() - status.st_mtime_ns > _SETTLED:
            self.listings[folder] = listing
        return listing


def _list_entries(folder: str, stamp: tuple[int, int, int], hides: Hides | None, *, is_root: bool) -> Listing:
    entries = list_entries(folder)
    hidden: list[str] = []
    secret: list[str] = []
    below: list[str] = []
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if hides and _is_hidden(entry, hides, is_folder=is_folder):
            hidden.append(entry.path)
        elif is_folder and entry.name != ".git" and (entry.name not in _OF_TOOLS or (hides and hides.key)):
            below.append(entry.path)
        elif _SECRETS.fullmatch(entry.name) and entry.name not in _EXAMPLES and entry.is_file():
            secret.append(os.path.realpath(entry.path))
    steering = tuple(_list_steering(folder, entries, is_root=is_root))
    return Listing(stamp, hides.key if hides else None, tuple(hidden), tuple(secret), steering, tuple(below))


def _is_hidden(entry: "os.DirEntry[str]", hides: Hides, *, is_folder: bool) -> bool:
    """Return True if an entry is hidden, by its own name or that of a hard link. Few files have several names."""
    if is_folder:
        return bool(hides.key) and hides(entry.path, None)
    found = entry.stat(follow_symlinks=False)
    return (bool(hides.key) or found.st_nlink > 1) and hides(entry.path, found)


def _list_steering(folder: str, entries: "list[os.DirEntry[str]]", *, is_root: bool) -> Iterator[str]:
    """Yield paths in a folder that other programs obey. To git, any folder with the names of a repository is one."""
    for entry in entries:
        name = fold_case(entry.name)
        if name in ANYWHERE or (is_root and name in PROTECTED):
            yield from (f"{entry.path}/{part}".rstrip("/") for part in _OBEYED_WITHIN.get(entry.name, ("",)))
    names = {entry.name for entry in entries}
    if any(names >= needed for needed in _REPOSITORIES):
        yield from (os.path.join(folder, name) for name in GIT_OBEYS)
