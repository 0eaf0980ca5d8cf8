"""Puts files to what a list of changes says: all of them, or none even when the process is killed.

A journal in the store says first what every file was and shall be; both are in the store. While it is there, the
change is not made, and whoever takes the store's lock next puts back what was done. Where several folders change
together, each store has a journal, and that of the first says when all is made. Every single file appears in one step,
so it is the one or the other; one that is neither is somebody else's, and is left alone. No link is followed.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path as File

from msgspec.structs import replace

from halocline.checkpoints import objects
from halocline.checkpoints.contents import AT_ONCE, name_of, read, rescued, settle, spoilt
from halocline.checkpoints.git import Git
from halocline.checkpoints.index import Path
from halocline.checkpoints.journals import (
    Change,
    Journal,
    put_journal_aside,
    read_journal,
    remove_journal,
    write_journal,
)
from halocline.checkpoints.reading import LINK, PROGRAM, Reader
from halocline.checkpoints.repository import JOURNAL
from halocline.checkpoints.trees import Entry
from halocline.protocol.errors import HaloclineError

_ANY_SIZE = 1 << 40


class NotRestored(HaloclineError):
    """A restore could not be carried out; every file is as it was."""

    code = "not_restored"


def apply(together: Sequence[tuple[Git, Sequence[Change]]]) -> None:
    """Make all changes in all stores. Deletions come first, so that a folder can take the place of a file.

    Raises:
        NotRestored: a file could not be written, or changed meanwhile. All are as before.
    """
    journals = _journals(together)
    for git, journal in journals:
        settle(objects.place(git.store, change.before.sha) for change in journal.changes if change.before)
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
        _put_all_back(begun)
        what = error.filename if isinstance(error.filename, str) else os.fsdecode(error.filename or b"")
        raise NotRestored(
            f"Nothing was restored: {what} cannot be changed ({error.strerror or error}).",
            "Every file is as it was. Close what uses it or mend its permissions, and restore again.",
        ) from error
    except BaseException:
        _put_all_back(begun)
        raise
    for git, _ in reversed(begun):
        remove_journal(git.store)


def _journals(together: Sequence[tuple[Git, Sequence[Change]]]) -> list[tuple[Git, Journal]]:
    temporary = f".halo-{os.urandom(6).hex()}.tmp"
    parts = tuple((str(git.store), str(git.workspace)) for git, _ in together) if len(together) > 1 else ()
    for git, _ in together:
        if (git.store / JOURNAL).exists():
            raise NotRestored("Nothing was restored: an earlier restore is being ended.", "Try again in a moment.")
    return [(git, Journal(temporary, _ordered(changes), parts)) for git, changes in together]


def _ordered(changes: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda change: (change.after is not None, change.before is None)))


def _make_all(git: Git, journal: Journal) -> None:
    for few in _few(journal.changes):
        contents = _contents(git, [change.after for change in few])
        for change in few:
            _make(git, change, contents, journal.temporary)
    settle(_place(git, change) for change in journal.changes if change.after)


def _put_all_back(begun: Sequence[tuple[Git, Journal]]) -> None:
    for git, journal in reversed(begun):
        _put_back(git, journal)


def others_of(store: File) -> list[tuple[File, File]]:
    """The other stores, with their workspaces, that a restore was changing which did not come to its end."""
    journal = read_journal(store)
    parts = journal.parts if journal else ()
    return [(File(other), File(workspace)) for other, workspace in parts if other != str(store)]


def _is_made(journal: Journal) -> bool:
    """Whether all stores had been changed: the first one's journal knows."""
    first = read_journal(File(journal.parts[0][0])) if journal.parts else None
    return first is not None and first.temporary == journal.temporary and first.is_made


def _waits_for_it(store: File, journal: Journal) -> bool:
    """Whether another store has yet to learn from the journal of this one, which is the first, that all is made."""
    found = [read_journal(other) for other, _ in others_of(store)]
    is_first = journal.parts[0][0] == str(store)
    return is_first and any(other and other.temporary == journal.temporary for other in found)


