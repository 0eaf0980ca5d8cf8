"""Every page beside the chat keeps nobody out and fits, at each width and in each theme."""

import pytest
from tests.hosts.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

PAGES = (
    "history",
    "history/261121-120000-gold",
    "history/trash",
    "history/storage",
    "settings/Model",
    "settings/Edits",
    "settings/This%20page",
    "providers",
    "providers/openrouter",
    "mcp",
    "mcp/small",
    "mcp/%2Badd",
    "mcp/%2Bfind",
    "rules/files/AGENTS.md",
    "rules/workflows",
    "rules/hooks",
    "rules/memory",
    "rules/trust",
)


@pytest.mark.parametrize(("width", "theme"), [(320, "light"), (390, "dark"), (1100, "light")])
async def test_no_page_has_a_barrier_or_scrolls_sideways(width: int, theme: str, server, opened, golden):
    server.task(golden / "repair.jsonl")
    (server.halo.home / "mcp.json").write_text('{"mcpServers": {"small": {"command": "small"}}}')
    (server.halo.folder / "AGENTS.md").write_text("# Ours\n\nBe brief.\n")
    workflows = server.halo.folder / ".clinerules" / "workflows"
    workflows.mkdir(parents=True)
    (workflows / "release.md").write_text("# Release\n\nDo it.\n")
    await server.start()
    screen = await opened(width=width, theme=theme)
    found = []
    for path in PAGES:
        await screen.go(path)
        await screen.page.locator(".page h1").wait_for()
        await screen.page.wait_for_function(
            "() => !document.querySelector('.page [role=status]')?.textContent.startsWith('Loading')"
        )
        await screen.page.wait_for_timeout(150)
        found += [f"{path} {barrier}" for barrier in await screen.barriers()]
        found += [f"{path} scrolls sideways"] * await screen.scrolls_sideways()
        found += [f"{path}: {box} is too wide" for box in await screen.page.evaluate(TOO_WIDE)]
    assert found == []


TOO_WIDE = """() => [...document.querySelectorAll('.page-body, .panes, .pane-list, .pane-detail')]
    .filter((box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1).map((box) => box.className)"""
