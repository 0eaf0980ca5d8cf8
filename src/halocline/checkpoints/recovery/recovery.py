"""Undoes a restore that did not finish: at once if a change fails, or later if its process died.

A file that is neither as before the restore nor as after it was changed by another program, and is left alone.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path as File

from halocline.checkpoints.index.index import Path
from halocline.checkpoints.recovery.file_changes import batches_of, make_entry, read_contents, set_file, sync_below
from halocline.checkpoints.recovery.journal import Change, Journal, put_journal_aside, read_journal, remove_journal
from halocline.checkpoints.store.contents import find_spoilt
from halocline.checkpoints.store.git import Git
from halocline.checkpoints.store.reading import NOT_BELOW
from halocline.checkpoints.store.unreported import forget_made, note_undone
from halocline.files.opening import opened_folder
from halocline.files.target import held_below


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


def mend_restore(git: Git) -> None:
    """Undo the unfinished restore of a process that died and note what was done; the store's lock must be held.

    The other stores that change together must be handled first. If the folder is gone, the journal waits for it.
    """
    if not git.workspace.is_dir():
        return
    journal = read_journal(git.store)
    if journal is None:
        put_journal_aside(git.store)
        return
    if _is_made(journal):
        if not _waits_for_it(git.store, journal):
            remove_journal(git.store)
        return
    note_undone(git.store, _describe_undone(put_back(git, journal)))
    forget_made(git.store)
    remove_journal(git.store)


def _describe_undone(others: Sequence[Path]) -> str:
    """Say that an interrupted restore was undone, and name the files that were not set back."""
    start = "A restore was interrupted when Halocline was killed. "
    if not others:
        return start + "It was undone; the files are as before it."
    names = ", ".join(map(os.fsdecode, others))
    return start + f"It was undone, except for files that changed since or are lost: {names}."


def put_back(git: Git, journal: Journal) -> list[Path]:
    """Undo all changes, the last one first. Returns the files that were not undone: changed since, or lost.

    The journal stays: what is not undone must be noted before it is removed.
    """
    others: list[Path] = []
    lost = find_spoilt(git, (change.before.sha for change in journal.changes if change.before))
    with opened_folder(os.fspath(git.workspace)) as root:
        for few in batches_of(journal.changes[::-1]):
            known = [change.before for change in few if change.before and change.before.sha not in lost]
            contents = read_contents(git, known)
            for change in few:
                if not _put_one_back(root, change, contents, journal.temporary):
                    others.append(change.path)
        sync_below(root, (change.path for change in journal.changes))
    return others


def _put_one_back(root: int, change: Change, contents: Mapping[str, bytes], temporary: str) -> bool:
    """Undo one change; return True if the file is now as it was before. `contents` lacks lost contents."""
    try:
        with held_below(root, os.fsdecode(change.path), making_folders=change.after is None) as target:
            target.drop(temporary)
            now = make_entry(target)
            is_kept = change.before is None or change.before.sha in contents
            if now == change.after != change.before and is_kept:
                set_file(root, target, change.before, contents, temporary)
                return True
            return now == change.before
    except OSError as error:
        if error.errno in NOT_BELOW:  # a link or a file took the place of a folder
            return change.before is None
        raise
