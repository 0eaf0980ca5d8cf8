"""Applies a list of file changes: all of them or none, even if the process is killed.

First a journal in the store records every file's content before and after; both contents are in the store. While the
journal is there, the change is not committed, and the next process to take the store's lock undoes it. If several
folders change together, each store has a journal, and that of the first records the commit. Each file is replaced
atomically, so it is either old or new; one that is neither was changed by another program and is left alone. A file is
checked and changed in a folder that is held open and was opened below the workspace without following links.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from pathlib import Path as File

from msgspec.structs import replace

from halocline.checkpoints.restore.journal import (
    Change,
    Journal,
    put_journal_aside,
    read_journal,
    remove_journal,
    write_journal,
)
from halocline.checkpoints.store import objects
from halocline.checkpoints.store.contents import (
    AT_ONCE,
    find_spoilt,
    name_of,
    read_blobs,
    rescue_blobs,
    settle_opened,
    sync_files,
)
from halocline.checkpoints.store.git import Git
from halocline.checkpoints.store.index import Path
from halocline.checkpoints.store.reading import LINK, NOT_BELOW, PROGRAM, Reader, read_in
from halocline.checkpoints.store.repository import JOURNAL
from halocline.checkpoints.store.trees import Entry
from halocline.files.opening import list_below, open_below, opened_folder
from halocline.files.target import Target, held_below
from halocline.protocol.errors import HaloclineError

_ANY_SIZE = 1 << 40
_FULL = frozenset({ENOSPC, EDQUOT})


class NotRestored(HaloclineError):
    """A restore failed; every file is as it was."""

    code = "not_restored"


def apply_changes(together: Sequence[tuple[Git, Sequence[Change]]]) -> None:
    """Make all changes in all stores. Deletions come first, so that a folder can take the place of a file.

    Raises:
        NotRestored: a file could not be written, or changed in the meantime. All files are as before.
    """
    journals = _write_journals(together)
    for git, journal in journals:
        sync_files(objects.object_place(git.store, change.before.sha) for change in journal.changes if change.before)
    begun: list[tuple[Git, Journal]] = []
    try:
        for git, journal in journals:
            begun.append((git, journal))
            write_journal(git.store, journal)
        for git, journal in begun:
            _make_all(git, journal)
        first, journal = begun[0]
        if journal.parts:
            write_journal(first.store, replace(journal, is_made=True))
    except OSError as error:
        others = _put_all_back(begun)
        but = f", except those that another program changed in the meantime: {', '.join(others)}" if others else ""
        what = os.fsdecode(error.filename) if error.filename else "a file"
        mend = "Free disk space" if error.errno in _FULL else "Close the program that uses it or fix its permissions"
        raise NotRestored(
            f"Nothing was restored: {what} cannot be changed ({error.strerror or error}).",
            f"All files are as they were{but}. {mend}, then restore again.",
        ) from error
    except BaseException:
        _put_all_back(begun)
        raise
    for git, _ in reversed(begun):
        remove_journal(git.store)


def _write_journals(together: Sequence[tuple[Git, Sequence[Change]]]) -> list[tuple[Git, Journal]]:
    temporary = f".halo-{os.urandom(6).hex()}.tmp"
    parts = tuple((str(git.store), str(git.workspace)) for git, _ in together) if len(together) > 1 else ()
    for git, _ in together:
        if (git.store / JOURNAL).exists():
            raise NotRestored("Nothing was restored: an earlier restore is still finishing.", "Try again in a moment.")
    return [(git, Journal(temporary, _order_changes(changes), parts)) for git, changes in together]


def _order_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda change: (change.after is not None, change.before is None)))


def _make_all(git: Git, journal: Journal) -> None:
    with opened_folder(os.fspath(git.workspace)) as root:
        for few in _batches_of(journal.changes):
            contents = _read_contents(git, [change.after for change in few])
            for change in few:
                try:
                    _make_change(root, change, contents, journal.temporary)
                except OSError as error:
                    raise OSError(error.errno, error.strerror, _place_of(git, change.path)) from error
        _settle_below(root, (change.path for change in journal.changes if change.after))


def _put_all_back(begun: Sequence[tuple[Git, Journal]]) -> list[str]:
    return [_place_of(git, path) for git, journal in reversed(begun) for path in _put_back(git, journal)]


def _settle_below(root: int, paths: Iterable[Path]) -> None:
    settle_opened(paths, lambda path: open_below(root, os.fsdecode(path)))


def others_of(store: File) -> list[tuple[File, File]]:
    """The other stores, with their workspaces, of a restore that was interrupted."""
    journal = read_journal(store)
    parts = journal.parts if journal else ()
    return [(File(other), File(workspace)) for other, workspace in parts if other != str(store)]


def _is_made(journal: Journal) -> bool:
    """True if all stores had been changed, by the first one's journal."""
    first = read_journal(File(journal.parts[0][0])) if journal.parts else None
    return first is not None and first.temporary == journal.temporary and first.is_made


