"""Restores files to a checkpoint. Changes that the task did not make stay; your edits to the same file are merged.

First the present state is saved, for undo. Then only differences between it and the target count, so ignored files,
files left out and everything unknown to the store stay. Links are not followed: a file whose path is blocked by
something unknown is kept as it is, and reported. All changes are made, or none (`restore.apply`).
"""

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from msgspec.structs import replace

from halocline.checkpoints.index.background_reading import LATE
from halocline.checkpoints.index.index import Path
from halocline.checkpoints.recovery.file_changes import NotRestored
from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.restore.apply import apply_changes, secure_files
from halocline.checkpoints.restore.remainder import explain_unknown, list_remainder
from halocline.checkpoints.restore.steps import Steps, list_steps
from halocline.checkpoints.saved import AFTER, BEFORE
from halocline.checkpoints.selection.left_out import read_record
from halocline.checkpoints.store.git import CheckpointsOff, Git, GitFailed
from halocline.checkpoints.store.unreported import forget_made, note_made
from halocline.protocol.events.rewind import RootRestored
from halocline.protocol.left_out import LeftOut, describe_left_out, name_some
from halocline.protocol.values import Value

MOST_NAMED = 20
"""Files that are named of a restore that its process could not report."""


class RestorePlan(Value, frozen=True):
    """The effects of a restore, as paths in the workspace.

    Only the task's own changes are undone. These files differ from the target and are not touched: `yours` were changed
    by you, `others` by another task, whose name follows the path; `doubtful` changed while a command of the task ran
    and somebody else was changing files too; `conflicts` have changes by the task and by somebody else that cannot be
    merged; `kept` cannot be written or removed; the saved contents of `lost` are gone from the store.

    `assumed` are files that would change and count as the task's only because one of its commands ran at that time and
    no one else was seen changing files. `late` are the folders whose checkpoint was taken after files had already
    changed; these changes stay. `left_out` are in no checkpoint.
    """

    creates: tuple[str, ...] = ()
    overwrites: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    merges: tuple[str, ...] = ()
    yours: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def changes(self) -> int:
        """Number of files it would change."""
        return sum(map(len, (self.creates, self.overwrites, self.deletes, self.merges)))

    def adding(self, **paths: Sequence[object]) -> "RestorePlan":
        """Return it with more paths in these fields."""
        return replace(self, **{name: (*getattr(self, name), *more) for name, more in paths.items()})


class Restored(Value, frozen=True):
    """The result of a restore. `undo` is the checkpoint of the files before it; the other fields are as in a plan.

    Paths in further folders are absolute; `elsewhere` lists these folders with their checkpoints.
    """

    checkpoint: str
    undo: str
    changed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    merges: tuple[str, ...] = ()
    yours: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    elsewhere: tuple[RootRestored, ...] = ()
    others: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def adding(self, **paths: Sequence[object]) -> "Restored":
        """Return it with more paths in these fields."""
        return replace(self, **{name: (*getattr(self, name), *more) for name, more in paths.items()})


class Target(Value, frozen=True):
    """A checkpoint of one folder; `root` is that folder unless it is the task's first. `only` these files, or all."""

    repository: Repository
    checkpoint: str
    root: str = ""
    only: Collection[Path] | None = None


class Ready(Value, frozen=True):
    """A folder that is ready to change: the lock of its store is held, and the present state is saved."""

    target: Target
    git: Git
    commit: str
    undo: str
    steps: Steps
    remainder: Sequence[LeftOut] = ()


def plan_restore(targets: Sequence[Target], *, overwrite: bool = False) -> RestorePlan:
    """Plan what `restore_files` would do now. Raises UsageError if there is no such checkpoint, and NotRestored."""
    plans = [_plan_one(target, overwrite=overwrite) for target in targets]
    fields = RestorePlan.__struct_fields__
    return RestorePlan(**{name: tuple(path for one in plans for path in getattr(one, name)) for name in fields})


