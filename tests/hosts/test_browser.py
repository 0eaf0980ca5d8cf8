import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio
from tests.hosts.chromium import User, needs_chromium, new_browser
from tests.hosts.site import Page, Site

from halocline.context.images import PictureFacts, picture_facts
from halocline.hosts.keeper import _descendants_of
from halocline.ports.browser import BrowserAct, Deed
from halocline.protocol.errors import ToolFailure

pytestmark = [needs_chromium, pytest.mark.asyncio(loop_scope="module")]

KEY = "sk-that-nobody-may-see"
HOME = """<title>Harbour</title><h1>Boats</h1><a href="/quay">Quay</a> <a href="/gone">Gone</a>
<button onclick="document.title='Pressed'">Press</button>
<form action="/found"><input name="q" aria-label="Search"></form>
<script>console.log('ready'); console.error('a wave')</script><div style="height: 3000px"></div>"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def user() -> AsyncIterator[User]:
    """One browser for all of these tests, started while a key is in our environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", KEY)
        patch.setenv("SOME_OTHER_TOKEN", KEY)
        browser = new_browser()
        async with Site({"/": "<title>first</title>"}) as site:
            await User(browser).launch(site.url())
    yield User(browser)
    await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def site() -> AsyncIterator[Site]:
    async with Site({"/": HOME, "/quay": "<title>Quay</title>Moorings", "/found": "<title>Found</title>"}) as site:
        yield site


@pytest_asyncio.fixture(loop_scope="module")
async def other() -> AsyncIterator[Site]:
    async with Site({"/": "<title>Elsewhere</title>"}) as site:
        yield site


async def test_a_launched_page_is_seen_with_its_console_and_what_can_be_clicked(user: User, site: Site):
    view = await user.launch(site.url())
    assert (view.url, view.title, view.status) == (site.url(), "Harbour", 200)
    assert view.console == ("log: ready", "error: a wave")
    assert [(item.kind, item.name) for item in view.items] == [
        ("a", "Quay"),
        ("a", "Gone"),
        ("button", "Press"),
        ("input text", "Search"),
    ]
    assert "Boats" in view.text
    assert view.below > 2000
    assert picture_facts(view.picture) == PictureFacts("image/jpeg", 900, 600)


async def test_a_click_on_a_link_opens_it_and_one_on_a_button_presses_it(user: User, site: Site):
    view = await user.click(await user.launch(site.url()), "Press")
    assert view.title == "Pressed"
    view = await user.click(view, "Quay")
    assert (view.url, view.title) == (site.url("/quay"), "Quay")


async def test_what_is_typed_goes_to_the_focus_and_a_line_end_is_enter(user: User, site: Site):
    await user.click(await user.launch(site.url()), "Search")
    view = await user.type("red boats\n")
    assert view.url == site.url("/found?q=red+boats")


async def test_scrolling_goes_down_and_up_again(user: User, site: Site):
    await user.launch(site.url())
    assert (await user.scroll()).above == 600
    assert (await user.scroll(Deed.SCROLL_UP)).above == 0


async def test_a_page_that_is_not_there_is_shown_with_its_status(user: User, site: Site):
    view = await user.click(await user.launch(site.url()), "Gone")
    assert (view.status, view.text) == (404, "nothing here")


async def test_a_link_to_a_server_that_is_not_allowed_is_not_followed_and_it_is_named(
    user: User, site: Site, other: Site
):
    site.pages["/"] = f'<a href="{other.url("/x?secret")}">Away</a>'
    view = await user.click(await user.launch(site.url()), "Away")
    assert view.url == site.url()
    assert view.happened == (f"{other.url('/x?secret')} needs a call of its own",)
    assert other.asked == []


async def test_a_redirect_to_a_server_that_is_not_allowed_ends_before_it(user: User, site: Site, other: Site):
    site.pages["/hop"] = Page(status="302 Found", headers=(f"Location: {other.url('/end')}",))
    site.pages["/"] = Page(status="302 Found", headers=("Location: /hop",))
    with pytest.raises(ToolFailure, match="/end needs a call of its own"):
        await user.launch(site.url(), parts=(f"localhost:{other.port}",))
    assert site.asked == ["GET /", "GET /hop"]
    assert other.asked == []


async def test_a_form_is_not_sent_to_a_server_that_is_not_allowed(user: User, site: Site, other: Site):
    site.pages["/"] = f'<form method="post" action="{other.url()}"><button name="a" value="b">Send</button></form>'
    view = await user.click(await user.launch(site.url(), parts=(f"localhost:{other.port}",)), "Send")
    assert "needs a call of its own" in view.happened[0]
    assert other.asked == []


