"""The errors that the editor shows in its files."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from halocline.client import CheckedFiles
from halocline.surfaces.editor.peer import EditorError, Peer
from halocline.surfaces.editor_requests import FileRequests

MARGIN = 2.0
"""Seconds beyond what the editor may wait itself."""
MOST = 200
"""Largest number of errors that are taken from one answer."""


class EditorProblems:
    """Implements `ports.editor.ProblemSource` by asking the extension."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def check(self, paths: Sequence[Path], wait: float) -> CheckedFiles:
        given = {"paths": [*map(str, paths)], "wait": wait}
        requests = FileRequests(EditorError, patience=wait + MARGIN)
        answer = await requests.ask(self._peer.request("problems/check", given), str(paths[0]) if paths else "problems")
        try:
            found = msgspec.convert(answer, CheckedFiles, dec_hook=_to_path) if answer is not None else CheckedFiles()
        except msgspec.ValidationError:
            return CheckedFiles()
        return CheckedFiles(found.paths, found.problems[:MOST])


def _to_path(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError(kind)
