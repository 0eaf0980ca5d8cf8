"""Additions to the diffs of a page: the words that changed, and more lines of the file."""

import asyncio
from typing import Annotated

import msgspec

from halocline.client.diffs import Spans, mark_changes
from halocline.client.folders import FileLines
from halocline.protocol.values import Value
from halocline.surfaces.web.handlers.handler import OfTask, query
from halocline.surfaces.web.open_tasks import OpenTasks

MOST_PAIRS = 200
"""Pairs of lines that are compared for one diff."""


class LinePairs(Value, frozen=True):
    """Removed lines, each with the added line that replaces it."""

    pairs: Annotated[tuple[tuple[str, str], ...], msgspec.Meta(max_length=MOST_PAIRS)]


class OfEditedFile(OfTask, frozen=True):
    """Lines of a file of an edit, from `first` to `last`: as a call left it, or as a waiting request found it."""

    call: str
    path: str
    first: int = 1
    last: int = 0


@query("word_marks")
async def mark_words(tasks: OpenTasks, which: LinePairs) -> list[tuple[Spans, Spans]]:
    """Return the spans of each pair that differ, in code points; none where the lines are too different."""
    return await asyncio.to_thread(lambda: [mark_changes(old, new) for old, new in which.pairs])


@query("diff_lines")
async def read_diff_lines(tasks: OpenTasks, which: OfEditedFile) -> FileLines:
    """Return lines of a file around a diff, at the version that the diff shows."""
    task = tasks.known(which.task)
    return await tasks.client.file_reader(task).of_edit(which.call, which.path, which.first, which.last)
