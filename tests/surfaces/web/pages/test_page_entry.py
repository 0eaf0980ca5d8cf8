"""Who is let in: by the address that was printed, or on another machine by the code in the terminal."""

import re

import pytest
from tests.hosts.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_another_machine_is_let_in_by_the_code_and_not_by_a_wrong_one(server, browser):
    await server.start("--host", "0.0.0.0")
    said = b""
    while (found := re.search(rb"enter there: ([\d ]+)", said)) is None:
        said += await server.process.stdout.readline()
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(re.sub(r"127\.0\.0\.1(:\d+).*", r"127.0.0.2\1/", server.address))
    code = page.get_by_label("Or type the code from the terminal")
    await code.fill("000 000" if found[1] != b"000 000" else "111 111")
    await code.press("Enter")
    await page.get_by_text("Wrong code.").wait_for()
    await code.fill(found[1].decode())
    await code.press("Enter")
    await page.locator("[data-ready=open]").wait_for()
    await context.close()


async def test_a_browser_without_a_key_is_told_what_to_do(server, browser):
    await server.start()
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(server.address.partition("#")[0])
    await page.get_by_role("heading", name="Sign in to Halocline").wait_for()
    await page.get_by_label("Address from the terminal").fill(server.address)
    await page.get_by_role("button", name="Sign in").click()
    await page.locator("[data-ready=open]").wait_for()
    await context.close()


async def test_a_wrong_key_lets_nobody_in_and_stands_in_no_address(server, browser):
    await server.start()
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{server.address.partition('#')[0]}#wrong")
    await page.get_by_role("heading", name="Sign in to Halocline").wait_for()
    assert "wrong" not in page.url
    await context.close()
