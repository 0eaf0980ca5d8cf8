"""Updates a store's index from the workspace: selects the files and reads them.

Git finds which files differ. `reading` then opens them below the workspace, and git gets contents and names from us:
even if git's own walk was led outside, nothing from there gets in.

Left out are ignored files (by the project's rules and ours), files over the limit, unreadable and special files. Files
of nested repositories are included; their git folders are not touched.
"""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from halocline.checkpoints.selection import sizes
from halocline.checkpoints.selection.overruled import list_overruled
from halocline.checkpoints.store import contents, layout, objects
from halocline.checkpoints.store.git import LEAVE_OUT, Git, TakesLong
from halocline.checkpoints.store.reading import Kept, Reader
from halocline.checkpoints.store.tracked import Tracked

# More than this go into one pack, which is five times smaller than single files.
_FEW = 50
_AT_ONCE, _A_WHILE = 16 << 20, 2.0
"""Bytes in memory at a time, apart from one file, and seconds of reading, before contents go into the store."""

# A folder of very many repositories is not a project.
_MOST_NESTED = 30
_MARK = b".halocline-nested"
# Git refuses an index that has a link of this name.
_NO_LINKS = (b".gitmodules",)
_NO_BLOB = "0" * 40

# A path as git names it: bytes, relative to the workspace.
Path = bytes
# Git never changes an index in place: it always writes a new file with a new time.
Stamp = tuple[int, int, int]


# True if reading may continue, given the seconds that the rest will take.
GoOn = Callable[[float], bool]


def in_time(deadline: float) -> GoOn:
    """Read as long as it will be finished by the deadline, in `time.monotonic` seconds."""
    return lambda seconds: time.monotonic() + seconds < deadline


def reading_until(moment: float) -> GoOn:
    """Read until `moment`, in `time.monotonic` seconds."""
    return lambda seconds: time.monotonic() < moment


def update_index(git: Git, largest: int) -> frozenset[Path]:
    """Read changed files into the index; `largest` is in bytes. Returns files left out that no rule ignores."""
    wanted, left_out = scan_index(git, largest)
    add_paths(git, wanted, largest)
    return left_out


def add_paths(git: Git, wanted: Sequence[Path], largest: int, go_on: GoOn = lambda seconds: True) -> None:
    """Read these files into the index; deleted ones are removed, unreadable ones stay as they were.

    The index is updated batch by batch, so that interrupted work is not lost.

    Raises:
        TakesLong: `go_on` returned False.
    """
    if not wanted:
        return
    began = time.monotonic()
    with Reader(os.fsencode(git.workspace)) as reader:
        for done, few in _read_batches(reader, wanted, largest):
            git.run("update-index", "-z", "--index-info", data=b"".join(_keep_contents(git, few)))
            if left := len(wanted) - done:
                layout.note_unread(git.store, left)
                seconds = (time.monotonic() - began) / done * left
                if not go_on(seconds):
                    freshen_index(git)
                    raise TakesLong(f"{left:,} files of this folder must still be read", LEAVE_OUT, seconds)
    freshen_index(git)


def index_stamp(git: Git) -> Stamp | None:
    """An identity of the index's state, different after every write; None if there is no index."""
    try:
        found = os.stat(git.store / "index")
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def freshen_index(git: Git) -> None:
    """Update the times in the index of files whose content it already has."""
    # 1 means that some files differ.
    git.run("update-index", "-q", "--refresh", accept=(0, 1))


def list_ignored(git: Git, places: Sequence[Path]) -> frozenset[Path]:
    """The files among these that the rules leave out."""
    # 1 means that none is ignored.
    answer = git.run("check-ignore", "-z", "--stdin", data=b"\0".join(places) + b"\0", accept=(0, 1))
    return frozenset(answer.split(b"\0")[:-1])


def drop_ignored(git: Git) -> None:
    """Remove files from the index that no checkpoint may hold, by rules that changed."""
    rules = str(layout.never_file(git.store))
    found = git.run("ls-files", "-z", "--cached", "--ignored", "--exclude-from", rules)
    if found:
        git.run("update-index", "-z", "--force-remove", "--stdin", data=found)


def scan_index(git: Git, largest: int, listing: Sequence[bytes] | None = None) -> tuple[list[Path], frozenset[Path]]:
    """Files that are new or changed since the index was written, and those left out although no rule ignores them.

    `listing` is a fresh result of `list_differing`.
    """
    wanted: list[Path] = []
    left_out: set[Path] = set()
    with Reader(os.fsencode(git.workspace)) as reader:
        for record in (*_with_nested(git, reader, listing), *_list_missing(git)):
            path, is_nested = record[2:].rstrip(b"/"), record.endswith(b"/")
            goes_in = _goes_in(reader, path, largest, is_known=record[:1] != b"?", tracked=git.tracked)
            if goes_in is False or (goes_in and is_nested):
                left_out.add(path)
            elif goes_in:
                wanted.append(path)
    return wanted, frozenset(left_out)


def _list_missing(git: Git) -> list[bytes]:
    """Files that git tracks and the index lacks because a rule leaves them out; each as `list_differing` has it."""
    if not (found := list_overruled(git)):
        return []
    known = git.run("ls-files", "-z", "--cached", "--ignored", "--exclude-standard").split(b"\0")
    return [b"? " + path for path in sorted(found.difference(known))]


