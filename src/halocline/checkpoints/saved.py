"""Values that describe checkpoints, their saving and its limits; the names of checkpoints; messages about them."""

import os
from collections.abc import Sequence
from pathlib import Path

from halocline.checkpoints.store import index
from halocline.checkpoints.store.git import Git
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value


class CheckpointInfo(Value, frozen=True):
    """A checkpoint. `n` counts from 1 within its task; `at` is in Unix seconds."""

    ref: str
    sha: str
    task: str
    n: int
    label: str
    at: float

    def is_named(self, name: str) -> bool:
        """True if a name means this checkpoint: `task/number`, or the beginning of its hash."""
        return name == f"{self.task}/{self.n}" or (len(name) >= 4 and self.sha.startswith(name))


class Saved(Value, frozen=True):
    """The result of saving a checkpoint.

    `is_new` is false if nothing changed since the last one. `left_out` are files that no rule ignores but that are not
    in it. `aside` is the new place of a damaged store. `before` are checkpoints that the task does not know yet, each
    with its label: a process that died had saved them, or had kept the contents for them.
    """

    sha: str
    is_new: bool
    left_out: frozenset[index.Path] = frozenset()
    aside: Path | None = None
    before: tuple[tuple[str, str], ...] = ()


class Limits(Value, frozen=True):
    """`seconds` limits one save, including waiting for other processes; `patience` limits what a person asked for.

    Files over `largest` bytes are left out.
    """

    seconds: float = 15.0
    patience: float = 300.0
    largest: int = 5_000_000


def read_listed(line: str) -> CheckpointInfo:
    """Parse a line of git's list of references: name, hash, time and first line, separated by NULs."""
    ref, sha, at, label = line.split("\0", 3)
    _, _, task, n = ref.split("/", 3)
    return CheckpointInfo(ref=ref, sha=sha, task=task, n=int(n), label=label, at=float(at))


class Last(Value, frozen=True):
    """The newest checkpoint of a task."""

    sha: str
    tree: str
    n: int


def resolve_name(git: Git, target: str, names: Sequence[str]) -> str:
    """Return the commit of the first of these names that has one. Raises UsageError if none has."""
    questions = "".join(f"{name}^{{commit}}\n" for name in names)
    answers = git.run("cat-file", "--batch-check=%(objecttype) %(objectname)", data=os.fsencode(questions))
    for answer in answers.split(b"\n"):
        match answer.split():
            case [b"commit", sha]:
                return sha.decode()
    raise UsageError(f"No checkpoint {target!r} of this folder.", "List the checkpoints: halo checkpoints list")


def read_newest(git: Git, refs: str) -> Last | None:
    """Return the newest checkpoint below `refs`, the references of a task; None if it has none."""
    fields = "--format=%(objectname) %(tree) %(refname:lstrip=3)"
    found = git.word("for-each-ref", "--sort=-version:refname", "--count=1", fields, f"{refs}/")
    match found.split():
        case [sha, tree, n]:
            return Last(sha, tree, int(n))
    return None


def is_newest(refs: Path, n: int) -> bool:
    """True if checkpoint `n` is still there (the store was not set aside) and the task has no newer one."""
    return (refs / str(n)).exists() and not (refs / str(n + 1)).exists()


def newest_of_others(git: Git, commit: str, refs_folder: str) -> str:
    """Return the newest checkpoint of the task that has a commit. Raises UsageError if no task has it."""
    fields = "--format=%(objectname) %(refname:lstrip=2)"
    listing = git.word("for-each-ref", "--sort=version:refname", fields, f"{refs_folder}/").split("\n")
    refs = [(sha, *name.rsplit("/", 1)) for sha, _, name in (line.partition(" ") for line in listing)]
    tasks = {task for sha, task, _ in refs if sha == commit}
    if not tasks:
        raise UsageError(f"Checkpoint {commit[:10]} was deleted.", "List the checkpoints: halo checkpoints list")
    task = max(tasks)
    return next(sha for sha, name, _ in reversed(refs) if name == task)


def describe_loss(aside: Path) -> str:
    """Describe what is lost with a damaged store that was set aside."""
    from halocline.checkpoints.store.stores import describe_store

    tasks = describe_store(aside).tasks
    count = sum(len(task.numbers) for task in tasks)
    names = ", ".join(f"{task.task}/{task.numbers[0]} to {task.numbers[-1]}" for task in tasks[-3:])
    lost = f"{count} earlier checkpoints are lost ({names})" if count else "No checkpoints are lost"
    return f"The checkpoint store was damaged, so a new one was started. {lost}. The old store is {aside}."


def describe_left_out(places: frozenset[bytes]) -> str:
    """Describe files that checkpoints leave out although no rule ignores them."""
    names = [place.decode(errors="replace") for place in sorted(places)]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    shown = ", ".join(names[:3]) + more
    return f"Checkpoints leave out very large files, unreadable files and nested repositories: {shown}."