def _waits_for_it(store: File, journal: Journal) -> bool:
    """True if this is the first store and another one still needs its journal to know that the change was committed."""
    found = [read_journal(other) for other, _ in others_of(store)]
    is_first = journal.parts[0][0] == str(store)
    return is_first and any(other and other.temporary == journal.temporary for other in found)


def mend_restore(git: Git) -> str:
    """Undo the unfinished restore of a process that died and describe what was done; the store's lock must be held.

    The other stores that change together must be handled first. If the folder is gone, the journal waits for it.
    """
    if not git.workspace.is_dir():
        return ""
    journal = read_journal(git.store)
    if journal is None:
        return put_journal_aside(git.store)
    if _is_made(journal):
        if not _waits_for_it(git.store, journal):
            remove_journal(git.store)
        return ""
    others = _put_back(git, journal)
    start = "A restore was interrupted when Halocline was killed. "
    if not others:
        return start + "It was undone; the files are as before it."
    names = ", ".join(map(os.fsdecode, others))
    return start + f"It was undone, except for files that changed since or are lost: {names}."


def secure_files(git: Git, changes: Iterable[Change]) -> None:
    """Make sure that every file can be put back to its present content; save damaged contents again.

    Raises:
        NotRestored: one cannot. Nothing was changed.
    """
    root, now = os.fsencode(git.workspace), {change.before.sha: change for change in changes if change.before}
    for sha in find_spoilt(git, now):
        full = os.path.join(root, now[sha].path)
        with suppress(OSError), Reader(root) as reader:
            kept = reader.read(now[sha].path, _ANY_SIZE)
            if kept and name_of(kept.content) == sha:
                rescue_blobs(git, [kept.content])
                continue
        raise NotRestored(
            f"Nothing was restored: {os.fsdecode(full)} cannot be saved first, so the restore could not be undone.",
            "This folder's checkpoint store is damaged: copy that file elsewhere, delete it, then try again.",
        )


def write_tree(git: Git, commit: str, folder: File) -> None:
    """Write the files of a commit to a folder. Raises NotRestored if one exists; those written before it stay."""
    listing = git.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]
    changes = [_new_change(record) for record in listing]
    folder.mkdir(parents=True, exist_ok=True)
    place = folder.resolve()
    try:
        with opened_folder(os.fspath(place)) as root:
            for few in _batches_of(changes):
                contents = _read_contents(git, [change.after for change in few])
                for change in few:
                    _export_file(root, change, contents)
    except OSError as error:
        name = os.path.join(place, os.fsdecode(error.filename or b""))
        raise NotRestored(
            f"{name} cannot be written: {error.strerror or error}.", "Choose an empty folder that you can write to."
        ) from error


def _export_file(root: int, change: Change, contents: Mapping[str, bytes]) -> None:
    path = os.fsdecode(change.path)
    try:
        with held_below(root, path, making_folders=True) as target:
            if target.find():
                raise OSError(None, "it already exists")
            _replace_file(target, change.after, contents, f".halo-{os.urandom(6).hex()}.tmp")
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def _new_change(record: bytes) -> Change:
    head, _, path = record.partition(b"\t")
    mode, _, sha = head.split()
    return Change(path, None, Entry(mode, sha.decode()))


