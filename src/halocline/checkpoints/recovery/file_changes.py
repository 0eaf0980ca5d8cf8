"""Changes single files of a restore. Each is replaced atomically, so it is either old or new.

A file is checked and changed in a folder that is held open and was opened below the workspace without following links.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath

from halocline.checkpoints.index.index import Path
from halocline.checkpoints.recovery.journal import Change
from halocline.checkpoints.store.contents import AT_ONCE, name_of, read_blobs
from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.git import Git
from halocline.checkpoints.store.reading import LINK, PROGRAM, read_in
from halocline.files.durable import sync_opened
from halocline.files.opening import list_below, open_below
from halocline.files.target import Target, held_below
from halocline.protocol.errors import HaloclineError

ANY_SIZE = 1 << 40


class NotRestored(HaloclineError):
    """A restore failed; every file is as it was."""

    code = "not_restored"


def make_entry(target: Target) -> Entry | None:
    found = target.find()
    if found is None or not (stat.S_ISLNK(found.st_mode) or stat.S_ISREG(found.st_mode)):
        return None
    kept = read_in(target.folder, target.name, ANY_SIZE)
    return Entry(kept.mode, name_of(kept.content)) if kept else None


def set_file(root: int, target: Target, entry: Entry | None, contents: Mapping[str, bytes], temporary: str) -> None:
    """Set a file to an entry, atomically."""
    if entry is None:
        target.drop()
        _remove_if_empty(root, os.path.dirname(os.fspath(target.path)))
        return
    found = target.find()
    if found and stat.S_ISDIR(found.st_mode):
        for folder, _ in reversed(list(walk_below(root, os.fspath(target.path)))):
            _remove_folder(root, folder)
    replace_file(target, entry, contents, temporary)


def replace_file(target: Target, entry: Entry | None, contents: Mapping[str, bytes], temporary: str) -> None:
    assert entry
    found = target.find()
    try:
        if entry.mode == LINK:
            os.symlink(contents[entry.sha], temporary, dir_fd=target.folder)
            target.replace(temporary)
            return
        like = found if found and stat.S_ISREG(found.st_mode) else None
        # Git only records whether a file is executable.
        with target.staged(temporary, contents[entry.sha], like, runs=entry.mode == PROGRAM):
            target.replace(temporary)
    except BaseException:
        with suppress(OSError):
            target.drop(temporary)
        raise


def _remove_if_empty(root: int, folder: str) -> None:
    """Remove the folder and those above it, as long as they are empty."""
    while folder and _remove_folder(root, folder):
        folder = os.path.dirname(folder)


def _remove_folder(root: int, path: str) -> bool:
    with suppress(OSError), held_below(root, path) as target:
        os.rmdir(target.name, dir_fd=target.folder)
        return True
    return False


def walk_below(root: int, path: str) -> Iterator[tuple[str, list[str]]]:
    """Walk a folder and those below it, parents first; yields each with the names of its other entries.

    Links are not followed; the depth is not limited.
    """
    left = [path]
    while left:
        place = left.pop()
        try:
            entries = list_below(root, place)
        except OSError:
            continue
        left += [f"{place}/{name}" for name, is_folder in entries if is_folder]
        yield place, [name for name, is_folder in entries if not is_folder]


def sync_below(root: int, paths: Iterable[Path]) -> None:
    """Make the contents of these files, and that some are gone, survive a power cut."""
    names = [os.fsdecode(path) for path in paths]
    folders = {str(above) for name in names for above in PurePath(name).parents}
    sync_opened([*names, *folders], lambda name: open_below(root, name))


def batches_of(changes: Sequence[Change]) -> Iterator[Sequence[Change]]:
    return (changes[at : at + AT_ONCE] for at in range(0, len(changes), AT_ONCE))


def place_of(git: Git, path: Path) -> str:
    return os.path.join(git.workspace, os.fsdecode(path))


def read_contents(git: Git, entries: Iterable[Entry | None]) -> Mapping[str, bytes]:
    """Read the contents of blobs. Raises GitFailed or NotRestored for one that is damaged or lost."""
    wanted = {entry.sha for entry in entries if entry}
    held = read_blobs(git, wanted)
    if wanted - held.keys():
        raise NotRestored(
            "Nothing was restored: the saved content of a file is lost from the store.", "Choose another checkpoint."
        )
    return held