def list_differing(git: Git) -> list[bytes]:
    """Files that differ from the index, each after a letter and a space. A nested repository is one folder."""
    return git.run("ls-files", "-z", "-t", "--modified", "--others", "--exclude-standard").split(b"\0")[:-1]


def _with_nested(git: Git, reader: Reader, listing: Sequence[bytes] | None) -> Sequence[bytes]:
    """Files that differ, including those in nested repositories."""
    entered: set[Path] = set()
    while True:
        found, listing = list_differing(git) if listing is None else listing, None
        nested = {record[2:] for record in found if record.endswith(b"/")} - entered
        if not nested or len(entered) + len(nested) > _MOST_NESTED:
            return found
        entered |= nested
        _enter_nested(git, [folder for folder in nested if _is_folder(reader, folder.rstrip(b"/"))])


def _enter_nested(git: Git, nested: Sequence[Path]) -> None:
    """Make git enter nested repositories like any folder, which it does if the index has a file there.

    A file that does not exist is enough. The next update removes it.
    """
    if nested:
        blob = objects.write_object(git.store, b"blob", b"").encode()
        entries = b"".join(b"100644 %b\t%b\0" % (blob, folder + _MARK) for folder in nested)
        git.run("update-index", "-z", "--index-info", data=entries)


def _is_folder(reader: Reader, path: Path) -> bool:
    try:
        info = reader.look(path)
    except OSError:
        return False
    return info is not None and stat.S_ISDIR(info.st_mode)


def _goes_in(reader: Reader, path: Path, largest: int, *, is_known: bool, tracked: Tracked | None) -> bool | None:
    """True if a file belongs in the index; None if it is neither in the index nor below the workspace."""
    try:
        info = reader.look(path)
    except OSError:
        return False
    if info is None:
        return is_known or None
    if stat.S_ISDIR(info.st_mode):
        return is_known
    if not _is_storable(info, largest) or _is_of_git(path):
        return False
    is_small = is_known or _is_storable(info, sizes.largest_saved(path, largest))
    if not is_small and not (tracked and path in tracked.names):
        return False
    if stat.S_ISLNK(info.st_mode):
        return os.path.basename(path).lower() not in _NO_LINKS
    return reader.may_read(path)


def _is_storable(info: os.stat_result, largest: int) -> bool:
    return stat.S_ISLNK(info.st_mode) or (stat.S_ISREG(info.st_mode) and info.st_size <= largest)


def list_ordinary(root: bytes, paths: Sequence[str], largest: int) -> list[Path] | None:
    """The places of these entries in the workspace; None if one of them needs a full scan."""
    found = find_places(root, paths)
    ordinary = (_is_ordinary(os.path.join(root, place), largest) and not _is_of_git(place) for place in found)
    return sorted(found) if all(ordinary) else None


def find_places(root: bytes, paths: Iterable[str]) -> set[Path]:
    """Return the places of entries below the root, relative to it."""
    found: set[Path] = set()
    for path in paths:
        with suppress(ValueError):  # no file can have such a name
            place = os.path.normpath(os.path.join(root, os.fsencode(path)))
            found |= {place[len(root) + 1 :]} if place.startswith(root + b"/") and b"\0" not in place else set()
    return found


def _is_ordinary(full: bytes, largest: int) -> bool:
    try:
        return _is_storable(os.lstat(full), sizes.largest_saved(full, largest))
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _is_of_git(full: bytes) -> bool:
    return b".git" in full.lower().split(b"/")


def _read_batches(
    reader: Reader, wanted: Sequence[Path], largest: int
) -> Iterator[tuple[int, Mapping[Path, Kept | None]]]:
    """Yield the number of files tried so far and a batch of their contents, without unreadable ones."""
    held, size, began = dict[Path, Kept | None](), 0, time.monotonic()
    for done, path in enumerate(wanted, 1):
        with suppress(OSError):
            kept = held[path] = reader.read(path, largest)
            size += len(kept.content) if kept else 0
        if done == len(wanted) or size > _AT_ONCE or time.monotonic() - began > _A_WHILE:
            yield done, held
            held, size, began = {}, 0, time.monotonic()


def _keep_contents(git: Git, held: Mapping[Path, Kept | None]) -> Iterator[bytes]:
    """Write contents to the store, and yield their index entries."""
    names = {path: contents.name_of(kept.content) for path, kept in held.items() if kept}
    blobs = {names[path]: kept.content for path, kept in held.items() if kept}
    if len(blobs) > _FEW:
        git.run("fast-import", "--quiet", "--depth=0", data=b"".join(map(_import_blob, blobs.values())))
    else:
        for blob in blobs.values():
            objects.write_object(git.store, b"blob", blob)
    for path, kept in held.items():
        mode = kept.mode if kept else b"0"
        yield b"%b %b\t%b\0" % (mode, names.get(path, _NO_BLOB).encode(), path)


def _import_blob(blob: bytes) -> bytes:
    return b"blob\ndata %d\n%b\n" % (len(blob), blob)
