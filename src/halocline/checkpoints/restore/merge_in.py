"""Merges another folder's changes into a workspace, three ways: all or nothing, saved before, undone by one restore.

It is a restore whose steps come from another folder. So links are not followed, nothing unknown to the store is
touched, and a process that is killed leaves a journal by which the next one undoes it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import partial

from msgspec.structs import replace

from halocline.checkpoints.index.index import Path
from halocline.checkpoints.recovery.journal import Change
from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.restore import merge_record
from halocline.checkpoints.restore.merge import Hunk as Hunk, list_hunks, merge_file
from halocline.checkpoints.restore.possible_paths import possible_paths
from halocline.checkpoints.restore.restore import MOST_NAMED, Ready, Restored, Target, apply_all, restore_files
from halocline.checkpoints.restore.steps import Steps
from halocline.checkpoints.restore.three_way import FILES
from halocline.checkpoints.saved import AFTER, FIRST
from halocline.checkpoints.store import objects
from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.git import CheckpointsOff, Git, GitFailed
from halocline.checkpoints.store.reading import LINK, Kept
from halocline.checkpoints.store.trees import change_tree, find_entry
from halocline.checkpoints.store.unreported import forget_made, note_made
from halocline.protocol.errors import UsageError
from halocline.protocol.left_out import name_some
from halocline.protocol.values import Value

Sides = tuple[Kept | None, Kept | None]
"""A file in the common version and in the other folder."""


class Choice(StrEnum):
    """The side that wins where changes overlap: by default such a file stays as it is."""

    NONE = ""
    OURS = "ours"
    THEIRS = "theirs"
    MARKERS = "markers"


class Conflict(Value, frozen=True):
    """A file that stays, with the lines that both sides changed; `why` if it cannot be merged by lines.

    `version` stands for both sides as they are. `is_new` if a choice was about others, so that it does not count.
    """

    path: str
    hunks: tuple[Hunk, ...] = ()
    why: str = ""
    version: str = ""
    is_new: bool = False


class Merged(Value, frozen=True):
    """The result of a merge. Of the `changed` files, some are `added` or `deleted`; both sides had changed `merges`.

    `marked` are those of `merges` that have conflict markers now.
    `stays` are those that already have it all, or that a choice leaves as they are. `kept` cannot be written: something
    that no checkpoint has is in the way. `undo` is the checkpoint before it.
    """

    undo: str = ""
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    merges: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    kept: tuple[str, ...] = ()


class Source(Value, frozen=True):
    """The other folder: its name for people, the key of its records, and what `MergeRecord` says of it."""

    name: str
    key: str
    base: str
    made: str


class MergedContent(Value, frozen=True):
    """A file with both sides' changes, None if it is deleted; with a `conflict` it stays as it is."""

    content: bytes | None = None
    conflict: Conflict | None = None


class _Judged(Value, frozen=True):
    path: Path
    now: Entry | None
    theirs: Entry | None
    becomes: Entry | None
    is_merged: bool = False
    is_marked: bool = False
    conflict: Conflict | None = None
    stays: bool = False


def merge_files(
    repository: Repository,
    source: Source,
    sides: Mapping[Path, Sides],
    choice: Choice = Choice.NONE,
    seen: Collection[str] | None = None,
) -> Merged:
    """Merge these files into the workspace of a repository.

    `seen` are the versions of the conflicts that the choice is about; by default it is about all that there are.

    Raises:
        NotRestored: a file could not be changed, or the present could not be saved; nothing was changed.
        CheckpointsOff: git is missing, or the store is busy.
    """
    if not (repository.path / "index").exists():
        repository.save(FIRST, None, dict, patient=True)  # with the objects of the project's git
    with repository.lock_store(repository.limits.patience) as git:
        repository.save_unfinished(git)
        undo = repository.save_now(git, f"Before merging {source.name}", always=True)
        tree = git.word("rev-parse", f"{undo.sha}^{{tree}}")
        found = {path: find_entry(git, tree, path) for path in sides}
        now = {path: one if one and one.mode in (*FILES, LINK) else None for path, one in found.items()}
        judged = [_judge_file(git, now[path], source, choice, path, both, seen) for path, both in sides.items()]
        wanted = {one.path: (one.now, one.becomes) for one in judged if one.becomes != one.now}
        possible = possible_paths(git, wanted, undo.left_out)
        if changes := [Change(path, *both) for path, both in wanted.items() if path in possible]:
            _apply(repository, git, source, undo.sha, changes)
        settled = {one.path: one.theirs for one in judged if not one.conflict}
        settled = {path: entry for path, entry in settled.items() if path in possible or path not in wanted}
        left_gone = {one.path for one in judged if one.path in settled and one.theirs and not one.becomes}
        if settled and (changes or any(one.stays for one in judged)):
            _record(git, source, undo.sha, settled, left_gone)
        forget_made(git.store)
    return _describe(undo.sha, judged, possible)