def _plan_one(target: Target, *, overwrite: bool) -> RestorePlan:
    repository = target.repository
    with repository.opened() as git, _readable_store(target):
        repository.save_unfinished(git)
        commit = repository.resolve(git, target.checkpoint)
        since = repository.claims.last_look()
        present, left_out = repository.present(git)
        newest = repository.newest_with(git, commit)
        last = repository.attribute_present(git, newest, present, since)
        then, remainder = _find_remainder(target, git, commit, left_out)
        commits = newest.sha, present, commit
        steps = list_steps(git, commits, last, left_out, overwrite=overwrite, unsaved=then, only=target.only)
        is_late = git.word("log", "--no-walk", "--format=%s", commit).endswith(LATE)
    root = target.root
    plain = [change for change in steps.changes if change.path not in steps.merges]
    return RestorePlan(
        creates=_as_texts((change.path for change in plain if change.before is None), root),
        overwrites=_as_texts((change.path for change in plain if change.before and change.after), root),
        deletes=_as_texts((change.path for change in plain if change.after is None), root),
        kept=_as_texts(steps.kept, root),
        merges=_as_texts(steps.merges, root),
        yours=_as_texts(steps.yours, root),
        conflicts=_as_texts(steps.conflicts, root),
        lost=_as_texts(steps.lost, root),
        others=_with_tasks(steps.others, root),
        doubtful=_as_texts(steps.doubtful, root),
        assumed=_as_texts(steps.assumed, root),
        late=(os.fspath(repository.workspace),) if is_late else (),
        left_out=_join_remainder(remainder, steps, root),
    )


def _find_remainder(
    target: Target, git: Git, commit: str, left_out: Collection[Path]
) -> tuple[Collection[Path], Sequence[LeftOut]]:
    """Return what a checkpoint left out, and what of it a restore cannot bring back."""
    then = read_record(git, commit)
    taken = float(git.word("log", "--no-walk", "--format=%ct", commit))
    between, largest = (taken, time.time()), target.repository.limits.largest
    found = list_remainder(git, target.repository.claims, then, left_out, between, largest)
    found = [one for one in found if target.only is None or one.path.encode(errors="replace") in target.only]
    return {one.path.encode("latin-1").rstrip(b"/") for one in then}, found


def _join_remainder(remainder: Sequence[LeftOut], steps: Steps, root: str) -> tuple[LeftOut, ...]:
    """Return all that a restore leaves without knowing it; paths are absolute if the folder is not the first."""
    before, named = f"{root}/" if root else "", {one.path for one in remainder}
    unknown = (one for one in explain_unknown(steps.unknown) if one.path not in named)
    return tuple(replace(one, path=before + one.path) for one in (*remainder, *unknown))


def restore_files(targets: Sequence[Target], *, overwrite: bool = False, always: bool = False) -> Restored:
    """Restore the files to the targets, all or none; with `overwrite`, also those that somebody else changed since.

    With `always`, the undo is a checkpoint of its own also if nothing changed since the last one. What it did is noted
    in the store of the first target until it is forgotten there: the caller does so once its log says it.

    Raises:
        UsageError: there is no such checkpoint.
        NotRestored: a file could not be changed, the present could not be saved, or the checkpoint cannot be read;
            nothing was changed.
        CheckpointsOff: git is missing, or the store is busy.
    """
    with ExitStack() as locks:
        # In one order, so that two restores of the same folders cannot deadlock.
        order = sorted(targets, key=lambda target: target.repository.path)
        held = {target.root: locks.enter_context(target.repository.opened()) for target in order}
        together = always or len(targets) > 1
        ready = [_make_ready(target, held[target.root], overwrite=overwrite, together=together) for target in targets]
        if changing := [one for one in ready if one.steps.changes]:
            first, text = held[""].store, _describe_made(_describe_restored(ready))
            try:
                apply_all(changing, partial(note_made, first, text))
            except BaseException:
                forget_made(first)
                raise
        for one in changing:
            # The files' present state is the restore's doing, not a person's.
            with suppress(GitFailed, CheckpointsOff):
                one.target.repository.save_now(one.git, f"{AFTER}{one.commit[:10]}")
    return _describe_restored(ready)