def entry_at(root: int, path: Path) -> Entry | None:
    """The file or link at a path. None for anything else, and if a folder on the way is a link."""
    try:
        with held_below(root, os.fsdecode(path)) as target:
            return _make_entry(target)
    except OSError as error:
        if error.errno in NOT_BELOW:
            return None
        raise


def _make_entry(target: Target) -> Entry | None:
    found = target.find()
    if found is None or not (stat.S_ISLNK(found.st_mode) or stat.S_ISREG(found.st_mode)):
        return None
    kept = read_in(target.folder, target.name, _ANY_SIZE)
    return Entry(kept.mode, name_of(kept.content)) if kept else None


def _make_change(root: int, change: Change, contents: Mapping[str, bytes], temporary: str) -> None:
    path = os.fsdecode(change.path)
    with held_below(root, path, making_folders=change.before is None) as target:
        if _make_entry(target) != change.before:
            raise OSError(None, "it changed in the meantime")
        _set_file(root, target, change.after, contents, temporary)


def _set_file(root: int, target: Target, entry: Entry | None, contents: Mapping[str, bytes], temporary: str) -> None:
    """Set a file to an entry, atomically."""
    if entry is None:
        target.drop()
        _remove_if_empty(root, os.path.dirname(os.fspath(target.path)))
        return
    found = target.find()
    if found and stat.S_ISDIR(found.st_mode):
        for folder, _ in reversed(list(walk_below(root, os.fspath(target.path)))):
            _remove_folder(root, folder)
    _replace_file(target, entry, contents, temporary)


def _replace_file(target: Target, entry: Entry | None, contents: Mapping[str, bytes], temporary: str) -> None:
    assert entry
    found = target.find()
    try:
        if entry.mode == LINK:
            os.symlink(contents[entry.sha], temporary, dir_fd=target.folder)
        else:
            like = found if found and stat.S_ISREG(found.st_mode) else None
            # Git only records whether a file is executable.
            target.stage(temporary, contents[entry.sha], like, runs=entry.mode == PROGRAM)
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


def _put_back(git: Git, journal: Journal) -> list[Path]:
    """Undo all changes, the last one first. Returns the files that were not undone: changed since, or lost."""
    others: list[Path] = []
    lost = find_spoilt(git, (change.before.sha for change in journal.changes if change.before))
    with opened_folder(os.fspath(git.workspace)) as root:
        for few in _batches_of(journal.changes[::-1]):
            known = [change.before for change in few if change.before and change.before.sha not in lost]
            contents = _read_contents(git, known)
            for change in few:
                if not _put_one_back(root, change, contents, journal.temporary):
                    others.append(change.path)
        _settle_below(root, (change.path for change in journal.changes if change.before))
    remove_journal(git.store)
    return others


def _put_one_back(root: int, change: Change, contents: Mapping[str, bytes], temporary: str) -> bool:
    """Undo one change; return True if the file is now as it was before. `contents` lacks lost contents."""
    try:
        with held_below(root, os.fsdecode(change.path), making_folders=change.after is None) as target:
            target.drop(temporary)
            now = _make_entry(target)
            is_kept = change.before is None or change.before.sha in contents
            if now == change.after != change.before and is_kept:
                _set_file(root, target, change.before, contents, temporary)
                return True
            return now == change.before
    except OSError as error:
        if error.errno in NOT_BELOW:  # a link or a file took the place of a folder
            return change.before is None
        raise


def _batches_of(changes: Sequence[Change]) -> Iterator[Sequence[Change]]:
    return (changes[at : at + AT_ONCE] for at in range(0, len(changes), AT_ONCE))


def _place_of(git: Git, path: Path) -> str:
    return os.path.join(git.workspace, os.fsdecode(path))


def _read_contents(git: Git, entries: Iterable[Entry | None]) -> Mapping[str, bytes]:
    """Read the contents of blobs. Raises GitFailed or NotRestored for one that is damaged or lost."""
    wanted = {entry.sha for entry in entries if entry}
    held = read_blobs(git, wanted)
    if wanted - held.keys():
        raise NotRestored(
            "Nothing was restored: the saved content of a file is lost from the store.", "Choose another checkpoint."
        )
    return held


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
