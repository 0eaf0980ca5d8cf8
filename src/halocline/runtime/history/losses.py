"""Compares the checkpoints that logs name with the stores: what a log names and no store has is lost."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from halocline.checkpoints.repository import losses
from halocline.files.regular import open_regular
from halocline.protocol import codec
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import CheckpointRestored, CheckpointTaken, DurableEvent, TaskStarted
from halocline.runtime.history.snapshots import checkpoint_at
from halocline.store.paths import Home

Folder = tuple[str, str]
"""Where a task found a folder when it started, and the mark that it had; empty if it is not known."""
_NAMES_ONE = b'"type":"checkpoint_taken"'
_RESTORES = b'"type":"checkpoint_restored"'
DAMAGED = "Checkpoint {} of task {} is lost: its log names it, but this folder's checkpoint store has it no longer."
HAD_BACK = "A disk or a power cut may have damaged the store. To take back what the task's own edits changed: {}"


def find_lost(home: Home, tasks: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the lost checkpoints of each of these tasks that has some, oldest first.

    Raises:
        HaloclineError: git is missing, or does not answer.
    """
    by_folder: dict[Folder, dict[str, list[str]]] = {}
    for task in tasks:
        for folder, commits in read_named(home.log(task)).items():
            by_folder.setdefault(folder, {})[task] = commits
    lost: dict[str, tuple[str, ...]] = {}
    for (workspace, mark), named in by_folder.items():
        for task, gone in losses.find_lost(home.checkpoints, Path(workspace), mark, named).items():
            lost[task] = (*lost.get(task, ()), *gone)
    return lost


def read_named(log: Path) -> dict[Folder, list[str]]:
    """Return the checkpoints that a log names, by folder; quick, as no other line is decoded."""
    found: dict[Folder, list[str]] = {}
    try:
        with open_regular(log) as file:
            begin = codec.decode(file.readline())
            if not isinstance(begin, TaskStarted):
                return {}
            own = begin.workspace, begin.folder_mark
            for line in file:
                if _RESTORES in line[:200] and _begins_elsewhere(codec.decode(line)):
                    found.clear()
                if _NAMES_ONE in line[:200] and isinstance(event := codec.decode(line), CheckpointTaken):
                    found.setdefault((event.root, "") if event.root else own, []).append(event.checkpoint)
    except (OSError, HaloclineError, ValueError):  # a log that cannot be read is told of elsewhere
        return {}
    return found


def _begins_elsewhere(event: DurableEvent) -> bool:
    """True for the first event of a fork that works on a copy of the files: its own store has nothing from before."""
    return isinstance(event, CheckpointRestored) and not event.checkpoint and not event.undo


def find_kept_checkpoint(home: Home, events: Sequence[DurableEvent], seq: int) -> str:
    """Return the checkpoint of the files as they were after event `seq`; empty if there is none, or none any more."""
    found = checkpoint_at(events, seq)
    begin = events[0]
    if not found or not isinstance(begin, TaskStarted):
        return found
    return found if losses.is_there(home.checkpoints, Path(begin.workspace), begin.folder_mark, found) else ""


def explain_loss(home: Home, task: str, name: str) -> HaloclineError | None:
    """Return the error for a checkpoint that is named by its number or hash, if it is lost; else None."""
    lost = find_lost(home, [task]).get(task, ())
    named = [one for commits in read_named(home.log(task)).values() for one in commits]
    is_number = name.isdecimal() and 0 < int(name) <= len(named) and len(name) < 8
    if not (any(one.startswith(name) for one in lost) or (is_number and lost)):
        return None
    return HaloclineError(DAMAGED.format(name, task), HAD_BACK.format(f"halo checkpoints restore {task}@1"))
