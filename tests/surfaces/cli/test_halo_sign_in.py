"""Signing in to OpenRouter: a real page, a real browser's place taken by a program, a real way back."""

import asyncio
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pexpect
import pytest
from tests.surfaces.cli.halo_process import Halo, ended, line_with
from tests.surfaces.cli.openrouter import KEY, OpenRouter

PAGE = re.compile(r"http://127\.0\.0\.1:\d+/auth\?\S+")
BROWSER = """#!{python}
import sys
from pathlib import Path
from urllib.request import urlopen
Path({seen!r}).write_text(urlopen(sys.argv[1]).read().decode())
"""


@pytest.fixture
def browser(halo: Halo) -> Path:
    """What the browser showed at the end; the browser is the one that the variable BROWSER names."""
    seen, program = halo.root / "page.html", halo.root / "browser"
    program.write_text(BROWSER.format(python=sys.executable, seen=str(seen)))
    program.chmod(0o755)
    halo.env["BROWSER"] = str(program)
    return seen


@contextmanager
def signing_in(halo: Halo, at: OpenRouter, *words: str) -> Iterator[pexpect.spawn]:
    terminal = halo.terminal("login", "openrouter", "--base-url", at.base_url, *words)
    try:
        yield terminal
    finally:
        terminal.close(force=True)


async def page_of(terminal: pexpect.spawn) -> str:
    await expects(terminal, PAGE)
    return str(terminal.match[0])


async def expects(terminal: pexpect.spawn, what: Any) -> None:
    await asyncio.to_thread(terminal.expect, what)


async def ends_with(terminal: pexpect.spawn) -> tuple[int, str]:
    await expects(terminal, pexpect.EOF)
    said = str(terminal.before)
    terminal.close()
    return int(terminal.exitstatus), " ".join(said.split())


def stored(halo: Halo) -> bool:
    return (halo.home / "credentials").exists() and KEY in (halo.home / "credentials").read_text()


async def test_the_browser_opens_comes_back_and_the_key_is_tried_and_stored(halo: Halo, browser: Path) -> None:
    async with OpenRouter() as openrouter:
        with signing_in(halo, openrouter) as terminal:
            await expects(terminal, "in the browser")
            terminal.send("b\r")
            code, said = await ends_with(terminal)
    assert code == 0, said
    assert "The key for OpenRouter" in said
    assert "…cdef" in said
    assert KEY not in said
    assert stored(halo)
    assert "Return to Halocline" in browser.read_text()
    paths = [request.path.partition("?")[0] for request in openrouter.requests]
    assert paths == ["/auth", "/api/v1/auth/keys", "/api/v1/key", "/api/v1/models"]
    assert openrouter.pages[0]["callback_url"].startswith("http://localhost:")


async def test_the_address_of_the_last_page_can_be_carried_over_by_hand(halo: Halo, browser: Path) -> None:
    async with OpenRouter() as openrouter:
        with signing_in(halo, openrouter, "--no-browser") as terminal:
            terminal.send(openrouter.sign_in(await page_of(terminal)) + "\r")
            code, said = await ends_with(terminal)
    assert (code, stored(halo)) == (0, True), said
    assert not browser.exists()


async def test_the_code_alone_will_do(halo: Halo) -> None:
    async with OpenRouter() as openrouter:
        with signing_in(halo, openrouter, "--no-browser") as terminal:
            openrouter.sign_in(await page_of(terminal))
            terminal.send("\r code-1 \r")
            code, said = await ends_with(terminal)
    assert (code, stored(halo)) == (0, True), said


async def test_the_address_of_another_sign_in_is_refused(halo: Halo) -> None:
    async with OpenRouter() as openrouter:
        with signing_in(halo, openrouter, "--no-browser") as terminal:
            address = openrouter.sign_in(await page_of(terminal))
            terminal.send(re.sub(r"/callback/[^?]+", "/callback/guessed", address) + "\r")
            code, said = await ends_with(terminal)
    assert (code, stored(halo)) == (2, False)
    assert "belongs to another sign-in" in said


async def test_a_code_that_is_worth_nothing_is_said(halo: Halo) -> None:
    async with OpenRouter() as openrouter:
        with signing_in(halo, openrouter, "--no-browser") as terminal:
            await page_of(terminal)
            terminal.send("made-up\r")
            code, said = await ends_with(terminal)
    assert (code, stored(halo)) == (1, False)
    assert "rejected the code (status 403)" in said


async def test_who_says_no_on_the_page_is_not_signed_in(halo: Halo) -> None:
    async with OpenRouter(refuses=True) as openrouter:
        with signing_in(halo, openrouter, "--no-browser") as terminal:
            address = openrouter.sign_in(await page_of(terminal))
            page = await asyncio.to_thread(lambda: urlopen(address).read().decode())
            code, said = await ends_with(terminal)
    assert "Not signed in" in page
    assert (code, stored(halo)) == (2, False)
    assert "access_denied" in said


@pytest.mark.parametrize("answer", [(200, {"token": KEY}), (200, [KEY]), (403, {"error": {"message": KEY}})])
async def test_an_answer_without_a_key_is_said_and_not_shown(halo: Halo, answer: tuple[int, Any]) -> None:
    async with OpenRouter(answer=answer) as openrouter:
        with signing_in(halo, openrouter, "--no-browser") as terminal:
            terminal.send(openrouter.sign_in(await page_of(terminal)) + "\r")
            code, said = await ends_with(terminal)
    assert (code, stored(halo)) == (1, False)
    assert KEY not in said


async def test_a_key_can_be_pasted_instead(halo: Halo) -> None:
    async with OpenRouter() as openrouter:
        with signing_in(halo, openrouter, "--with-key") as terminal:
            await expects(terminal, "hidden as you paste it")
            terminal.send(f"\x1b[200~{KEY}\x1b[201~\r")
            code, said = await ends_with(terminal)
    assert (code, stored(halo)) == (0, True), said
    assert KEY not in said


async def test_where_nobody_can_type_the_browser_alone_will_do(halo: Halo) -> None:
    async with OpenRouter() as openrouter:
        process = await halo.start("login", "openrouter", "--base-url", openrouter.base_url, "--no-browser")
        address = openrouter.sign_in((await line_with(process, "/auth?")).strip())
        await asyncio.to_thread(lambda: urlopen(address).close())
        done = await ended(process)
    assert (done.code, done.err, stored(halo)) == (0, "", True)


async def test_leaving_a_sign_in_with_ctrl_c_leaves_nothing(halo: Halo) -> None:
    async with OpenRouter() as openrouter:
        with signing_in(halo, openrouter, "--no-browser") as terminal:
            await page_of(terminal)
            terminal.send("\x03")
            code, said = await ends_with(terminal)
    assert (code, stored(halo)) == (130, False)
    assert "Traceback" not in said
