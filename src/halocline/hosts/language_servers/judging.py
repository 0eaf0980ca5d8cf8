"""Finds what edits broke: compares the errors of the texts before with those after."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from halocline.hosts.language_servers.diagnostics import new_errors
from halocline.hosts.language_servers.server import Server
from halocline.ports.diagnostics import EditedText, Problem

MOST_FILES = 20
"""Largest number of files checked per patch."""
_MADE, _CHANGED, _REMOVED = 1, 2, 3


async def judge_edits(server: Server, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
    """The errors that edits of one server's files introduced. Raises ServerGone.

    An error that moved from one file to another is not new.
    """
    edits = edits[:MOST_FILES]
    await server.when_ready()
    async with server.turn:  # first all files as before, then all as now: they depend on each other
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
