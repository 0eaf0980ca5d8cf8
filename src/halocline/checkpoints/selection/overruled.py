"""Finds what checkpoints save although a rule leaves it out: what git tracks, but for secrets and hidden files."""

import os
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.store import layout
from halocline.checkpoints.store.git import Git, GitFailed
from halocline.files.patterns import find_match


class Never:
    """A predicate: True if no checkpoint of a workspace holds a file of this name, tracked or not."""

    def __init__(self, workspace: Path) -> None:
        self._patterns = tuple(layout.build_never(workspace).splitlines())

    def __call__(self, name: bytes) -> bool:
        return bool(find_match(self._patterns, os.fsdecode(name)))


def list_overruled(git: Git) -> frozenset[bytes]:
    """List the tracked files that a rule leaves out but that are saved all the same."""
    tracked = git.tracked
    if tracked is None:
        return frozenset()
    tracked.look()
    if tracked.overruled is None:
        try:
            tracked.overruled = _ask_overruled(git)
        except GitFailed:  # an index of another form, or one that is being written
            return frozenset()
    return tracked.overruled


def _ask_overruled(git: Git) -> frozenset[bytes]:
    if git.tracked is None or (found := git.tracked.repository) is None:
        return frozenset()
    theirs = replace(git, index=found.folder / "index", workspace=found.top)
    names = theirs.run("ls-files", "-z", "--cached", "--ignored", "--exclude-standard").split(b"\0")[:-1]
    is_never = Never(git.workspace)
    return frozenset(name for name in git.tracked.inside(names) if not is_never(name))
