"""Values that describe checkpoints and the saving of one, with its limits, and the names that checkpoints go by."""

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
        """Tell whether a name is this one's: `task/number`, or the beginning of its hash."""
        return name == f"{self.task}/{self.n}" or (len(name) >= 4 and self.sha.startswith(name))


class Saved(Value, frozen=True):
    """A checkpoint that was asked for.

    `is_new` is false when nothing had changed since the last one. `left_out` is what no rule ignores and yet is not in
    it. `aside` is where a damaged store was moved to. `before` are checkpoints of which the task has not heard, each
    with its label: a process died that had made them, or had kept for them how files were.
    """

    sha: str
    is_new: bool
    left_out: frozenset[index.Path] = frozenset()
    aside: Path | None = None
    before: tuple[tuple[str, str], ...] = ()


class Limits(Value, frozen=True):
    """`seconds` bounds one saving, waiting for other processes included; `patience` whatever a person asked for.

    Files over `largest` bytes are left out.
    """

    seconds: float = 15.0
    patience: float = 300.0
    largest: int = 5_000_000


def read_listed(line: str) -> CheckpointInfo:
    """Read a line of git's list of references: name, hash, time and first line, between NULs."""
    ref, sha, at, label = line.split("\0", 3)
    _, _, task, n = ref.split("/", 3)
    return CheckpointInfo(ref=ref, sha=sha, task=task, n=int(n), label=label, at=float(at))


class Last(Value, frozen=True):
    """The newest checkpoint of a task."""

    sha: str
    tree: str
    n: int


def resolve_name(git: Git, target: str, names: Sequence[str]) -> str:
    """Return the commit that the first of these names is of. Raises UsageError when none of them names one."""
    questions = "".join(f"{name}^{{commit}}\n" for name in names)
    answers = git.run("cat-file", "--batch-check=%(objecttype) %(objectname)", data=os.fsencode(questions))
    for answer in answers.split(b"\n"):
        match answer.split():
            case [b"commit", sha]:
                return sha.decode()
    raise UsageError(f"There is no checkpoint {target!r} of this folder.", "List them: halo checkpoints list")


def read_newest(git: Git, refs: str) -> Last | None:
    """Return the newest checkpoint below `refs`, the references of a task; None when it has none."""
    fields = "--format=%(objectname) %(tree) %(refname:lstrip=3)"
    found = git.word("for-each-ref", "--sort=-version:refname", "--count=1", fields, f"{refs}/")
    match found.split():
        case [sha, tree, n]:
            return Last(sha, tree, int(n))
    return None


def is_newest(refs: Path, n: int) -> bool:
    """Tell whether nobody put the store aside since checkpoint `n`, or saved another one of this task."""
    return (refs / str(n)).exists() and not (refs / str(n + 1)).exists()


def newest_of_others(git: Git, commit: str, refs_folder: str) -> str:
    """Return the newest checkpoint of the task that a commit is of. Raises UsageError when none has it."""
    fields = "--format=%(objectname) %(refname:lstrip=2)"
    listing = git.word("for-each-ref", "--sort=version:refname", fields, f"{refs_folder}/").split("\n")
    refs = [(sha, *name.rsplit("/", 1)) for sha, _, name in (line.partition(" ") for line in listing)]
    tasks = {task for sha, task, _ in refs if sha == commit}
    if not tasks:
        raise UsageError(f"Checkpoint {commit[:10]} is not kept any more.", "List them: halo checkpoints list")
    task = max(tasks)
    return next(sha for sha, name, _ in reversed(refs) if name == task)


def describe_loss(aside: Path) -> str:
    """Say what is lost with a damaged store that was put aside."""
    from halocline.checkpoints.store.stores import describe_store

    tasks = describe_store(aside).tasks
    count = sum(len(task.numbers) for task in tasks)
    names = ", ".join(f"{task.task}/{task.numbers[0]} to {task.numbers[-1]}" for task in tasks[-3:])
    lost = f"{count} earlier checkpoints are lost ({names})" if count else "Nothing else is lost"
    return f"The store of checkpoints was damaged and a new one was begun. {lost}. The old store is {aside}."


def describe_left_out(places: frozenset[bytes]) -> str:
    """Say what no checkpoint holds although no rule ignores it."""
    names = [place.decode(errors="replace") for place in sorted(places)]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    shown = ", ".join(names[:3]) + more
    return f"Checkpoints leave out what is very large, unreadable or a repository of its own: {shown}."
