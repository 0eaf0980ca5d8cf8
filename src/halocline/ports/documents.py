"""Port for documents that are not plain text: extracts their text, and shrinks images."""

from enum import StrEnum
from typing import Protocol

from halocline.protocol.values import Value


class DocumentKind(StrEnum):
    """Supported document formats."""

    PDF = "pdf"
    DOCX = "docx"
    XLSX = "xlsx"
    NOTEBOOK = "ipynb"


class Picture(Value, frozen=True):
    """An image in a format that models accept."""

    media_type: str
    data: bytes


class Documents(Protocol):
    """Reads untrusted documents in a separate process with limited time and memory.

    Both methods raise ToolFailure if the library is missing (naming the extra), or the document is broken or too large.
    """

    async def text(self, kind: DocumentKind, data: bytes) -> str:
        """Return the document's text in reading order. The end says what was left out because of its size."""

    async def smaller(self, data: bytes, side: int, most: int) -> Picture:
        """Shrink an image to at most `side` pixels per side and `most` bytes."""
