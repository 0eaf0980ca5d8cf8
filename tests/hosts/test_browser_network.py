import asyncio
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import textwrap
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hosts.chromium import FOUND, User, needs_chromium, new_browser
from tests.hosts.site import Site
from tests.net.certificates import PAST, Authority
from tests.servers.proxy_server import ProxyServer

from halocline.hosts.browser.discovery import QUIET
from halocline.hosts.browser.proxy import BrowserGate
from halocline.net.address import address_of
from halocline.net.network import DIRECT, Network
from halocline.net.proxies import proxy_for
from halocline.protocol.errors import ToolFailure

pytestmark = needs_chromium


async def test_a_certificate_that_nobody_vouches_for_is_an_error(trusted: ssl.SSLContext):
    user = User(new_browser())
    async with Site({"/": "secret"}, trusted) as site:
        with pytest.raises(ToolFailure, match=r"certificate is not trusted \(ERR_CERT_AUTHORITY_INVALID\)"):
            await user.launch(site.url())
    await user.browser.close()
    assert site.asked == []


async def test_the_authority_of_the_settings_is_trusted_and_an_expired_certificate_is_not(
    authority: Authority, trusted: ssl.SSLContext
):
    user = User(new_browser(ca_files=(authority.ca_file,)))
    async with Site({"/": "<title>Safe</title>"}, trusted) as site:
        assert (await user.launch(site.url())).title == "Safe"
    async with Site({"/": "old"}, authority.signs("old", dates=PAST)) as site:
        with pytest.raises(ToolFailure, match=r"ERR_CERT_DATE_INVALID"):
            await user.launch(site.url())
    await user.browser.close()


async def test_a_proxy_with_a_password_is_used_for_plain_pages_and_for_secret_ones(
    authority: Authority, trusted: ssl.SSLContext
):
    async with Site({"/": "<title>Plain</title>"}) as plain, Site({"/": "<title>Secret</title>"}, trusted) as secret:
        routes = {"plain.example:80": plain.port, "models.example:443": secret.port}
        async with ProxyServer(routes=routes, credentials="me:pass") as proxy:
            named = proxy.url.replace("//", "//me:pass@")

            def way(url: str) -> Network:
                target = address_of(url)
                assert target is not None
                return Network(proxy=proxy_for(target, named, {}))

            user = User(new_browser(way, (authority.ca_file,)))
            assert (await user.launch("http://plain.example/", "plain.example:80")).title == "Plain"
            assert (await user.launch("https://models.example/", "models.example:443")).title == "Secret"
            await user.browser.close()
    assert ("GET", "http://plain.example/") in {(one.method, one.target) for one in proxy.requests}
    assert ("CONNECT", "models.example:443") in {(one.method, one.target) for one in proxy.requests}


async def through(gate: BrowserGate, at: dict[str, str], lines: list[str]) -> bytes:
    port = int(at["server"].rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("\r\n".join([*lines, "", ""]).encode())
    answer = await reader.read(65_536)
    writer.close()
    return answer


async def allowed(url: str) -> tuple[str, ...]:
    return ("127.0.0.1",)


async def test_nobody_but_the_browser_gets_through_the_gate():
    gate = BrowserGate(allowed, lambda url: DIRECT, lambda: ())
    async with Site({"/": "inside"}) as site:
        at = await gate.start()
        wrong = b64encode(b"halocline:guess").decode()
        for header in ("X: y", f"Proxy-Authorization: Basic {wrong}"):
            answer = await through(gate, at, [f"GET {site.url()} HTTP/1.1", "Host: x", header])
            assert answer.startswith(b"HTTP/1.1 407")
        assert site.asked == []
        await gate.close()


async def test_a_connection_serves_one_request_so_that_none_goes_unjudged():
    gate = BrowserGate(allowed, lambda url: DIRECT, lambda: ())
    async with Site({"/": "inside", "/second": "never"}) as site:
        at = await gate.start()
        right = b64encode(f"{at['username']}:{at['password']}".encode()).decode()
        key = f"Proxy-Authorization: Basic {right}"
        second = ["", f"GET {site.url('/second')} HTTP/1.1", "Host: x", key]
        answer = await through(gate, at, [f"GET {site.url()} HTTP/1.1", f"Host: localhost:{site.port}", key, *second])
        assert answer.endswith(b"inside")
        assert site.asked == ["GET /"]
        await gate.close()


REMOTE = (
    FOUND.program,
    "--headless",
    "--no-sandbox",
    "--remote-debugging-port=0",
    *QUIET,
)


async def test_a_browser_that_runs_already_is_used_through_the_gate_and_left_running(tmp_path: Path):
    running = subprocess.Popen(
        [*REMOTE, f"--user-data-dir={tmp_path}"], stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        while not (told := tmp_path / "DevToolsActivePort").exists() or not told.read_text():
            await asyncio.sleep(0.1)
        port = told.read_text().split()[0]
        user = User(new_browser(remote=f"127.0.0.1:{port}"))
        async with Site() as other, Site({"/": f'<title>Far</title><img src="{other.url("/x.png")}">'}) as site:
            view = await user.launch(site.url())
            assert view.title == "Far"
            assert view.happened == (f"Not loaded: http://localhost:{other.port}/ needs a call of its own",)
            assert other.asked == []
        await user.browser.close()
        assert running.poll() is None
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


async def test_a_remote_browser_that_does_not_run_is_told_with_what_to_do_where_no_other_is():
    user = User(new_browser(remote="127.0.0.1:1", executable=""))
    with pytest.raises(ToolFailure, match=r"Nothing answers at 127.0.0.1:1.*--remote-debugging-port"):
        await user.launch("http://localhost:2/")


async def test_a_remote_browser_that_does_not_answer_is_replaced_by_one_here_with_a_notice():
    user = User(new_browser(remote="127.0.0.1:1"))
    async with Site({"/": "<title>Near</title>"}) as site:
        first, second = await user.launch(site.url()), await user.launch(site.url())
    await user.browser.close()
    assert (first.title, second.title) == ("Near", "Near")
    assert "Nothing usable answered at 127.0.0.1:1" in first.happened[0]
    assert not second.happened


LAUNCHED = """
    import asyncio, sys
    from tests.hosts.chromium import User, new_browser
    from tests.hosts.site import Site
    async def main():
        async with Site({"/": "x"}) as site:
            await User(new_browser()).launch(site.url())
            print("launched", flush=True)
            await asyncio.sleep(60)
    asyncio.run(main())
"""


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Chromium's sockets must fit into a hundred bytes."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


async def test_nothing_is_left_of_a_browser_when_halo_is_killed(short_folder: Path):
    env = os.environ | {"TMPDIR": str(short_folder), "PYTHONPATH": str(Path(__file__).parents[2])}
    halo = subprocess.Popen([sys.executable, "-c", textwrap.dedent(LAUNCHED)], stdout=subprocess.PIPE, env=env)
    assert halo.stdout is not None
    assert halo.stdout.readline() == b"launched\n"
    assert len(of_folder(short_folder)) > 3
    assert len(list(short_folder.iterdir())) == 1
    halo.kill()
    halo.wait()
    halo.stdout.close()
    for _ in range(100):
        if not of_folder(short_folder) and not list(short_folder.iterdir()):
            return
        await asyncio.sleep(0.1)
    assert (of_folder(short_folder), list(short_folder.iterdir())) == ([], [])


def of_folder(folder: Path) -> list[str]:
    """Processes that name a folder on their command line or in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            text = (place / "cmdline").read_bytes() + (place / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in text:
            found.append(place.name)
    return found
