"""Values that describe checkpoints, their saving and its limits; the labels that checkpoints get from us."""

from pathlib import Path

from halocline.protocol.values import Value

BEFORE, AFTER = "Before restoring ", "After restoring "
"""Prefixes of the labels of the checkpoints around a restore."""
FIRST, FOUND = "Start", "Found changed"
"""Labels of the checkpoint at the start or reopening of a task, and of changes that somebody else made."""


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
    in it. `missing` are the numbers of the task's checkpoints that the store has lost. `aside` is the new place of a
    damaged store. `before` are checkpoints that the task does not know yet, each with its label: a process that died
    had saved them, or had kept the contents for them.
    """

    sha: str
    is_new: bool
    left_out: frozenset[bytes] = frozenset()
    missing: tuple[int, ...] = ()
    aside: Path | None = None
    before: tuple[tuple[str, str], ...] = ()


class Limits(Value, frozen=True):
    """`seconds` limits one save, including waiting for other processes; `patience` limits what a person asked for.

    Files over `largest` bytes are left out.
    """

    seconds: float = 15.0
    patience: float = 300.0
    largest: int = 5_000_000
