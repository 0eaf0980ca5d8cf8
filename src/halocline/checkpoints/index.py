"""Brings a store's index up to date with the workspace: which files go in, and reading them.

What is left out: ignored files (the project's rules and ours), files over the limit, unreadable and special files. Of
nested repositories the files go in, and their git is not touched.
"""

import os
import stat
from collections.abc import Iterable, Sequence

from halocline.checkpoints import objects
from halocline.checkpoints.git import Git, GitFailed

# Up to this many files are named to git one by one; each name is compared with every file of the workspace.
_FEW = 50
_ADD = ("add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
# 1 says that single files were ignored or could not be read.
_GOOD_ENOUGH = (0, 1)

# A folder of very many repositories is no project.
_MOST_NESTED = 30
_MARK = b".halocline-nested"

# As git names it: bytes, relative to the workspace.
Path = bytes
# Git never changes an index in place: it is always another file with another time.
Stamp = tuple[int, int, int]


def update(git: Git, largest: int) -> frozenset[Path]:
    """Read what changed into the index; `largest` is in bytes. Gives what is left out although no rule ignores it."""
    wanted, left_out = scan(git, largest)
    add(git, wanted, left_out)
    return left_out


def add(git: Git, wanted: Sequence[Path], left_out: frozenset[Path]) -> None:
    """Read these into the index."""
    if len(wanted) > _FEW or not _add(git, wanted, left_out):
        _add_all(git, left_out)


def stamp(git: Git) -> Stamp | None:
    """Another one for every state of the index; None when there is none."""
    try:
        found = os.stat(git.store / "index")
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def freshen(git: Git) -> None:
    """Note anew when files were written that the index holds as they are."""
    # 1 says that others differ.
    git.run("update-index", "-q", "--refresh", accept=(0, 1))


def ignored(git: Git, places: Sequence[Path]) -> frozenset[Path]:
    """Which of these files the rules leave out."""
    # 1 says that none is ignored.
    answer = git.run("check-ignore", "-z", "--stdin", data=b"\0".join(places) + b"\0", accept=(0, 1))
    return frozenset(answer.split(b"\0")[:-1])


def leave_out(git: Git) -> None:
    """Take out of the index what our rules leave out by now."""
    rules = str(git.store / "info" / "exclude")
    found = git.run("ls-files", "-z", "--cached", "--ignored", "--exclude-from", rules)
    if found:
        git.run("update-index", "-z", "--force-remove", "--stdin", data=found)


def scan(git: Git, largest: int, listing: Sequence[bytes] | None = None) -> tuple[list[Path], frozenset[Path]]:
    """What changed or is new since the index was written, and what of it is left out although no rule ignores it.

    `listing` is what `differing` gave just now.
    """
    listing = _with_nested(git, listing)
    root = os.fsencode(git.workspace)
    wanted: list[Path] = []
    left_out: set[Path] = set()
    for record in listing:
        tag, path = record[:1], record[2:]
        if _goes_in(root, path, largest, is_known=tag != b"?"):
            wanted.append(path)
        else:
            left_out.add(path.rstrip(b"/"))
    return wanted, frozenset(left_out)


def differing(git: Git) -> list[bytes]:
    """What differs from the index, each after a letter and a blank. A nested repository is one folder."""
    return git.run("ls-files", "-z", "-t", "--modified", "--others", "--exclude-standard").split(b"\0")[:-1]


def _with_nested(git: Git, listing: Sequence[bytes] | None) -> Sequence[bytes]:
    """What differs, also within nested repositories."""
    entered: set[Path] = set()
    while True:
        found, listing = differing(git) if listing is None else listing, None
        nested = {record[2:] for record in found if record.endswith(b"/")} - entered
        if not nested or len(entered) + len(nested) > _MOST_NESTED:
            return found
        entered |= nested
        _enter(git, nested)


def _enter(git: Git, nested: Iterable[Path]) -> None:
    """Let git go into nested repositories as into any folder: it does when the index has a file there.

    One that is not on the disk will do. The next update takes it out again.
    """
    blob = objects.write(git.store, b"blob", b"").encode()
    entries = b"".join(b"100644 %b\t%b\0" % (blob, folder + _MARK) for folder in nested)
    git.run("update-index", "-z", "--index-info", data=entries)


def _goes_in(root: bytes, path: Path, largest: int, is_known: bool) -> bool:
    # git writes a nested repository as a folder.
    if path.endswith(b"/"):
        return False
    full = os.path.join(root, path)
    try:
        info = os.lstat(full)
    except OSError:
        return is_known
    if stat.S_ISDIR(info.st_mode):
        return is_known
    return _is_storable(info, largest) and (stat.S_ISLNK(info.st_mode) or os.access(full, os.R_OK))


def _is_storable(info: os.stat_result, largest: int) -> bool:
    return stat.S_ISLNK(info.st_mode) or (stat.S_ISREG(info.st_mode) and info.st_size <= largest)


def ordinary(root: bytes, paths: Sequence[str], largest: int) -> list[Path] | None:
    """Where these files lie in the workspace; None when one of them needs the judgement of a whole scan."""
    found: set[Path] = set()
    for text in paths:
        try:
            places = _places(os.path.join(root, os.fsencode(text)))
        except ValueError:
            # No file has such a name.
            return None
        for place in places:
            if not place.startswith(root + b"/"):
                continue
            if not _is_ordinary(place, largest) or _is_of_git(place):
                return None
            found.add(os.path.relpath(place, root))
    return sorted(found)


def _places(full: bytes) -> set[bytes]:
    """The file itself and, when it is a link, the one it leads to."""
    folder, name = os.path.split(full)
    return {os.path.realpath(full), os.path.join(os.path.realpath(folder), name)}


def _is_ordinary(full: bytes, largest: int) -> bool:
    try:
        return _is_storable(os.lstat(full), largest)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _is_of_git(full: bytes) -> bool:
    return b".git" in full.lower().split(b"/")


def _add(git: Git, wanted: Sequence[Path], left_out: Iterable[Path]) -> bool:
    """Read exactly these; false when git does not accept one of the names, for one because it is gone meanwhile."""
    if not wanted:
        return True
    try:
        git.run(*_ADD, data=_pathspecs([b":(top,literal)" + path for path in wanted], left_out), accept=_GOOD_ENOUGH)
    except GitFailed:
        return False
    return True


def _add_all(git: Git, left_out: Iterable[Path]) -> None:
    """Read everything. Objects are streamed into one pack, which is five times smaller than a file for each."""
    git.run("-c", "core.bigFileThreshold=1", *_ADD, data=_pathspecs([b":(top)"], left_out), accept=_GOOD_ENOUGH)


def _pathspecs(wanted: Sequence[bytes], left_out: Iterable[Path]) -> bytes:
    return b"\0".join([*wanted, *(b":(top,exclude,literal)" + path for path in left_out)])
