"""A task in Firefox, from the first visit to its end: the page is not written for one browser."""

import pytest
from tests.surfaces.cli.halo_process import shell
from tests.surfaces.web.firefox import FOUND, firefox

pytestmark = [
    pytest.mark.skipif(not FOUND, reason="Firefox is not installed: apt-get install firefox-esr"),
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.asyncio(loop_scope="session"),
]
READY = "document.querySelector('[data-ready=open] .composer textarea')"
LOG = "document.querySelector('.log-inside').textContent"


async def test_a_task_is_begun_approved_read_and_found_again(server, tmp_path):
    server.model({"call": [shell("touch made")]}, {"text": "It is **made**.\n\n```python\nprint(1)\n```\n"})
    await server.start()
    async with firefox(tmp_path / "profile") as page:
        await page.go(server.address)
        await page.until(READY)
        await page.press(".composer textarea")
        await page.type("Make it.\n")
        await page.until("document.querySelector('.primary:enabled')")
        await page.press(".decision :is(.primary, .approves):enabled")
        await page.until("document.querySelector('.turn-end')")
        assert (server.halo.folder / "made").exists()
        assert (await page.value("document.querySelector('.md strong').textContent"))["value"] == "made"
        await page.until("document.querySelector('.hljs span span')")  # its grammar was loaded
        await page.go(server.address.partition("#")[0])
        await page.until(READY)
        await page.press(".task-link")
        await page.until(f"document.querySelector('[data-told=yes]') && {LOG}.includes('Make it.')")
        assert page.problems == []
