"""Says which fate each restore gave each file, and why, so that a failure of the crash matrix explains itself.

It is worked out again from the store, which keeps the checkpoints around each restore and who made each change.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from halocline.checkpoints.changes.attribution import TASKS_OWN
from halocline.checkpoints.changes.claims import NAME
from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.restore.steps import judge_files, list_done
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.selection.left_out import read_record
from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.git import Git
from halocline.protocol import events as ev
from halocline.protocol.errors import HaloclineError


def describe_fates(folder: Path, events: Sequence[ev.DurableEvent]) -> str:
    """Describe each restore in the log, the checkpoints with who made their changes, and the claims."""
    task = next((event.task for event in events), "")
    repository = Repository(folder / "home" / "checkpoints", folder / "project", task, "git", Limits())
    lines = list[str]()
    with suppress(HaloclineError, OSError), repository.opened() as git:
        for event in events:
            if isinstance(event, ev.CheckpointRestored):
                lines += [f"restore at event {event.seq}: {event}", *_describe_files(git, event)]
        names = "%(refname:lstrip=2) %(objectname:short) %(contents)"
        lines.append(git.word("for-each-ref", "--sort=version:refname", f"--format={names}", "refs/halocline"))
    with suppress(OSError):
        lines.append((folder / "home" / "checkpoints" / NAME).read_text(errors="replace"))
    return "\n".join(["", *lines])


def _describe_files(git: Git, event: ev.CheckpointRestored) -> Iterator[str]:
    """Yield a line for each file that differed. The undo is the newest checkpoint there was then, or follows it."""
    commits = event.undo, event.undo, event.checkpoint
    left_out = {one.path.encode("latin-1").rstrip(b"/") for one in read_record(git, event.checkpoint)}
    untold, judged = judge_files(git, commits, list_done(git, commits, TASKS_OWN), left_out, overwrite=False)
    for path in sorted(untold):
        yield f"  {os.fsdecode(path)}: left, because the checkpoint left it out"
    for one in judged:
        done = "; ".join(f"{deed.who} {_name(deed.before)}→{_name(deed.after)}" for deed in one.done)
        now, then = map(_name, one.sides)
        yield f"  {os.fsdecode(one.path)}: {one.fate}, {now}→{_name(one.becomes)}, target {then}, done: {done}"


def _name(entry: Entry | None) -> str:
    return entry.sha[:7] if entry else "none"
