"""What edits broke: the texts before them are judged, then those after, and only the difference is told."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from halocline.hosts.language_servers.diagnostics import new_errors
from halocline.hosts.language_servers.server import Server
from halocline.ports.diagnostics import EditedText, Problem

MOST_FILES = 20
"""Files of one patch that are looked at."""
_MADE, _CHANGED, _REMOVED = 1, 2, 3


async def judge_edits(server: Server, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
    """The errors that edits of one server's files brought in. Raises ServerGone.

    What moved from one file to another is not new.
    """
    edits = edits[:MOST_FILES]
    await server.when_ready()
    async with server.turn:  # all files are as before, then all are as they are now: they depend on each other
        before = await _all_problems(server, {edit.path: edit.before for edit in edits if edit.before is not None})
        for edit in edits:
            _tell_server(server, edit)
        after = await _all_problems(server, {edit.path: edit.after for edit in edits if edit.after is not None})
    return new_errors(before, after)


async def _all_problems(server: Server, texts: dict[Path, str]) -> list[Problem]:
    documents = [server.open(path, text) for path, text in texts.items()]
    await asyncio.gather(*map(server.answer, documents))
    return [problem for document in documents for problem in document.problems]


def _tell_server(server: Server, edit: EditedText) -> None:
    if edit.after is None:
        server.shut(edit.path)
        server.saved(edit.path, _REMOVED)
    else:
        server.open(edit.path, edit.after)
        server.saved(edit.path, _MADE if edit.before is None else _CHANGED)
