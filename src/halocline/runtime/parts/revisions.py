"""Diffs between revisions: from the checkpoints if checkpoints are named, else from the project's own git."""

from collections.abc import Callable
from pathlib import Path

from halocline import checkpoints, git
from halocline.ports.revisions import Changes
from halocline.protocol.errors import HaloclineError, ToolFailure
from halocline.protocol.patterns import compile_later

_CHECKPOINT = compile_later(r"(?:\d{6}-\d{6}-\w{4}/)?\d{1,4}")
"""A checkpoint's number in this task, or another task's id and a number."""


class WorkspaceRevisions:
    """Implements `ports.revisions.Revisions`."""

    def __init__(self, workspace: Path, open_store: "Callable[[], checkpoints.shadow_git.ShadowGit]") -> None:
        self._workspace = workspace
        self._open_store = open_store

    async def diff(self, old: str, new: str = "") -> str:
        if not _CHECKPOINT.fullmatch(old):
            return await git.diffs.git_diff(self._workspace, old, new)
        try:
            return await self._open_store().diff(old, new or None)
        except HaloclineError as error:
            advice = "To name a commit, use a branch, a tag or its hash."
            raise ToolFailure(f"{error.text} {advice}", person=error.text) from error

    async def commits(self, most: int) -> tuple[tuple[str, str], ...]:
        return await git.diffs.git_commits(self._workspace, most)

    async def changes(self) -> Changes:
        return await git.diffs.git_changes(self._workspace)

    async def commit(self, name: str) -> Changes:
        return await git.diffs.git_commit(self._workspace, name)
