"""Port for an editor in which the person has files open."""

from typing import Protocol


class Editor(Protocol):
    """Files as the editor has them, with unsaved changes. Paths are absolute, without links.

    Nothing is raised: every failure of the editor, and a late answer, means that the disk is used.
    """

    async def read(self, path: str) -> str | None:
        """Return the text of a file; None if the editor does not give it."""

    async def write(self, path: str, text: str) -> bool:
        """Set the text of a file and save it. False if the editor did not do that."""
