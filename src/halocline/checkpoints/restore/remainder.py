"""Says what a restore cannot bring back: files that its checkpoint left out and the task may have changed since."""

import os
from collections.abc import Collection
from pathlib import Path as FilePath

from halocline.checkpoints.changes.attribution import Who
from halocline.checkpoints.changes.claims import Claims
from halocline.checkpoints.changes.evidence import attribute_between, may_have_removed
from halocline.checkpoints.index.index import Path
from halocline.checkpoints.selection import left_out, sizes
from halocline.checkpoints.selection.overruled import Never
from halocline.checkpoints.store.git import Git
from halocline.protocol.left_out import LeftOut

_OTHERS = (Who.PERSON, Who.OTHER)


def list_remainder(
    git: Git,
    claims: Claims,
    then: left_out.Record,
    unruled: Collection[Path],
    between: tuple[float, float],
    largest: int,
) -> list[LeftOut]:
    """List what stays different from a checkpoint because it left that out, without what others changed.

    `then` is the record of the checkpoint, `unruled` what is left out now although no rule says so; `between` are the
    Unix times of the checkpoint and of now.
    """
    root, known = os.fsencode(git.workspace), {one.path for one in then}
    changed = [one for one in left_out.list_changed(root, then) if _may_be_later(git, one, between[0])]
    new = [left_out.Skipped(path.decode("latin-1"), by_rule=False) for path in sorted(unruled)]
    found = {
        one.path.encode("latin-1").rstrip(b"/"): one
        for one in (*changed, *(one for one in new if one.path not in known))
    }
    if not found:
        return []
    gone = {path for path in found if not os.path.lexists(os.path.join(root, path))}
    by = attribute_between(claims, {path: ("then", "" if path in gone else "now") for path in found}, between, {})
    whose = by.by_path()
    names = [
        one
        for path, one in found.items()
        if whose.get(path, by.rest) not in _OTHERS or (path in gone and may_have_removed(claims, path, between[0]))
    ]
    return [LeftOut(_show(one), why) for one in names if (why := _explain(git, one, largest))]


def _may_be_later(git: Git, one: left_out.Skipped, moment: float) -> bool:
    """True unless a file is known to be as it was at that Unix time."""
    try:
        return os.lstat(os.path.join(os.fsencode(git.workspace), one.path.encode("latin-1"))).st_ctime >= moment
    except OSError:
        return True


def _show(one: left_out.Skipped) -> str:
    return one.path.encode("latin-1").decode(errors="replace")


def _explain(git: Git, one: left_out.Skipped, largest: int) -> str:
    """Say why no checkpoint holds a file; empty if it need not come back, as tools make it again."""
    path = one.path.encode("latin-1")
    if not one.by_rule:
        limit = sizes.largest_saved(path, largest)
        size = max(one.size, _size_of(git.workspace, path))
        kinds = " of such kinds" if limit < largest else ""
        is_large = size > limit
        return f"files{kinds} over {limit // 1000:,} kB are not saved" if is_large else "it could not be read"
    if Never(git.workspace)(path):
        return "secrets and hidden files are not saved"
    is_gone = not os.path.lexists(os.path.join(os.fsencode(git.workspace), path))
    if _is_ours(git, path):
        return "dependencies and caches are not saved" if is_gone else ""
    return "what .gitignore names is not saved"


def _size_of(workspace: FilePath, path: Path) -> int:
    try:
        return os.lstat(os.path.join(os.fsencode(workspace), path)).st_size
    except OSError:
        return 0


def _is_ours(git: Git, path: Path) -> bool:
    """True if one of our own rules leaves a file out, rather than the project's."""
    # 1 means that no rule does any more.
    answer = git.run("check-ignore", "-v", "-z", "--no-index", "--stdin", data=path + b"\0", accept=(0, 1))
    return answer.split(b"\0")[0].endswith(b"info/exclude")
