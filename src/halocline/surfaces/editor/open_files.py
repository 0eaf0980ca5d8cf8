"""Files that the editor has open: their unsaved text is read, and edits of them are made and saved there."""

from halocline.surfaces.editor.peer import EditorError, Peer
from halocline.surfaces.editor_requests import FileRequests


class OpenFiles:
    """Implements `ports.editor.Editor` by asking the extension."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._requests = FileRequests(EditorError)

    async def read(self, path: str) -> str | None:
        """Return the text of a file that is open with unsaved changes; None for others."""
        if self._requests.are_paused:
            return None
        text = await self._requests.ask(self._peer.request("file/read", {"path": path}), path)
        return text if isinstance(text, str) else None

    async def write(self, path: str, text: str) -> bool:
        """Change and save a file that is open. False for others, which are written on disk."""
        if self._requests.are_paused:
            return False
        return await self._requests.ask(self._peer.request("file/write", {"path": path, "text": text}), path) is True
