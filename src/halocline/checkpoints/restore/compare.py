"""Compares two checkpoints or trees: as one diff, or file by file as data, with long diffs cut and marked as such."""

import re
from collections.abc import Iterator

from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.store.git import Git
from halocline.files import encodings
from halocline.protocol.values import Value

LONGEST, MOST = 200_000, 2_000_000
"""Largest size in bytes of one file's diff, and of all diffs together."""
_KINDS = {"A": "added", "D": "deleted", "M": "changed", "R": "renamed", "T": "changed", "C": "added"}
_OPTIONS = ("-r", "--find-renames", "--no-color", "--no-ext-diff", "--no-textconv")
_FILE = re.compile(rb"^diff --git ", re.MULTILINE)


class FileDifference(Value, frozen=True, omit_defaults=False):
    """One file. `kind` is added, deleted, changed or renamed (`before` is its old name); `cut` is in bytes.

    `added` and `removed` count lines, or are None for a file that is not text. `diff` is unified.
    """

    path: str
    kind: str
    added: int | None
    removed: int | None
    diff: str = ""
    before: str = ""
    cut: int = 0


class Comparison(Value, frozen=True):
    """All files that differ, by name."""

    files: tuple[FileDifference, ...] = ()

    @property
    def added(self) -> int:
        return sum(file.added or 0 for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed or 0 for file in self.files)


def diff_checkpoints(repository: Repository, old: str, new: str | None) -> str:
    """The unified diff from one checkpoint to another, or to the workspace as it is now. Raises UsageError."""
    with repository.read() as git:
        before, after = _resolve_both(repository, git, old, new)
        return encodings.decode_patch(git.run("diff-tree", "-p", *_OPTIONS, before, after))


def compare_checkpoints(repository: Repository, old: str, new: str | None, root: str = "") -> Comparison:
    """Compare two checkpoints, or one and the workspace as it is now. Raises UsageError."""
    with repository.read() as git:
        return compare_trees(git, *_resolve_both(repository, git, old, new), root)


def _resolve_both(repository: Repository, git: Git, old: str, new: str | None) -> tuple[str, str]:
    before = repository.resolve(git, old)
    return before, repository.resolve(git, new) if new is not None else repository.present(git)[0]


def compare_trees(git: Git, old: str, new: str, root: str = "") -> Comparison:
    """Compare two commits or trees. Names begin with `root`, if given."""
    inside = f"{root}/" if root else ""
    prefixes = (f"--src-prefix=a{root}/", f"--dst-prefix=b{root}/") if root else ()
    changed = list(_parse_changes(git.run("diff-tree", "-z", "--raw", *_OPTIONS, old, new)))
    counts = list(_parse_counts(git.run("diff-tree", "-z", "--numstat", *_OPTIONS, old, new)))
    patches = iter(_split_patches(git.run("diff-tree", "-p", *prefixes, *_OPTIONS, old, new)))
    files = []
    left = MOST
    for (letter, before, path), (added, removed) in zip(changed, counts, strict=True):
        # A file that became a link is shown as one deletion and one addition.
        patch = next(patches, b"") + (next(patches, b"") if letter == "T" else b"")
        kept = _cut_patch(patch, max(0, min(LONGEST, left)))
        left -= len(kept)
        files.append(
            FileDifference(
                path=inside + path.decode(errors="replace"),
                kind=_KINDS.get(letter, "changed"),
                added=added,
                removed=removed,
                diff=encodings.decode_patch(kept),
                before=inside + before.decode(errors="replace") if before else "",
                cut=len(patch) - len(kept),
            )
        )
    return Comparison(tuple(files))


def _parse_changes(raw: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    """The kind's letter, the old name if it differs, and the name."""
    fields = iter(raw.split(b"\0")[:-1])
    for head in fields:
        if not head.startswith(b":"):
            continue
        letter = head.rsplit(b" ", 1)[1][:1].decode()
        before = next(fields) if letter in "RC" else b""
        yield letter, before, next(fields)


def _parse_counts(raw: bytes) -> Iterator[tuple[int | None, int | None]]:
    fields = iter(raw.split(b"\0")[:-1])
    for head in fields:
        match head.split(b"\t", 2):  # a name may contain more tabs
            case [added, removed, path]:
                if not path:
                    next(fields), next(fields)
                yield _parse_number(added), _parse_number(removed)


def _parse_number(text: bytes) -> int | None:
    return int(text) if text.isdigit() else None


def _split_patches(raw: bytes) -> Iterator[bytes]:
    starts = [found.start() for found in _FILE.finditer(raw)]
    for start, end in zip(starts, [*starts[1:], len(raw)], strict=True):
        yield raw[start:end]


def _cut_patch(patch: bytes, room: int) -> bytes:
    """Cut a patch to as many whole lines as fit."""
    return patch if len(patch) <= room else patch[: patch.rfind(b"\n", 0, room) + 1]
