"""Applies a list of file changes: all of them or none, even if the process is killed.

First a journal in the store records every file's content before and after; both contents are in the store. While the
journal is there, the change is not committed, and the next process to take the store's lock undoes it (`recovery`). If
several folders change together, each store has a journal, and that of the first records the commit.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from halocline.checkpoints.recovery import file_changes
from halocline.checkpoints.recovery.journal import Change, Journal, remove_journal, write_journal
from halocline.checkpoints.recovery.recovery import put_back
from halocline.checkpoints.store.contents import find_spoilt, name_of, rescue_blobs
from halocline.checkpoints.store.git import Git
from halocline.checkpoints.store.layout import JOURNAL
from halocline.checkpoints.store.reading import Reader
from halocline.checkpoints.store.syncing import sync_store
from halocline.files.durable import tells_full_disk
from halocline.files.opening import opened_folder
from halocline.files.target import held_below


def apply_changes(together: Sequence[tuple[Git, Sequence[Change]]], note: Callable[[], None]) -> None:
    """Make all changes in all stores. Deletions come first, so that a folder can take the place of a file.

    `note` is called before the changes are committed, so that no committed change is unknown to the next process.

    Raises:
        NotRestored: a file could not be written, or changed in the meantime. All files are as before.
    """
    journals = _write_journals(together)
    for git, _ in journals:
        sync_store(git.store)
    begun: list[tuple[Git, Journal]] = []
    try:
        for git, journal in journals:
            begun.append((git, journal))
            write_journal(git.store, journal)
        for git, journal in begun:
            _make_all(git, journal)
        note()
        first, journal = begun[0]
        if journal.parts:
            write_journal(first.store, replace(journal, is_made=True))
    except OSError as error:
        others = _put_all_back(begun)
        but = f", except those that another program changed in the meantime: {', '.join(others)}" if others else ""
        what = os.fsdecode(error.filename) if error.filename else "a file"
        mend = "Free disk space" if tells_full_disk(error) else "Close the program that uses it or fix its permissions"
        raise file_changes.NotRestored(
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
            raise file_changes.NotRestored(
                "Nothing was restored: an earlier restore is still finishing.", "Try again in a moment."
            )
    return [(git, Journal(temporary, _order_changes(changes), parts)) for git, changes in together]


def _order_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda change: (change.after is not None, change.before is None)))


def _make_all(git: Git, journal: Journal) -> None:
    with opened_folder(os.fspath(git.workspace)) as root:
        for few in file_changes.batches_of(journal.changes):
            contents = file_changes.read_contents(git, [change.after for change in few])
            for change in few:
                try:
                    _make_change(root, change, contents, journal.temporary)
                except OSError as error:
                    raise OSError(error.errno, error.strerror, file_changes.place_of(git, change.path)) from error
        file_changes.sync_below(root, (change.path for change in journal.changes))


def _put_all_back(begun: Sequence[tuple[Git, Journal]]) -> list[str]:
    others: list[str] = []
    for git, journal in reversed(begun):
        others += [file_changes.place_of(git, path) for path in put_back(git, journal)]
        remove_journal(git.store)
    return others


def secure_files(git: Git, changes: Iterable[Change]) -> None:
    """Make sure that every file can be put back to its present content; save damaged contents again.

    Raises:
        NotRestored: one cannot. Nothing was changed.
    """
    root, now = os.fsencode(git.workspace), {change.before.sha: change for change in changes if change.before}
    for sha in find_spoilt(git, now):
        full = os.path.join(root, now[sha].path)
        with suppress(OSError), Reader(root) as reader:
            kept = reader.read(now[sha].path, file_changes.ANY_SIZE)
            if kept and name_of(kept.content) == sha:
                rescue_blobs(git, [kept.content])
                continue
        raise file_changes.NotRestored(
            f"Nothing was restored: {os.fsdecode(full)} cannot be saved first, so the restore could not be undone.",
            "This folder's checkpoint store is damaged: copy that file elsewhere, delete it, then try again.",
        )


def _make_change(root: int, change: Change, contents: Mapping[str, bytes], temporary: str) -> None:
    path = os.fsdecode(change.path)
    with held_below(root, path, making_folders=change.before is None) as target:
        if file_changes.make_entry(target) != change.before:
            raise OSError(None, "it changed in the meantime")
        file_changes.set_file(root, target, change.after, contents, temporary)