async def test_a_page_that_goes_elsewhere_by_script_stays_where_it_is(user: User, site: Site, other: Site):
    site.pages["/"] = f"<title>Stays</title><script>location = '{other.url()}'</script>"
    view = await user.launch(site.url(), parts=(f"localhost:{other.port}",))
    assert (view.url, view.title) == (site.url(), "Stays")
    assert "needs a call of its own" in view.happened[0]
    assert other.asked == []


async def test_parts_of_a_page_come_only_from_servers_that_are_allowed(user: User, site: Site, other: Site):
    async with Site({"/ok.js": Page("document.title = 'Scripted'", "text/javascript")}) as friend:
        site.pages["/"] = (
            f'<script src="{friend.url("/ok.js")}"></script><img src="{other.url("/p.png")}">'
            f'<iframe src="{other.url("/frame")}"></iframe><script>fetch("{other.url("/data")}")</script>'
        )
        view = await user.launch(site.url(), parts=(f"localhost:{friend.port}",))
    assert view.title == "Scripted"
    assert view.happened == (f"Not loaded: http://localhost:{other.port}/ needs a call of its own",)
    assert other.asked == []


async def test_an_address_that_a_part_is_redirected_to_is_judged_too(user: User, site: Site, other: Site):
    site.pages["/pic"] = Page(status="302 Found", headers=(f"Location: {other.url('/inside')}",))
    site.pages["/"] = '<img src="/pic">'
    view = await user.launch(site.url())
    assert f"localhost:{other.port}" in view.happened[0]
    assert other.asked == []


SOCKET = """<script>const s = new WebSocket('ws://localhost:%d/ws');
s.onopen = () => document.title = 'open'; s.onerror = () => document.title = 'refused'</script>"""


async def test_web_sockets_are_judged(user: User, site: Site, other: Site):
    accept = "Sec-WebSocket-Accept: "  # the browser hangs up, but it did ask
    other.pages["/ws"] = Page(status="101 Switching Protocols", headers=(accept,))
    site.pages["/"] = SOCKET % other.port
    assert (await user.launch(site.url())).title == "refused"
    assert other.asked == []
    await user.launch(site.url(), parts=(f"localhost:{other.port}",))
    assert other.asked == ["GET /ws"]


async def test_service_workers_are_not_registered(user: User, site: Site):
    site.pages["/sw.js"] = Page("", "text/javascript")
    site.pages["/"] = (
        "<script>navigator.serviceWorker.register('/sw.js')"
        ".then(worker => document.title = worker ? 'registered' : 'no')</script>"
    )
    assert (await user.launch(site.url())).title == "no"
    assert "GET /sw.js" not in site.asked


async def test_a_page_for_a_new_window_is_opened_in_this_one(user: User, site: Site):
    site.pages["/"] = '<a href="/quay" target="_blank" rel="noopener">New</a>'
    view = await user.click(await user.launch(site.url()), "New")
    assert view.title == "Quay"
    assert "opened a new window" in view.happened[0]


async def test_a_new_window_for_a_server_that_is_not_allowed_is_not_opened(user: User, site: Site, other: Site):
    site.pages["/"] = f"<button onclick=\"window.open('{other.url()}')\">Open</button>"
    view = await user.click(await user.launch(site.url(), parts=(f"localhost:{other.port}",)), "Open")
    assert any("needs a call of its own" in said for said in view.happened)
    assert other.asked == []


async def test_a_dialog_is_dismissed_and_told(user: User, site: Site):
    site.pages["/"] = "<button onclick=\"document.title = confirm('Delete all?')\">Ask</button>"
    view = await user.click(await user.launch(site.url()), "Ask")
    assert view.title == "false"
    assert "dialog (confirm): Delete all?" in view.console
    assert "a dialog (confirm), which was dismissed" in view.happened[0]


async def test_a_download_is_refused(user: User, site: Site):
    site.pages["/"] = '<a href="/file">File</a>'
    site.pages["/file"] = Page("x", "application/zip", headers=("Content-Disposition: attachment; filename=f.zip",))
    view = await user.click(await user.launch(site.url()), "File")
    assert "started a download" in view.happened[0]
    assert "download: f.zip" in view.console
    with pytest.raises(ToolFailure, match="a file to download"):
        await user.launch(site.url("/file"))


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "chrome://version", "data:text/html,x", "view-source:http://x/"]
)
async def test_a_page_cannot_lead_to_what_is_no_web_page(user: User, site: Site, url: str):
    site.pages["/"] = f'<a href="{url}">Go</a> <iframe src="{url}"></iframe>'
    view = await user.click(await user.launch(site.url()), "Go")
    assert view.url == site.url()


