"""The page over TLS, in a browser that accepts the certificate by the hash of its key, and no other one."""

import base64
import hashlib
import subprocess
from pathlib import Path

import pytest
from playwright.async_api import Error, async_playwright
from tests.hosts.chromium import needs_chromium
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.web.page import serving
from tests.surfaces.web.pages.conftest import PROGRAM

from halocline.hosts.browser.discovery import QUIET
from halocline.hosts.executables import find_program

pytestmark = [
    needs_chromium,
    pytest.mark.slow,
    pytest.mark.skipif(not find_program("openssl"), reason="openssl is not installed"),
    pytest.mark.asyncio(loop_scope="session"),
]


def hash_key(chain: Path) -> str:
    """The hash of a certificate's public key, as Chromium wants it."""
    pem = subprocess.run(["openssl", "x509", "-in", chain, "-noout", "-pubkey"], check=True, capture_output=True).stdout
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-outform", "der"], input=pem, check=True, capture_output=True
    ).stdout
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


async def test_a_browser_that_accepts_the_certificate_works_over_tls_alone(halo: Halo, tmp_path: Path) -> None:
    (halo.home).mkdir()
    (halo.home / "settings.toml").write_text(f'model = "{halo.script({"text": "It is safe."})}"\n')
    async with serving(halo, "--tls") as server, async_playwright() as playwright:
        (chain,) = (halo.home / "web_certificates").glob("*/cert.pem")
        accepted = f"--ignore-certificate-errors-spki-list={hash_key(chain)}"
        context = await playwright.chromium.launch_persistent_context(
            str(tmp_path / "profile"), executable_path=PROGRAM, args=["--no-sandbox", *QUIET, accepted]
        )
        page = await context.new_page()
        sockets: list[str] = []
        page.on("websocket", lambda socket: sockets.append(socket.url))
        await page.goto(f"{server.origin}/#{server.key}")
        await page.locator("[data-ready=open] .composer textarea").fill("Is it?")
        await page.keyboard.press("Enter")
        await page.locator(".reply", has_text="It is safe.").wait_for()
        (cookie,) = await context.cookies()
        is_secure = await page.evaluate("() => isSecureContext && location.protocol === 'https:'")
        await page.reload()
        await page.locator(".reply", has_text="It is safe.").wait_for()
        await context.close()
    assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"], is_secure) == (True, True, "Strict", True)
    assert sockets
    assert all(address.startswith("wss://") for address in sockets)


async def test_a_browser_that_was_told_of_no_certificate_does_not_open_the_page(halo: Halo, tmp_path: Path) -> None:
    async with serving(halo, "--tls") as server, async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            str(tmp_path / "profile"), executable_path=PROGRAM, args=["--no-sandbox", *QUIET]
        )
        page = await context.new_page()
        with pytest.raises(Error, match="ERR_CERT_AUTHORITY_INVALID"):
            await page.goto(server.origin)
        await context.close()
