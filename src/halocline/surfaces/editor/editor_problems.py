"""The errors that the editor shows in its files."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from halocline.client.editor import CheckedFiles
from halocline.surfaces.editor.peer import EditorError, Peer
from halocline.surfaces.editor_requests import FileRequests

MOST = 200
"""Largest number of errors that are taken from one answer."""


class EditorProblems:
    """Implements `ports.editor.ProblemSource` by asking the extension."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._requests = FileRequests(EditorError)

    async def check(self, paths: Sequence[Path], wait: float) -> CheckedFiles:
        if self._requests.are_paused or not paths:
            return CheckedFiles()
        given = {"paths": [*map(str, paths)], "wait": wait}
        answer = await self._requests.ask(self._peer.request("problems/check", given), str(paths[0]), wait)
        try:
            found = msgspec.convert(answer, CheckedFiles | None, dec_hook=lambda kind, value: kind(value))
        except msgspec.ValidationError:
            found = None
        asked = [path for path in found.paths if path in paths] if found else []
        problems = [one for one in found.problems if one.path in asked] if found else []
        return CheckedFiles(tuple(asked), tuple(problems[:MOST]))