def merge_contents(
    repository: Repository, source: Source, sides: Mapping[Path, Sides], now: Mapping[Path, Kept | None]
) -> Mapping[Path, MergedContent]:
    """Merge these files with what they are now, as `merge_files` does, and write nothing. Raises CheckpointsOff."""
    with repository.lock_store(repository.limits.patience) as git:
        judged = _judge_contents(git, source, sides, now)
        return {one.path: MergedContent(_read(git, one.becomes), one.conflict) for one in judged}


def try_merge(git: Git, source: Source, sides: Mapping[Path, Sides], now: Mapping[Path, Kept | None]) -> Merged:
    """Return what a merge would do to files that are so `now`; only the store is written."""
    return _describe("", _judge_contents(git, source, sides, now), sides.keys())


def _judge_contents(
    git: Git, source: Source, sides: Mapping[Path, Sides], now: Mapping[Path, Kept | None]
) -> Sequence[_Judged]:
    return [_judge_file(git, _save(git, now[path]), source, Choice.NONE, path, both) for path, both in sides.items()]


def note_taken(repository: Repository, source: Source, theirs: Mapping[Path, Kept | None]) -> None:
    """Note that a task wrote the merge of these files, so that a later merge starts from it.

    The task's own checkpoints undo it. Raises CheckpointsOff.
    """
    with repository.lock_store(repository.limits.patience) as git:
        _record(git, source, "", {path: _save(git, one) for path, one in theirs.items()})


def undo_merge(repository: Repository, key: str, name: str) -> Restored:
    """Undo the last merge in the files that it may have changed, all others stay. Raises as `restore_files` does.

    Your changes since then stay, as in any restore.
    """
    with repository.opened() as git:
        record = merge_record.read_merge(git, key)
    if record is None:
        raise UsageError(f"Nothing was merged from {name}, or it was undone.")
    if not record.undo:
        raise UsageError(f"A task took the changes of {name} last.", "Undo it there: /undo, or halo checkpoints")
    restored = restore_files([Target(repository, record.undo, only=record.files.keys())])
    with repository.opened() as git:
        merge_record.forget_merge(git, key, record.earlier)
    forget_made(repository.path)
    return restored


def keep_sides(git: Git, sides: Mapping[Path, Sides]) -> tuple[str, str]:
    """Save both sides of these files as two trees, for a comparison; returns the trees."""
    empty = objects.write_object(git.store, b"tree", b"")
    return (
        change_tree(git, empty, {path: _save(git, both[0]) for path, both in sides.items()}),
        change_tree(git, empty, {path: _save(git, both[1]) for path, both in sides.items()}),
    )


def _save(git: Git, kept: Kept | None) -> Entry | None:
    return Entry(kept.mode, objects.write_object(git.store, b"blob", kept.content)) if kept else None


def _read(git: Git, entry: Entry | None) -> bytes | None:
    return git.run("cat-file", "blob", entry.sha) if entry else None


