"""Says what a checkpoint left out, and what of it a restore cannot bring back, as the task may have changed it."""

import os
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path as FilePath

from halocline.checkpoints.changes.attribution import Who
from halocline.checkpoints.changes.claims import Claims
from halocline.checkpoints.changes.evidence import attribute_between, may_have_removed
from halocline.checkpoints.index.index import Path
from halocline.checkpoints.repository.access import StoreAccess
from halocline.checkpoints.selection import left_out, sizes
from halocline.checkpoints.selection.overruled import Never
from halocline.checkpoints.store.git import Git, GitFailed, Runner
from halocline.protocol.left_out import LeftOut

_OTHERS = (Who.PERSON, Who.OTHER)
MOST_NEW = 100
"""Files that are named one by one because nothing says who made them; more are named by their folders."""
NEW = "new since then, and nothing says that the task made {}"


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
    return _explain_each(git, names, largest)


def explain_unknown(unknown: Sequence[Path]) -> list[LeftOut]:
    """Say why a restore leaves files that the target does not have; a folder's path ends in a slash."""
    folders = [path for path in unknown if path.endswith(b"/")]
    found = [LeftOut(path.decode(errors="replace"), "that checkpoint left it out") for path in folders]
    new = [path for path in unknown if not path.endswith(b"/")]
    if len(new) <= MOST_NEW:
        return found + [LeftOut(path.decode(errors="replace"), f"it is {NEW.format('it')}", kept=True) for path in new]
    counts = Counter(path.partition(b"/")[0] + b"/" if b"/" in path else b"./" for path in new)
    return found + [
        LeftOut(folder.decode(errors="replace"), f"it has files that are {NEW.format('them')} ({count:,})", kept=True)
        for folder, count in sorted(counts.items())
    ]


def list_left_out(store: StoreAccess, checkpoint: str) -> list[LeftOut]:
    """List what a checkpoint left out and tools do not make again; nothing if git cannot tell."""
    git, found = store.bind_git(store.limits.patience, Runner(), None), []
    with suppress(GitFailed):
        found = _explain_each(git, left_out.read_record(git, checkpoint), store.limits.largest)
    return found


def _explain_each(git: Git, found: Sequence[left_out.Skipped], largest: int) -> list[LeftOut]:
    ours = _find_ours(git, [one.path.encode("latin-1") for one in found if one.by_rule])
    return [LeftOut(_show(one), why) for one in found if (why := _explain(git, one, largest, ours))]


def _may_be_later(git: Git, one: left_out.Skipped, moment: float) -> bool:
    """True unless a file is known to be as it was at that Unix time."""
    try:
        return os.lstat(os.path.join(os.fsencode(git.workspace), one.path.encode("latin-1"))).st_ctime >= moment
    except OSError:
        return True


def _show(one: left_out.Skipped) -> str:
    return one.path.encode("latin-1").decode(errors="replace")


def _explain(git: Git, one: left_out.Skipped, largest: int, ours: Collection[Path]) -> str:
    """Say why no checkpoint holds a file; empty if it need not come back, as tools make it again.

    `ours` are the files that one of our own rules leaves out.
    """
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
    if path in ours:
        return "dependencies and caches are not saved" if is_gone else ""
    return "what .gitignore names is not saved"


def _size_of(workspace: FilePath, path: Path) -> int:
    try:
        return os.lstat(os.path.join(os.fsencode(workspace), path)).st_size
    except OSError:
        return 0


def _find_ours(git: Git, paths: Sequence[Path]) -> frozenset[Path]:
    """Return the files that one of our own rules leaves out, rather than the project's."""
    if not paths:
        return frozenset()
    asked = b"".join(path + b"\0" for path in paths)
    # 1 means that no rule does any more.
    answer = git.run("check-ignore", "-v", "-z", "--no-index", "--stdin", data=asked, accept=(0, 1)).split(b"\0")
    return frozenset(
        path for source, path in zip(answer[::4], answer[3::4], strict=False) if source.endswith(b"info/exclude")
    )
