"""What is said of checkpoints: which there are, what came of one that was asked for, and how long one may take."""

from pathlib import Path

from halocline.checkpoints import index
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
        """Whether a person means this one: by `task/number`, or by the beginning of its hash."""
        return name == f"{self.task}/{self.n}" or (len(name) >= 4 and self.sha.startswith(name))


class Saved(Value, frozen=True):
    """A checkpoint that was asked for.

    `is_new` is false when nothing had changed since the last one. `left_out` is what no rule ignores and yet is not in
    it. `aside` is where a damaged store was moved to. `before` is a checkpoint that was made first, and its label: a
    process died that had kept for it how files were.
    """

    sha: str
    is_new: bool
    left_out: frozenset[index.Path] = frozenset()
    aside: Path | None = None
    before: tuple[str, str] = ("", "")


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
