import ssl

import pytest
from tests.net.certificates import Authority, authority, trusted
from tests.servers.model_server import ModelServer, Turn
from tests.servers.proxy_server import ProxyServer
from tests.surfaces.cli.halo_process import Halo

from halocline.protocol import events as ev

__all__ = ["authority", "trusted"]

ASKS = ("-m", "openai/x", "--base-url", "https://models.example/v1", "--api-key", "k")


@pytest.mark.parametrize("by_variables", [True, False])
async def test_a_task_goes_through_a_proxy_to_a_server_of_a_private_authority(
    halo: Halo, authority: Authority, trusted: ssl.SSLContext, by_variables: bool
) -> None:
    async with (
        ModelServer([Turn(text="Hello.")], tls=trusted) as server,
        ProxyServer(routes={"models.example:443": server.port}, credentials="me:pa55word") as proxy,
    ):
        url = proxy.url.replace("//", "//me:pa55word@")
        env = {"HTTPS_PROXY": url, "SSL_CERT_FILE": authority.ca_file} if by_variables else {}
        words = () if by_variables else ("--proxy", url, "--ca-file", authority.ca_file)
        done = await halo.run("run", "-p", *ASKS, *words, "hi", env=env)
    assert (done.code, done.out, done.err) == (0, "Hello.\n", "")
    assert {request.target for request in proxy.requests} == {"models.example:443"}
    assert server.requests[0].headers["host"] == "models.example"
    assert not any(b"pa55word" in line for line in halo.raw_log())


async def test_a_certificate_that_is_not_trusted_ends_the_turn_at_once(halo: Halo, trusted: ssl.SSLContext) -> None:
    async with ModelServer([Turn(text="Hello.")], tls=trusted) as server:
        done = await halo.run(
            "-p", "-m", "openai/x", "--base-url", server.url("openai"), "hi", env={"OPENAI_API_KEY": "k"}
        )
    assert done.code == 1
    assert "presented a certificate from an authority that this machine does not know" in done.err
    assert "--ca-file" in done.err
    assert server.requests == []
    (error,) = (event for event in halo.log() if isinstance(event, ev.ErrorRaised))
    assert (error.code, error.retryable) == ("model_tls", False)


async def test_a_proxy_of_another_kind_is_refused_without_its_password(halo: Halo) -> None:
    done = await halo.run("-p", *ASKS, "hi", env={"ALL_PROXY": "socks5://me:pa55word@host:1"})
    assert (done.code, halo.tasks) == (2, [])
    assert "The variable ALL_PROXY is not an http or https proxy." in done.err
    assert "pa55word" not in done.err
