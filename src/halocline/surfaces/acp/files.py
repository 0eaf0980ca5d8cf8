"""Files that an editor has open, asked for over the protocol. An editor that fails or is late is no error: `None`."""

from acp import RequestError, schema
from acp.interfaces import Client as Connection

from halocline.surfaces.editor_requests import PATIENCE, FileRequests


def read_abilities(given: object) -> schema.ClientCapabilities:
    """Return what a client offers, without what is no object: Lua writes an empty table as a list."""
    if not isinstance(given, schema.ClientCapabilities):
        return schema.ClientCapabilities()
    return schema.ClientCapabilities(
        fs=given.fs if isinstance(given.fs, schema.FileSystemCapabilities) else None,
        auth=given.auth if isinstance(given.auth, schema.AuthCapabilities) else None,
    )


class OpenFiles:
    """Implements `ports.editor.Editor` for one session, as far as the client offers it. `session` names it."""

    def __init__(
        self,
        connection: Connection,
        abilities: schema.ClientCapabilities,
        session: str = "",
        patience: float = PATIENCE,
    ) -> None:
        offered = abilities.fs
        self._reads = bool(offered and offered.read_text_file)
        self._writes = bool(offered and offered.write_text_file)
        self._connection = connection
        self._requests = FileRequests(RequestError, ValueError, OSError, patience=patience)
        self.session = session

    async def read(self, path: str) -> str | None:
        if not self._reads or not self.session:
            return None
        found = await self._requests.ask(self._connection.read_text_file(session_id=self.session, path=path), path)
        return found.content if found else None

    async def write(self, path: str, text: str) -> bool:
        if not self._writes or not self.session:
            return False

        async def write_and_confirm() -> bool:
            await self._connection.write_text_file(session_id=self.session, path=path, content=text)
            return True

        return bool(await self._requests.ask(write_and_confirm(), path))