def mend(git: Git) -> str:
    """End what a process that died left half done, and say what was put back; call it with the store's lock in hand.

    The other stores that change together are seen to first. Where the folder is gone, the journal waits for it.
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
    said = "A restore was cut short when Halocline was killed. "
    if not others:
        return said + "It was taken back; the files are as before it."
    return said + f"It was taken back, but for what changed since or is lost: {', '.join(map(os.fsdecode, others))}."


def secure(git: Git, changes: Iterable[Change]) -> None:
    """See that every file could be put back to what it is now, before one is changed; keep anew what is damaged.

    Raises:
        NotRestored: one could not. Nothing was changed.
    """
    root, now = os.fsencode(git.workspace), {change.before.sha: change for change in changes if change.before}
    for sha in spoilt(git, now):
        full = os.path.join(root, now[sha].path)
        with suppress(OSError), Reader(root) as reader:
            kept = reader.read(now[sha].path, _ANY_SIZE)
            if kept and name_of(kept.content) == sha:
                rescued(git, [kept.content])
                continue
        raise NotRestored(
            f"Nothing was restored: {os.fsdecode(full)} cannot be saved first, so this could not be undone.",
            "The store of this folder's checkpoints is damaged: copy that file elsewhere, delete it, and try again.",
        )


def write_tree(git: Git, commit: str, folder: File) -> None:
    """Put the files of a commit into a folder. Raises NotRestored where one is already; those before it stay."""
    listing = git.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]
    changes = [_new(record) for record in listing]
    folder.mkdir(parents=True, exist_ok=True)
    root = os.fsencode(folder.resolve())
    try:
        for few in _few(changes):
            contents = _contents(git, [change.after for change in few])
            for change in few:
                full = os.path.join(root, change.path)
                if os.path.lexists(full):
                    raise FileExistsError(None, "it is there already", full)
                _set(root, full, change.after, contents, f".halo-{os.urandom(6).hex()}.tmp")
    except OSError as error:
        raise NotRestored(
            f"{os.fsdecode(error.filename or root)} cannot be written: {error.strerror or error}.",
            "Name an empty folder that you can write.",
        ) from error


def _new(record: bytes) -> Change:
    head, _, path = record.partition(b"\t")
    mode, _, sha = head.split()
    return Change(path, None, Entry(mode, sha.decode()))


def entry_at(root: bytes, path: Path) -> Entry | None:
    """What is there: a file or a link. None for anything else, and where a folder on the way is a link."""
    with Reader(root) as reader:
        info = reader.look(path)
        if info is None or not (stat.S_ISLNK(info.st_mode) or stat.S_ISREG(info.st_mode)):
            return None
        kept = reader.read(path, _ANY_SIZE)
    return Entry(kept.mode, name_of(kept.content)) if kept else None


def prune(root: bytes, folder: bytes) -> None:
    """Remove the folder, and those above it, as far as they are empty."""
    while folder != root:
        try:
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)


def _make(git: Git, change: Change, contents: Mapping[str, bytes], temporary: str) -> None:
    root = os.fsencode(git.workspace)
    full = os.path.join(root, change.path)
    if entry_at(root, change.path) != change.before:
        raise OSError(None, "it changed meanwhile", full)
    _set(root, full, change.after, contents, temporary)


def _set(root: bytes, full: bytes, entry: Entry | None, contents: Mapping[str, bytes], temporary: str) -> None:
    """Let a file be this, in one step."""
    folder = os.path.dirname(full)
    if entry is None:
        with suppress(FileNotFoundError):
            os.unlink(full)
        prune(root, folder)
        return
    _remove_empty_folders(full)
    _make_folders(folder)
    if not _is_straight(full):
        raise OSError(None, "a link is in the way", full)
    aside = os.path.join(folder, os.fsencode(temporary))
    try:
        _stage(aside, full, entry, contents[entry.sha])
        os.replace(aside, full)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise


def _stage(aside: bytes, full: bytes, entry: Entry, content: bytes) -> None:
    if entry.mode == LINK:
        os.symlink(content, aside)
        return
    mode = _mode_of(full)
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as file:
        file.write(content)
        # Who may read a file is kept; git knows only whether it is a program.
        kept = stat.S_IMODE(os.fstat(file.fileno()).st_mode) if mode is None else mode
        runs = (kept | (kept & 0o444) >> 2) if entry.mode == PROGRAM else kept & ~0o111
        os.fchmod(file.fileno(), runs)


def _mode_of(full: bytes) -> int | None:
    try:
        found = os.lstat(full)
    except FileNotFoundError:
        return None
    return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else None


def _put_back(git: Git, journal: Journal) -> list[Path]:
    """Every file as it was, the last one first. Gives those that somebody else changed."""
    root = os.fsencode(git.workspace)
    others: list[Path] = []
    lost = spoilt(git, (change.before.sha for change in journal.changes if change.before))
    for few in _few(journal.changes[::-1]):
        contents = _contents(git, [change.before for change in few if change.before and change.before.sha not in lost])
        for change in few:
            full = os.path.join(root, change.path)
            with suppress(OSError):
                os.unlink(os.path.join(os.path.dirname(full), os.fsencode(journal.temporary)))
            now = entry_at(root, change.path)
            if now == change.after != change.before and not (change.before and change.before.sha in lost):
                _set(root, full, change.before, contents, journal.temporary)
            elif now != change.before:
                others.append(change.path)
    settle(_place(git, change) for change in journal.changes if change.before)
    remove_journal(git.store)
    return others


def _few(changes: Sequence[Change]) -> Iterator[Sequence[Change]]:
    return (changes[at : at + AT_ONCE] for at in range(0, len(changes), AT_ONCE))


def _place(git: Git, change: Change) -> File:
    return git.workspace / os.fsdecode(change.path)


def _contents(git: Git, entries: Iterable[Entry | None]) -> Mapping[str, bytes]:
    """What blobs hold. Raises GitFailed or NotRestored for one that is damaged or lost."""
    wanted = {entry.sha for entry in entries if entry}
    held = read(git, wanted)
    if wanted - held.keys():
        raise NotRestored("Nothing was restored: a saved content is lost.", "Choose another checkpoint.")
    return held


def _is_straight(full: bytes) -> bool:
    folder = os.path.dirname(full)
    return os.path.realpath(folder) == folder


def _make_folders(folder: bytes) -> None:
    """As `os.makedirs`, which calls itself for each level and ends at a thousand."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for place in reversed(missing):
        os.mkdir(place)


def _remove_empty_folders(place: bytes) -> None:
    """Make room for a file where only empty folders are."""
    for folder in reversed(list(folders_below(place))):
        with suppress(OSError):
            os.rmdir(folder)


def folders_below(place: bytes) -> Iterator[bytes]:
    """The folder and those below it, each after the one that holds it; no link is followed, and any depth will do."""
    left = [place] if os.path.isdir(place) and not os.path.islink(place) else []
    while left:
        yield (folder := left.pop())
        with suppress(OSError), os.scandir(folder) as entries:
            left += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
