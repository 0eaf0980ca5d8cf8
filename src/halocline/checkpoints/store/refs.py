"""The references of a store: each checkpoint is a commit under `refs/halocline/<task>/<n>`."""

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.saved import CheckpointInfo
from halocline.checkpoints.store.git import Git, GitFailed
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value

REFS = "refs/halocline"
MERGES = "refs/merges"
"""Records of merges from other folders, by the task name of the merge."""
_AT_ONCE = 500
"""References in one command line."""


def list_checkpoints(git: Git, task: str | None) -> list[CheckpointInfo]:
    """The checkpoints of one task or of all, oldest first."""
    pattern = f"{REFS}/{task}/" if task else f"{REFS}/"
    try:
        return _read_refs(git, [pattern])
    except GitFailed:  # a commit is missing, and then git lists none
        intact = _list_intact(git, _list_names(git, pattern))
        parts = (intact[at : at + _AT_ONCE] for at in range(0, len(intact), _AT_ONCE))
        return [checkpoint for part in parts for checkpoint in _read_refs(git, part)]


def _read_refs(git: Git, patterns: Sequence[str]) -> list[CheckpointInfo]:
    fields = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents:subject)"
    listing = git.run("for-each-ref", "--sort=version:refname", f"--format={fields}", *patterns)
    return [_parse_checkpoint(line) for line in listing.decode(errors="replace").split("\n")[:-1]]


def _list_names(git: Git, pattern: str) -> list[str]:
    """The names of references, oldest first, also of those whose commits are missing."""
    return git.word("for-each-ref", "--sort=version:refname", "--format=%(refname)", pattern).split()


def _list_intact(git: Git, refs: Sequence[str]) -> list[str]:
    """Return the references whose commits are in the store."""
    answers = git.run("cat-file", "--batch-check=%(objecttype)", data=os.fsencode("".join(f"{ref}\n" for ref in refs)))
    return [ref for ref, answer in zip(refs, answers.split(b"\n"), strict=False) if answer == b"commit"]


def _parse_checkpoint(line: str) -> CheckpointInfo:
    """Parse a line of git's list of references: name, hash, time and first line, separated by NULs."""
    ref, sha, at, label = line.split("\0", 3)
    _, _, task, n = ref.split("/", 3)
    return CheckpointInfo(ref=ref, sha=sha, task=task, n=int(n), label=label, at=float(at))


class Last(Value, frozen=True):
    """The newest checkpoint of a task that can be read. Its number also counts those whose commits are `missing`."""

    sha: str
    tree: str
    n: int
    missing: tuple[int, ...] = ()

    @property
    def after_loss(self) -> bool:
        """True if a newer one is missing."""
        return self.n in self.missing


class Newest(Value, frozen=True):
    """The commit of a `Last`, of any task."""

    sha: str
    after_loss: bool


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
    """Return the newest checkpoint below `refs`, the references of a task; None if it has none.

    Raises GitFailed if it has some, but the store has the commit of none.
    """
    try:
        return _read_last(git, f"{refs}/")
    except GitFailed:  # a commit is missing, and then git reads none
        names = _list_names(git, f"{refs}/")
        intact = _list_intact(git, names)
        last = _read_last(git, intact[-1]) if intact else None
        if last is None:
            raise
    missing = {*names} - {*intact}
    return replace(last, n=_number(names[-1]), missing=tuple(_number(name) for name in names if name in missing))


def _number(ref: str) -> int:
    return int(ref.rpartition("/")[2])


def _read_last(git: Git, pattern: str) -> Last | None:
    fields = "--format=%(objectname) %(tree) %(refname:lstrip=3)"
    found = git.word("for-each-ref", "--sort=-version:refname", "--count=1", fields, pattern)
    match found.split():
        case [sha, tree, n]:
            return Last(sha, tree, int(n))
    return None


def is_newest(refs: Path, n: int) -> bool:
    """True if checkpoint `n` is still there (the store was not set aside) and the task has no newer one."""
    return (refs / str(n)).exists() and not (refs / str(n + 1)).exists()


def newest_of_others(git: Git, commit: str) -> Newest:
    """Return the newest readable checkpoint of the task that has a commit. Raises UsageError if no task has it."""
    listing = git.word("for-each-ref", "--sort=version:refname", "--format=%(objectname) %(refname)", f"{REFS}/")
    shas = {ref: sha for sha, ref in (line.split() for line in listing.split("\n") if line)}
    folders = {ref.rpartition("/")[0] for ref, sha in shas.items() if sha == commit}
    if not folders:
        raise UsageError(f"Checkpoint {commit[:10]} was deleted.", "List the checkpoints: halo checkpoints list")
    refs = [ref for ref in shas if ref.rpartition("/")[0] == max(folders)]
    newest = (_list_intact(git, refs) or refs)[-1]
    return Newest(shas[newest], newest != refs[-1])
