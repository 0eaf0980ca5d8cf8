"""`halo web` over TLS: with a certificate that it makes, or with the person's own."""

import ssl
import stat
import subprocess
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.web.page import PAGE_KEY, Server, serving
from websockets.asyncio.client import connect

from halocline.hosts.executables import find_program
from halocline.protocol.errors import UsageError
from halocline.surfaces.web.certificate import check_certificate, keep_certificate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.skipif(not find_program("openssl"), reason="openssl is not installed"),
]


def trusting(chain: Path) -> ssl.SSLContext:
    """A client that trusts this certificate alone, and checks names."""
    return ssl.create_default_context(cafile=str(chain))


async def sign_in(server: Server, context: ssl.SSLContext) -> tuple[str, dict[str, str]]:
    async with server.http(headers={"origin": server.origin}, verify=context) as http:
        answer = await http.post("/enter", content=server.key)
    assert answer.status_code == 200
    ((name, value),) = answer.cookies.items()
    return answer.headers["set-cookie"], {"cookie": f"{name}={value}", PAGE_KEY: answer.json()["key"]}


async def test_a_page_is_served_and_watched_over_tls_and_its_cookie_goes_over_nothing_else(halo: Halo) -> None:
    async with serving(halo, "--tls") as server:
        assert server.origin.startswith("https://127.0.0.1:")
        (chain,) = (halo.home / "web_certificates").glob("*/cert.pem")
        cookie, session = await sign_in(server, trusting(chain))
        assert "; Secure" in cookie
        async with connect(
            server.socket_address,
            ssl=trusting(chain),
            origin=server.origin,
            additional_headers={"cookie": session["cookie"]},
            subprotocols=["halocline", session[PAGE_KEY]],
            proxy=None,
        ) as socket:
            assert '"welcome"' in str(await socket.recv())


async def test_the_certificate_is_kept_for_the_next_start_and_its_key_is_private(halo: Halo) -> None:
    async with serving(halo, "--tls"):
        (chain,) = (halo.home / "web_certificates").glob("*/cert.pem")
        first = chain.read_bytes()
    async with serving(halo, "--tls") as server:
        await sign_in(server, trusting(chain))
    assert chain.read_bytes() == first
    assert stat.S_IMODE(chain.with_name("key.pem").stat().st_mode) == 0o600
    assert stat.S_IMODE(chain.parent.stat().st_mode) == 0o700


async def test_your_own_certificate_is_used(halo: Halo, tmp_path: Path) -> None:
    own = keep_certificate(tmp_path / "own", ["127.0.0.1"])
    async with serving(halo, "--tls-cert", str(own.chain), "--tls-key", str(own.key)) as server:
        await sign_in(server, trusting(own.chain))
    assert not (halo.home / "web_certificates").exists()


def test_a_certificate_is_for_the_names_that_it_is_made_for(tmp_path: Path) -> None:
    made = keep_certificate(tmp_path, ["halo.example", "[::1]", "192.0.2.7"])
    text = subprocess.run(
        ["openssl", "x509", "-in", made.chain, "-noout", "-ext", "subjectAltName", "-fingerprint", "-sha256"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "DNS:halo.example, IP Address:192.0.2.7, IP Address:0:0:0:0:0:0:0:1" in text
    assert made.fingerprint in text
    assert keep_certificate(tmp_path, ["halo.example"]).fingerprint != made.fingerprint


@pytest.mark.parametrize("name", ["a b", "x,IP:0.0.0.0", "é.example", ""])
def test_a_name_that_would_say_more_than_a_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="is no host name"):
        keep_certificate(tmp_path, [name])


def test_a_certificate_that_cannot_be_used_is_refused_before_the_server_starts(tmp_path: Path) -> None:
    made, other = keep_certificate(tmp_path, ["localhost"]), keep_certificate(tmp_path, ["other.example"])
    for chain, key in ((tmp_path / "none.pem", ""), (made.chain, made.chain), (made.chain, other.key)):
        with pytest.raises(UsageError, match="Cannot use the certificate"):
            check_certificate(str(chain), str(key))
