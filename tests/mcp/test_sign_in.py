"""Signing in at a real server over loopback; the browser is a client that follows where it is sent."""

import asyncio
import json

import httpx2
import pytest
from tests.mcp.http import serving
from tests.mcp.oauth import Provider, guarded, port

from halocline.runtime.assembly.assembly import Assembly
from halocline.services.mcp.servers import McpService
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings


class Browser:
    """Opens pages as a person would; `pages` are those that it was shown."""

    def __init__(self) -> None:
        self.pages = []
        self._visits = []

    def show(self, url):
        self.pages.append(url)
        self._visits.append(asyncio.create_task(self._visit(url)))

    async def _visit(self, url):
        async with httpx2.AsyncClient(follow_redirects=True) as client:
            return await client.get(url)


@pytest.fixture
def desk(tmp_path):
    """A desk whose one server is at the URL; each is as a new process would have it."""

    def open(url, **more):
        home = Home.of({"HALOCLINE_HOME": str(tmp_path / "home")})
        home.mcp.write_text(json.dumps({"mcpServers": {"guarded": {"url": url, "type": "streamableHttp", **more}}}))
        return McpService(Assembly(home, Settings(), {}).mcp_of(tmp_path))

    return open


async def test_a_sign_in_is_kept_among_the_keys_and_serves_later_starts(desk, tmp_path):
    at = port()
    url = f"http://localhost:{at}"
    browser = Browser()
    async with serving(guarded(Provider(), url), at):
        (before,) = await desk(f"{url}/mcp").tried(["guarded"])
        signed = await desk(f"{url}/mcp").signed_in("guarded", browser.show, limit=20)
        (after,) = await desk(f"{url}/mcp").tried(["guarded"])
    assert "it needs you to sign in; run: halo mcp login guarded" in before.error
    assert (signed.ok, signed.error) == (True, "")
    assert [tool.tool for tool in after.tools] == ["whoami"]
    assert len(browser.pages) == 1
    holding = [
        file.name for file in (tmp_path / "home").rglob("*") if file.is_file() and b"refresh_tok" in file.read_bytes()
    ]
    assert holding == ["credentials"]


async def test_a_token_that_is_over_is_refreshed_by_a_later_process_without_a_person(desk):
    at = port()
    url = f"http://localhost:{at}"
    provider, browser = Provider(lifetime=30), Browser()
    async with serving(guarded(provider, url), at):
        await desk(f"{url}/mcp").signed_in("guarded", browser.show, limit=20)
        (after,) = await desk(f"{url}/mcp").tried(["guarded"])
    assert after.ok, after.error
    assert provider.refreshed >= 1
    assert len(browser.pages) == 1


async def test_a_sign_in_that_is_forgotten_is_asked_for_again(desk):
    at = port()
    url = f"http://localhost:{at}"
    async with serving(guarded(Provider(), url), at):
        await desk(f"{url}/mcp").signed_in("guarded", Browser().show, limit=20)
        assert desk(f"{url}/mcp").sign_out("guarded")
        (after,) = await desk(f"{url}/mcp").tried(["guarded"])
    assert "sign in" in after.error
    assert not desk(f"{url}/mcp").sign_out("guarded")


async def test_nobody_who_signs_in_costs_the_set_time(desk):
    at = port()
    url = f"http://localhost:{at}"
    async with serving(guarded(Provider(), url), at):
        tried = await desk(f"{url}/mcp").signed_in("guarded", lambda page: None, limit=2)
    assert not tried.ok
    assert "2 s" in tried.error
