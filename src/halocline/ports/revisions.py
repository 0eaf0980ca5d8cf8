"""The door to how files were before: the project's own git, and the checkpoints."""

from typing import Protocol


class Revisions(Protocol):
    """The versions of one workspace."""

    async def diff(self, old: str, new: str = "") -> str:
        """The unified diff between two versions, or from one to the files as they are now.

        Raises:
            ToolFailure: one is not known, or the diff cannot be made.
        """
