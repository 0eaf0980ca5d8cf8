"""When the diagnostics of a document count as complete."""

import asyncio
from pathlib import Path

import pytest

from halocline.hosts.language_servers.document import SETTLE_VERSIONED, Document
from halocline.ports.diagnostics import Problem

FOUND = Problem(Path("/w/a.py"), 1, "x", "Wrong.")


@pytest.mark.parametrize("version", [1, None])
async def test_an_empty_list_for_a_file_just_opened_is_not_yet_the_answer(version: int | None) -> None:
    document = Document(Path("/w/a.py"), "x", 1.0)
    document.hear(version, ())
    asyncio.get_running_loop().call_later(2 * SETTLE_VERSIONED, document.hear, version, (FOUND,))
    await document.settled()
    assert document.problems == (FOUND,)


async def test_an_empty_list_for_a_change_is_the_answer() -> None:
    document = Document(Path("/w/a.py"), "x", 1.0)
    document.change("y")
    document.hear(2, ())
    asyncio.get_running_loop().call_later(3 * SETTLE_VERSIONED, document.hear, 2, (FOUND,))
    await document.settled()
    assert document.problems == ()
