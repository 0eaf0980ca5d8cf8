"""The door to documents that are no plain text: what they say, as lines, and pictures made small."""

from enum import StrEnum
from typing import Protocol

from halocline.protocol.values import Value


class DocumentKind(StrEnum):
    """What can be read."""

    PDF = "pdf"
    DOCX = "docx"
    XLSX = "xlsx"
    NOTEBOOK = "ipynb"


class Picture(Value, frozen=True):
    """A picture in the form that models take."""

    media_type: str
    data: bytes


class Documents(Protocol):
    """Reads what strangers made: in a process of its own, bounded in time and memory.

    Both raise ToolFailure when the library is missing (it names the extra) or the document is broken or too much.
    """

    async def text(self, kind: DocumentKind, data: bytes) -> str:
        """What the document says, in reading order. What was left out for its size is said at the end."""

    async def smaller(self, data: bytes, side: int, most: int) -> Picture:
        """The picture with neither side longer than `side` pixels, in at most `most` bytes."""
