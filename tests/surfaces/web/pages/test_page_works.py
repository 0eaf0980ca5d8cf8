"""What takes a while: space is freed after it was said what goes, and conversations with other agents become tasks."""

import os
import time

import pytest
from tests.hosts.chromium import needs_chromium
from tests.importers import transcripts

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_what_no_task_needs_is_named_and_freed(server, opened):
    blob = server.halo.home / "blobs" / "ab" / ("c" * 62)
    blob.parent.mkdir(parents=True)
    blob.write_bytes(b"x" * 300_000)
    old = time.time() - 3 * 86_400
    os.utime(blob, (old, old))
    await server.start()
    screen = await opened(width=390, path="history/storage")
    page = screen.page
    await screen.sees("Unused contents")
    await page.get_by_text("Delete more").press("Enter")
    await page.get_by_label("All but the latest").fill("0")
    await screen.sees("Enter a whole number or leave it empty.")
    await page.get_by_label("All but the latest").fill("2")
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
    await page.get_by_role("button", name="Free space…").press("Enter")
    await page.get_by_role("button", name="Cancel").press("Enter")
    assert blob.exists()
    await page.get_by_role("button", name="Free space…").press("Enter")
    await page.get_by_role("button", name="Free space", exact=True).press("Enter")
    await screen.sees("Freed 3")
    await screen.sees("Nothing to free.")
    assert not blob.exists()


async def test_chosen_conversations_of_other_agents_become_tasks(server, opened):
    halo = server.halo
    transcripts.claude(halo.root, str(halo.folder))
    transcripts.codex(halo.root, str(halo.folder))
    await server.start()
    screen = await opened(width=320, theme="dark", path="history/import")
    page = screen.page
    await page.get_by_role("checkbox", name="What is wrong?").press(" ")
    assert await screen.barriers() == []
    assert not await screen.scrolls_sideways()
    await page.get_by_role("button", name="Import 1 conversation").press("Enter")
    await screen.sees("1 conversation imported.")
    await page.get_by_role("checkbox", name="What is wrong?", disabled=True).wait_for()
    assert len(list((halo.home / "tasks").iterdir())) == 1
    await page.get_by_role("link", name="What is wrong?").press("Enter")
    await screen.sees("What is wrong?", ".prompt-text")