async def test_a_page_cannot_change_how_it_is_read(user: User, site: Site):
    site.pages["/"] = (
        "<title>True</title><script>Object.defineProperty(document, 'title', {get: () => 'False'});"
        "document.querySelectorAll = () => { for (;;); }</script>"
    )
    assert (await user.launch(site.url())).title == "True"


async def test_a_page_that_hangs_is_told_of_and_the_next_launch_works(user: User, site: Site):
    site.pages["/"] = '<button onclick="for (;;);">Hang</button>'
    view = await user.click(await user.launch(site.url()), "Hang")
    assert "The page does not respond and could not be read. Launch a page again." in view.happened
    assert (await user.launch(site.url("/quay"))).title == "Quay"


async def test_the_console_is_bounded(user: User, site: Site):
    site.pages["/"] = "<script>for (let i = 0; i < 500; i++) console.log('x'.repeat(9999))</script>"
    view = await user.launch(site.url())
    assert len(view.console) == 30
    assert max(map(len, view.console)) == 300
    assert "470 more console messages were omitted." in view.happened


async def test_nothing_is_done_on_a_page_that_moved_on_by_itself(user: User, site: Site, other: Site):
    site.pages["/"] = f"<button>Press</button><script>setTimeout(() => location = '{other.url()}', 3000)</script>"
    view = await user.launch(site.url(), f"localhost:{other.port}")
    await asyncio.sleep(3)
    with pytest.raises(ToolFailure, match="by itself, so nothing was done"):
        await user.click(view, "Press")


async def test_a_server_that_nobody_runs_is_told_in_words(user: User, site: Site):
    assert site.server is not None
    url = site.url()
    site.server.close()
    with pytest.raises(ToolFailure, match=rf"{url} was not opened. localhost:\d+ (cannot|could not|refused)"):
        await user.launch(url)


async def test_no_process_below_has_a_key_in_its_environment(user: User, site: Site):
    await user.launch(site.url())
    seen = {Path(f"/proc/{pid}/comm").read_text().strip(): environment(pid) for pid in _descendants_of(os.getpid())}
    assert any("chrom" in name for name in seen)
    assert "node" in seen or any("MainThread" in name for name in seen)
    assert [name for name, text in seen.items() if KEY in text] == []


def environment(pid: int) -> str:
    return Path(f"/proc/{pid}/environ").read_bytes().decode("utf-8", "replace")


async def test_the_profile_is_private_and_gone_when_the_browser_is_closed(site: Site):
    user = User(new_browser())
    before = folders()
    await user.launch(site.url())
    (folder,) = folders() - before
    assert folder.stat().st_mode & 0o777 == 0o700
    await user.browser.perform(BrowserAct(Deed.CLOSE), user.judge)
    assert folders() == before
    with pytest.raises(ToolFailure, match="Use the launch action first"):
        await user.scroll()


def folders() -> set[Path]:
    import tempfile

    return set(Path(tempfile.gettempdir()).glob("halocline-browser-*"))


async def test_a_browser_that_crashed_is_told_of_and_can_be_launched_again(site: Site):
    user = User(new_browser())
    others = set(_descendants_of(os.getpid()))  # another browser may run for this module
    await user.launch(site.url())
    for pid in set(_descendants_of(os.getpid())) - others:
        words = command_line(pid)
        if b"--remote-debugging-pipe" in words and b"--type=" not in words:
            os.kill(pid, 9)
    with pytest.raises(ToolFailure, match="crashed"):
        await user.scroll()
    assert (await user.launch(site.url())).title == "Harbour"
    await user.browser.close()


def command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


async def test_an_action_that_is_interrupted_ends_the_browser(site: Site):
    async with Site() as silent:
        assert silent.server is not None
        user = User(new_browser())
        await user.launch(site.url())
        before = folders()
        acting = asyncio.create_task(user.scroll())
        await asyncio.sleep(0.1)
        acting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await acting
        assert len(folders()) == len(before) - 1


async def test_our_own_port_is_not_opened(site: Site):
    user = User(new_browser(own_ports=lambda: (site.port,)))
    with pytest.raises(ToolFailure, match="belongs to Halocline itself"):
        await user.launch(site.url())
    await user.browser.close()