def _make_ready(target: Target, git: Git, *, overwrite: bool, together: bool) -> Ready:
    """Save the present state and list the steps. With several folders, the undo is always a new checkpoint."""
    repository = target.repository
    with _readable_store(target):
        repository.save_unfinished(git)
        commit = repository.resolve(git, target.checkpoint)
        newest = repository.newest_with(git, commit)
        since = repository.claims.last_look()
        undo = repository.save_now(git, f"{BEFORE}{commit[:10]}", always=together)
        last = repository.attribute_present(git, newest, undo.sha, since)
        then, remainder = _find_remainder(target, git, commit, undo.left_out)
        commits = newest.sha, undo.sha, commit
        steps = list_steps(git, commits, last, undo.left_out, overwrite=overwrite, unsaved=then, only=target.only)
    return Ready(target, git, commit, undo.sha, steps, remainder)


def apply_all(changing: Sequence[Ready], note: Callable[[], None]) -> None:
    """Apply all changes, once it is certain that all of them can be undone; `note` them before they are committed."""
    for one in changing:
        with _readable_store(one.target):
            secure_files(one.git, one.steps.changes)
    claims = [(one.target.repository.claims, {change.path: change for change in one.steps.changes}) for one in changing]
    for claim, changes in claims:
        # As bytes: a restore replaces a link, while an edit changes the file it leads to.
        claim.begin([*changes])  # so that no other task's command is credited with these changes
        for path, change in changes.items():
            claim.wrote(path, change.before.sha if change.before else "", change.after.sha if change.after else "")
    try:
        with _readable_store(changing[0].target):
            apply_changes([(one.git, one.steps.changes) for one in changing], note)
    finally:
        for claim, changes in claims:
            claim.end([*changes])


def _describe_restored(ready: Sequence[Ready]) -> Restored:
    def paths(of: Callable[[Steps], Iterable[Path]]) -> tuple[str, ...]:
        return tuple(text for one in ready for text in _as_texts(of(one.steps), one.target.root))

    first, *others = ready
    return Restored(
        checkpoint=first.commit,
        undo=first.undo,
        changed=paths(lambda steps: (change.path for change in steps.changes)),
        kept=paths(lambda steps: steps.kept),
        merges=paths(lambda steps: steps.merges),
        yours=paths(lambda steps: steps.yours),
        conflicts=paths(lambda steps: steps.conflicts),
        lost=paths(lambda steps: steps.lost),
        others=tuple(text for one in ready for text in _with_tasks(one.steps.others, one.target.root)),
        doubtful=paths(lambda steps: steps.doubtful),
        left_out=tuple(left for one in ready for left in _join_remainder(one.remainder, one.steps, one.target.root)),
        elsewhere=tuple(RootRestored(one.target.root, one.commit, one.undo) for one in others),
    )


def _describe_made(restored: Restored) -> str:
    """Say what a restore did that no log tells of."""
    stays = (restored.yours, restored.conflicts, restored.others, restored.doubtful, restored.kept, restored.lost)
    left = [path for paths in stays for path in paths]
    begin = (
        f"Files were restored to checkpoint {restored.checkpoint[:10]}, but Halocline was killed before the task's log "
        f"said so: {name_some(restored.changed, MOST_NAMED)}. To undo: halo checkpoints restore {restored.undo[:10]}."
    )
    stay = [f"These stay as they were: {name_some(left, MOST_NAMED)}."] if left else []
    return " ".join([begin, *stay, *describe_left_out("Not restored", restored.left_out, MOST_NAMED)])


@contextmanager
def _readable_store(target: Target) -> Iterator[None]:
    """Translate failures of the store, which is read completely before any file is changed, to NotRestored."""
    try:
        yield
    except GitFailed as error:
        of = f" of {target.root}" if target.root else ""
        raise NotRestored(
            f"Nothing was restored: the store{of} no longer has all of checkpoint {target.checkpoint} ({error.text}).",
            "The files are as they were. Choose another checkpoint: halo checkpoints list",
        ) from error


def _as_texts(paths: Iterable[Path], root: str) -> tuple[str, ...]:
    """Paths as text; absolute if the folder is not the task's first."""
    before = f"{root}/" if root else ""
    return tuple(before + path.decode(errors="replace") for path in paths)


def _with_tasks(found: Iterable[tuple[Path, str]], root: str) -> tuple[str, ...]:
    """Files changed by other tasks, each with its task."""
    return tuple(f"{text} ({task})" if task else text for path, task in found for text in _as_texts([path], root))
