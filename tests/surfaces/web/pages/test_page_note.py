"""A line behind a hash is a note: kept for tasks to come, and taken back by one press."""

import pytest
from tests.hosts.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_a_line_behind_a_hash_is_kept_as_a_note_and_can_be_taken_back(server, opened):
    server.settings("memory = true\n")
    await server.start()
    screen = await opened(width=390)
    await screen.composer.press_sequentially("# we use tabs")
    await screen.sees("saves this as a note", ".chips")
    assert await screen.barriers() == []
    await screen.composer.press("Enter")
    await screen.sees("Note saved", ".toast")
    (kept,) = (server.halo.home / "memory").rglob("*.md")
    assert kept.read_text().endswith("- we use tabs\n")
    await screen.page.get_by_role("button", name="Undo").press("Enter")
    await screen.sees("Note removed.", ".toast")
    assert "tabs" not in kept.read_text()


async def test_a_note_is_given_back_where_notes_are_off(server, opened):
    await server.start()
    screen = await opened()
    await screen.composer.fill("# we use tabs")
    await screen.composer.press("Enter")
    await screen.sees("Memory is off", ".toast")
    assert await screen.composer.input_value() == "# we use tabs"
