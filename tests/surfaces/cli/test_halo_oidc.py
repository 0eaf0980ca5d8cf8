"""`halo login` with a provider that has a sign-in by OpenID Connect: a real page, a real way back, a real request."""

import asyncio
import stat
import time

import pexpect
import pytest
from tests.providers.oidc_server import CLIENT, Company, company
from tests.servers.model_server import Call, ModelServer, Turn
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.cli.test_halo_sign_in import browser, expects

from halocline.providers.auth.oidc import SignedIn, encode_sign_in
from halocline.store.secrets.store import SecretStore

__all__ = ["browser"]
pytestmark = [pytest.mark.process, pytest.mark.slow]
SETTINGS = """
[providers.work]
title = "Work"
base_url = "{server}"

[providers.work.sign_in]
issuer = "{issuer}"
client_id = "{client}"
callback = "{callback}"
"""


def set_up(halo: Halo, server: ModelServer, issuer: Company, callback: str) -> None:
    halo.home.mkdir()
    text = SETTINGS.format(server=server.url("openai"), issuer=issuer.url, client=CLIENT, callback=callback)
    (halo.home / "settings.toml").write_text(text)


async def test_a_person_signs_in_in_the_browser_and_no_other_file_than_the_key_store_has_a_token(
    halo: Halo, browser: object, unused_tcp_port: int
) -> None:
    callback = f"http://localhost:{unused_tcp_port}/signed-in"
    async with company(callback) as issuer, ModelServer([Turn(text="Hello from work.")]) as server:
        set_up(halo, server, issuer, callback)
        terminal = halo.terminal("login", "work")
        await expects(terminal, "paste a key")
        terminal.send("b\r")
        await expects(terminal, "Enter pick")
        stored = str(terminal.before)
        terminal.send("\r")
        await expects(terminal, pexpect.EOF)
        said = " ".join(f"{stored} {terminal.before}".split())
        await asyncio.to_thread(terminal.close)
        assert (terminal.exitstatus, "The sign-in to Work is stored" in said) == (0, True), said
        done = await halo.run("run", "-m", "work/m", "Hello")
    assert (done.code, "Hello from work." in done.out) == (0, True), done.err
    assert server.requests[-1].headers["authorization"] == f"Bearer {issuer.given[0]}"
    tokens = [*issuer.given, *issuer.refreshing]
    files = {path: path.read_text("latin-1") for path in halo.root.rglob("*") if path.is_file()}
    holders = {path for path, text in files.items() if any(token in text for token in tokens)}
    assert holders == {halo.home / "credentials"}
    assert stat.S_IMODE((halo.home / "credentials").stat().st_mode) == 0o600
    assert not any(token in said + done.out + done.err for token in tokens)


async def test_a_sign_in_is_forgotten_like_a_key(halo: Halo, unused_tcp_port: int) -> None:
    callback = f"http://localhost:{unused_tcp_port}/signed-in"
    async with company(callback) as issuer, ModelServer() as server:
        set_up(halo, server, issuer, callback)
        given = issuer.give()
        found = SignedIn(f"{issuer.url}/token", CLIENT, given.access_token, time.time() + 3600)
        SecretStore(halo.home / "credentials").put("work", encode_sign_in(found))
        listed = await halo.run("login", "--list")
        forgotten = await halo.run("logout", "work")
        asked = await halo.run("run", "-m", "work/m", "Hello")
    rows = [line.split() for line in listed.out.splitlines()]
    assert ["work", "stored", "in", "a", "file"] in rows
    assert forgotten.out == "Removed the key for Work.\n"
    assert (asked.code, "halo login work" in asked.err) == (2, True)


async def test_a_token_in_the_variable_of_the_provider_is_hidden_from_commands(halo: Halo) -> None:
    look = Call("execute_command", {"command": "echo [$WORK_TOKEN]", "requires_approval": False})
    async with ModelServer([Turn(calls=(look,)), Turn(text="Done.")]) as server:
        halo.home.mkdir()
        text = SETTINGS.format(server=server.url("openai"), issuer="https://sso.example", client=CLIENT, callback="")
        (halo.home / "settings.toml").write_text(text)
        halo.env["WORK_TOKEN"] = "a-token-of-a-program"
        done = await halo.run("run", "-y", "-m", "work/m", "Look")
    assert done.code == 0, done.err
    assert server.requests[0].headers["authorization"] == "Bearer a-token-of-a-program"
    assert "[]" in str(server.requests[1].body)
