"""Work of a worktree that a folder of the same repository lacks, file by file: since the commit that both have, or the
last merge. It only reads, once what a killed merge left half made is undone.
"""

import asyncio
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.repository.stores import open_repository
from halocline.checkpoints.restore.merge_in import Sides, Source
from halocline.checkpoints.restore.merge_record import MergeRecord, read_merge
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.store.contents import read_blobs
from halocline.checkpoints.store.git import Runner
from halocline.checkpoints.store.layout import JOURNAL
from halocline.checkpoints.store.reading import Kept, Reader
from halocline.edits.alignment import list_opcodes
from halocline.git.worktree_changes import WorktreeChanges, is_pointer_to, read_changes
from halocline.git.worktree_list import Worktree
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value

_COMPARED = 1_000_000
"""Most bytes of a file whose lines are compared with a merge."""


class LoadedWork(Value, frozen=True):
    """The work of a worktree that its `main` folder lacks, as paths from the tops of both.

    `sides` are what a merge would take: each file where it starts from, and in the worktree. Those that `main` has
    otherwise are `unmerged`; `unread` are too large or cannot be read; `edited` were merged, but are otherwise now.
    `here` are the files of `sides` in `main`, and `undo` is the checkpoint of `main` before the last merge.
    """

    worktree: Worktree
    repository: Repository
    changes: WorktreeChanges
    sides: Mapping[bytes, Sides]
    unmerged: tuple[bytes, ...]
    unread: tuple[bytes, ...]
    edited: tuple[bytes, ...]
    here: Mapping[bytes, Kept | None]
    undo: str = ""

    @property
    def source(self) -> Source:
        """The worktree as the source of a merge."""
        worktree = self.worktree
        return Source(f"worktree {worktree.name}", make_key(worktree), self.changes.base, worktree.made)


def open_store(stores: Path, worktree: Worktree, limits: Limits) -> Repository:
    """Return the checkpoints of the folder that a worktree is merged into."""
    return open_repository(stores, worktree.main, make_key(worktree), limits)


async def load_work(stores: Path, worktree: Worktree, limits: Limits) -> LoadedWork:
    """Read what a worktree changed. Raises UsageError and GitUnusable."""
    repository = open_store(stores, worktree, limits)
    await asyncio.to_thread(_undo_half_made, repository)
    record = await asyncio.to_thread(read_record, repository, worktree)
    changes = await read_changes(worktree, record.files if record else ())
    known = record if record and record.base == changes.base else None  # a commit that both have may have come since
    loaded = await asyncio.to_thread(_read_sides, worktree, repository, changes, known)
    return replace(loaded, undo=record.undo if record else "")


def select_files(loaded: LoadedWork, names: Sequence[str]) -> LoadedWork:
    """Return only the work in these files and folders, named as a merge names them. Raises UsageError."""
    apart = {os.fsencode(path): path for path in loaded.changes.apart}
    known = [*loaded.unmerged, *loaded.unread, *apart]
    found = {name: {path for path in known if _is_at(path, os.path.normpath(name))} for name in names}
    if missing := [name for name in names if not found[name]]:
        name = loaded.worktree.name
        why = f"The worktree {name} has nothing to merge at {missing[0]}."
        raise UsageError(why, f"Files are named from the top folder, as by halo worktrees diff {name}")
    wanted = set[bytes]().union(*found.values())
    return replace(
        loaded,
        changes=replace(loaded.changes, apart=tuple(name for path, name in apart.items() if path in wanted)),
        sides={path: both for path, both in loaded.sides.items() if path in wanted},
        unmerged=tuple(path for path in loaded.unmerged if path in wanted),
        unread=tuple(path for path in loaded.unread if path in wanted),
    )


def _is_at(path: bytes, place: str) -> bool:
    """True if a path is this file or in this folder; a name may be one that was shown."""
    names = os.fsdecode(path), path.decode(errors="replace")
    return place == "." or any(name == place or name.startswith(f"{place}/") for name in names)


