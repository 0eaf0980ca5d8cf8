"""Brings a store's index up to date with the workspace: which files go in, and reading them.

Git finds what differs. What it names is looked at and read below the workspace by `reading`, and git gets contents and
names from us: wherever its own walk was led, nothing that lies outside gets in.

What is left out: ignored files (the project's rules and ours), files over the limit, unreadable and special files. Of
nested repositories the files go in, and their git is not touched.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from halocline.checkpoints.store import contents, layout, objects
from halocline.checkpoints.store.git import LEAVE_OUT, Git, TakesLong
from halocline.checkpoints.store.reading import Kept, Reader

# More than this are kept in one pack, which is five times smaller than a file for each.
_FEW = 50
_AT_ONCE, _A_WHILE = 16 << 20, 2.0
"""Bytes of contents in memory at one time, one file aside, and seconds of reading, before they go into the store."""

# A folder of very many repositories is no project.
_MOST_NESTED = 30
_MARK = b".halocline-nested"
# Git refuses an index that has a link of this name.
_NO_LINKS = (b".gitmodules",)
_NO_BLOB = "0" * 40

# As git names it: bytes, relative to the workspace.
Path = bytes
# Git never changes an index in place: it is always another file with another time.
Stamp = tuple[int, int, int]


# Whether reading may go on, given the seconds that it will take.
GoOn = Callable[[float], bool]


def in_time(deadline: float) -> GoOn:
    """Read as long as all will be read by the deadline, in `time.monotonic` seconds."""
    return lambda seconds: time.monotonic() + seconds < deadline


def reading_until(moment: float) -> GoOn:
    """Read until that moment, in `time.monotonic` seconds."""
    return lambda seconds: time.monotonic() < moment


def update_index(git: Git, largest: int) -> frozenset[Path]:
    """Read what changed into the index; `largest` is in bytes. Gives what is left out although no rule ignores it."""
    wanted, left_out = scan_index(git, largest)
    add_paths(git, wanted, largest)
    return left_out


def add_paths(git: Git, wanted: Sequence[Path], largest: int, go_on: GoOn = lambda seconds: True) -> None:
    """Read these into the index; those that are gone are taken out, and what cannot be read stays as it was.

    What was read goes into the index piece by piece, so that it is kept when the reading is broken off.

    Raises:
        TakesLong: it may not go on.
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
                    raise TakesLong(f"{left:,} files of this folder are still to be read", LEAVE_OUT, seconds)
    freshen_index(git)


def index_stamp(git: Git) -> Stamp | None:
    """Another one for every state of the index; None when there is none."""
    try:
        found = os.stat(git.store / "index")
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def freshen_index(git: Git) -> None:
    """Note anew when files were written that the index holds as they are."""
    # 1 says that others differ.
    git.run("update-index", "-q", "--refresh", accept=(0, 1))


def list_ignored(git: Git, places: Sequence[Path]) -> frozenset[Path]:
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


def scan_index(git: Git, largest: int, listing: Sequence[bytes] | None = None) -> tuple[list[Path], frozenset[Path]]:
    """What changed or is new since the index was written, and what of it is left out although no rule ignores it.

    `listing` is what `list_differing` gave just now.
    """
    wanted: list[Path] = []
    left_out: set[Path] = set()
    with Reader(os.fsencode(git.workspace)) as reader:
        for record in _with_nested(git, reader, listing):
            path, is_nested = record[2:].rstrip(b"/"), record.endswith(b"/")
            goes_in = _goes_in(reader, path, largest, is_known=record[:1] != b"?")
            if goes_in is False or (goes_in and is_nested):
                left_out.add(path)
            elif goes_in:
                wanted.append(path)
    return wanted, frozenset(left_out)


def list_differing(git: Git) -> list[bytes]:
    """What differs from the index, each after a letter and a blank. A nested repository is one folder."""
    return git.run("ls-files", "-z", "-t", "--modified", "--others", "--exclude-standard").split(b"\0")[:-1]


def _with_nested(git: Git, reader: Reader, listing: Sequence[bytes] | None) -> Sequence[bytes]:
    """What differs, also within nested repositories."""
    entered: set[Path] = set()
    while True:
        found, listing = list_differing(git) if listing is None else listing, None
        nested = {record[2:] for record in found if record.endswith(b"/")} - entered
        if not nested or len(entered) + len(nested) > _MOST_NESTED:
            return found
        entered |= nested
        _enter_nested(git, [folder for folder in nested if _is_folder(reader, folder.rstrip(b"/"))])


def _enter_nested(git: Git, nested: Sequence[Path]) -> None:
    """Let git go into nested repositories as into any folder: it does when the index has a file there.

    One that is not on the disk will do. The next update takes it out again.
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


def _goes_in(reader: Reader, path: Path, largest: int, is_known: bool) -> bool | None:
    """Tell whether a file belongs in the index; None if it is neither in the index nor below the workspace."""
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
    if stat.S_ISLNK(info.st_mode):
        return os.path.basename(path).lower() not in _NO_LINKS
    return reader.may_read(path)


def _is_storable(info: os.stat_result, largest: int) -> bool:
    return stat.S_ISLNK(info.st_mode) or (stat.S_ISREG(info.st_mode) and info.st_size <= largest)


def list_ordinary(root: bytes, paths: Sequence[str], largest: int) -> list[Path] | None:
    """Where these files lie in the workspace; None when one of them needs the judgement of a whole scan."""
    found: set[Path] = set()
    for text in paths:
        try:
            places = places_of(os.path.join(root, os.fsencode(text)))
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


def places_of(full: bytes) -> set[bytes]:
    """Return where a file is: the file itself and, when it is a link, the one it leads to."""
    folder, name = os.path.split(full)
    try:
        return {os.path.realpath(full), os.path.join(os.path.realpath(folder), name)}
    except OSError:
        # A folder on the way became a link, or a link a folder, between two looks at it.
        return {full}


def _is_ordinary(full: bytes, largest: int) -> bool:
    try:
        return _is_storable(os.lstat(full), largest)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _is_of_git(full: bytes) -> bool:
    return b".git" in full.lower().split(b"/")


def _read_batches(
    reader: Reader, wanted: Sequence[Path], largest: int
) -> Iterator[tuple[int, Mapping[Path, Kept | None]]]:
    """Yield the contents of these files in batches, without those that cannot be read, and how many were tried."""
    held, size, began = dict[Path, Kept | None](), 0, time.monotonic()
    for done, path in enumerate(wanted, 1):
        with suppress(OSError):
            kept = held[path] = reader.read(path, largest)
            size += len(kept.content) if kept else 0
        if done == len(wanted) or size > _AT_ONCE or time.monotonic() - began > _A_WHILE:
            yield done, held
            held, size, began = {}, 0, time.monotonic()


def _keep_contents(git: Git, held: Mapping[Path, Kept | None]) -> Iterator[bytes]:
    """Write contents into the store, and give what an index holds of them."""
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
