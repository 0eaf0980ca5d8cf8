"""The door to how files were before: the project's own git, and the checkpoints."""

from typing import Protocol

from halocline.protocol.values import Value


class Changes(Value, frozen=True):
    """A change: what is said of it, the files that are listed by a letter or two each, and its unified diff."""

    title: str
    files: tuple[tuple[str, str], ...]
    diff: str


class UncommittedFile(Value, frozen=True, omit_defaults=False):
    """A path from the workspace, and what became of it: changed, new, deleted or in conflict.

    `staged`: some of it is staged; `unstaged`: some is not. `known`: git has heard of it.
    """

    path: str
    state: str
    staged: bool
    unstaged: bool
    known: bool


class Uncommitted(Value, frozen=True):
    """`branch` is empty when none is checked out; `under_way` names a merge or the like that is not at its end.

    `runs` are the programs of the repository that a commit would run.
    """

    branch: str
    files: tuple[UncommittedFile, ...]
    under_way: str
    runs: tuple[str, ...] = ()


class Committed(Value, frozen=True):
    """A commit that was made, and what git and its hooks said."""

    name: str
    subject: str
    files: int
    said: str


class Revisions(Protocol):
    """The versions of one workspace."""

    async def diff(self, old: str, new: str = "") -> str:
        """The unified diff between two versions, or from one to the files as they are now.

        Raises:
            ToolFailure: one is not known, or the diff cannot be made.
        """

    async def commits(self, most: int) -> tuple[tuple[str, str], ...]:
        """The newest commits: the beginning of the hash, and the subject. None where there is no repository."""

    async def changes(self) -> Changes:
        """What is not committed: branch, files as `git status` lists them, diff. Raises ToolFailure."""

    async def commit(self, name: str) -> Changes:
        """A commit by the name of its hash: who, when and why, and its diff. Raises ToolFailure when there is none."""