def _undo_half_made(repository: Repository) -> None:
    """Undo what a killed merge left half made before files are compared. Raises CheckpointsOff."""
    if os.path.lexists(repository.path / JOURNAL) and os.access(repository.path, os.W_OK):
        with repository.lock_store(repository.limits.patience):
            pass  # opening the store undoes it


def read_record(repository: Repository, worktree: Worktree) -> MergeRecord | None:
    """Return the last merge of a worktree; None if there is none."""
    if not (repository.path / "refs").exists():
        return None
    record = read_merge(repository.bind_git(repository.limits.patience, Runner(), None), make_key(worktree))
    return record if record and record.made == worktree.made else None


def _read_sides(
    worktree: Worktree, repository: Repository, changes: WorktreeChanges, record: MergeRecord | None
) -> LoadedWork:
    common = {path: Kept(one.content, one.mode) if one else None for path, one in changes.files.items()}
    last: dict[bytes, Kept | None] = {}
    if record:
        git = repository.bind_git(repository.limits.patience, Runner(), None)
        held = read_blobs(git, [entry.sha for entry in record.files.values() if entry])
        known = {path: entry for path, entry in record.files.items() if entry is None or entry.sha in held}
        last = {path: Kept(held[entry.sha], entry.mode) if entry else None for path, entry in known.items()}
    sides: dict[bytes, Sides] = {}
    present: dict[bytes, Kept | None] = {}
    unmerged, unread, edited = list[bytes](), list[bytes](), list[bytes]()
    with Reader(os.fspath(worktree.folder)) as there, Reader(os.fspath(worktree.main)) as here:
        for path, first in sorted(common.items()):
            try:
                theirs, now = (_read_plain(reader, path, repository.limits.largest) for reader in (there, here))
            except OSError:
                unread.append(path)
                continue
            first = _fill_pointer(first, theirs, now)
            base = _fill_pointer(last.get(path, first), theirs, now)
            stays_gone = record is not None and now is None and path in record.left_gone
            if path in last and not stays_gone and _has_lost(first, base, now):
                base = first
            if theirs != base:
                sides[path], present[path] = (base, theirs), now
                unmerged += [path] if theirs != now else []
            elif theirs not in (first, now):
                edited.append(path)
    left = tuple(unmerged), tuple(unread), tuple(edited)
    return LoadedWork(worktree, repository, changes, sides, *left, present)


def make_key(worktree: Worktree) -> str:
    """Return the task name of merges: that of the worktree, if it is one, with what tells it from others."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", worktree.name).strip("-")
    return f"worktree-{plain}-{hashlib.sha256(os.fsencode(worktree.folder)).hexdigest()[:6]}"


def _fill_pointer(base: Kept | None, *sides: Kept | None) -> Kept | None:
    """Return the content that a base of Git LFS stands for, if a side has it."""
    found = (side for side in sides if base and side and is_pointer_to(base.content, side.content))
    return Kept(side.content, base.mode) if base and (side := next(found, None)) else base


def _has_lost(first: Kept | None, merged: Kept | None, now: Kept | None) -> bool:
    """True if a file has nothing any more of the change from `first` to `merged`, whatever else changed in it."""
    if now == first or now is None:
        return now != merged
    if not (first and merged) or max(len(first.content), len(now.content)) > _COMPARED:
        return False
    old, new, present = (side.content.decode("latin-1").split("\n") for side in (first, merged, now))
    same = [(i1, i2, j1) for tag, i1, i2, j1, _ in list_opcodes(old, present) if tag == "equal"]
    changes = [(i1, i2) for tag, i1, i2, _, _ in list_opcodes(old, new) if tag != "equal"]
    # With a line around each, so that a line that was put in there is seen.
    last, end = len(old), len(present)
    kept = [
        any(
            (i1 <= start - 1 or start == i1 == j1) and (stop + 1 <= i2 or (stop == i2 == last and j1 + i2 - i1 == end))
            for i1, i2, j1 in same
        )
        for start, stop in changes
    ]
    return bool(kept) and all(kept)


def _read_plain(reader: Reader, path: bytes, largest: int) -> Kept | None:
    found = reader.read(path, largest)
    return Kept(found.content, found.mode) if found else None