def _judge_file(
    git: Git,
    now: Entry | None,
    source: Source,
    choice: Choice,
    path: Path,
    sides: Sides,
    seen: Collection[str] | None = None,
) -> _Judged:
    base, theirs = (_save(git, side) for side in sides)
    judged = _Judged(path, now, theirs, now)
    if theirs in (now, base):
        return judged
    if now == base:
        return replace(judged, becomes=theirs)
    is_text = all(side is None or side.mode in FILES for side in (base, now, theirs))
    version = "-".join(f"{side.mode.decode()}:{side.sha}" if side else "" for side in (now, theirs))
    is_new = choice is not Choice.NONE and seen is not None and version not in seen
    choice = Choice.NONE if is_new else choice
    if is_text and (merged := merge_file(git, base, now, theirs, *_list_options(choice, source))):
        is_marked = choice is Choice.MARKERS and merge_file(git, base, now, theirs) is None
        return replace(judged, becomes=merged, is_merged=True, is_marked=is_marked, stays=merged == now)
    if choice in (Choice.OURS, Choice.THEIRS):
        return replace(judged, becomes=now if choice is Choice.OURS else theirs, stays=choice is Choice.OURS)
    hunks = list_hunks(git, base, now, theirs) if is_text and now and theirs else ()
    why = "" if hunks else _explain(now, theirs)
    return replace(judged, conflict=Conflict(_as_text(path), hunks, why, version, is_new))


def _list_options(choice: Choice, source: Source) -> tuple[str, ...]:
    match choice:
        case Choice.OURS | Choice.THEIRS:
            return (f"--{choice}",)
        case Choice.MARKERS:
            return tuple(word for label in ("main folder", "common commit", source.name) for word in ("-L", label))
    return ()


def _explain(now: Entry | None, theirs: Entry | None) -> str:
    if now is None:
        return "deleted in the main folder, changed in the worktree"
    if theirs is None:
        return "changed in the main folder, deleted in the worktree"
    return "changed in both, and not text that can be merged by lines"


def _describe(undo: str, judged: Sequence[_Judged], possible: Collection[Path]) -> Merged:
    def list_paths(ones: Iterable[_Judged]) -> tuple[str, ...]:
        return tuple(_as_text(one.path) for one in ones)

    changing = [one for one in judged if one.becomes != one.now]
    done = [one for one in changing if one.path in possible]
    return Merged(
        undo,
        changed=list_paths(done),
        added=list_paths(one for one in done if not one.now),
        deleted=list_paths(one for one in done if not one.becomes),
        merges=list_paths(one for one in done if one.is_merged),
        marked=list_paths(one for one in done if one.is_marked),
        stays=list_paths(one for one in judged if one.stays),
        conflicts=tuple(one.conflict for one in judged if one.conflict),
        kept=list_paths(one for one in changing if one.path not in possible),
    )


def _apply(repository: Repository, git: Git, source: Source, undo: str, changes: Sequence[Change]) -> None:
    """Make the changes, with a note in case that this process is killed before it says so."""
    names = name_some([_as_text(change.path) for change in changes], MOST_NAMED)
    text = (
        f"Files were merged from {source.name}, but Halocline was killed before it said so: {names}. "
        f"To undo: halo checkpoints restore {undo[:10]}."
    )
    nothing = Steps(changes, (), (), (), (), (), (), (), (), ())
    apply_all([Ready(Target(repository, undo), git, undo, undo, nothing)], partial(note_made, git.store, text))
    with suppress(GitFailed, CheckpointsOff):  # so that they do not count as a person's
        repository.save_now(git, f"{AFTER}{undo[:10]}")


def _record(
    git: Git,
    source: Source,
    undo: str,
    settled: Mapping[Path, Entry | None],
    left_gone: Collection[Path] = (),
) -> None:
    last = merge_record.read_merge(git, source.key)
    last = last if last and (last.base, last.made) == (source.base, source.made) else None
    files = {**(last.files if last else {}), **settled}
    gone = {*(last.left_gone - settled.keys() if last else ()), *left_gone}
    record = merge_record.MergeRecord(source.base, source.made, undo, files, left_gone=frozenset(gone))
    merge_record.write_merge(git, source.key, record)


def _as_text(path: Path) -> str:
    return path.decode(errors="replace")
