import asyncio
import ssl

import pytest
from tests.net.certificates import Authority, authority, trusted
from tests.net.raw_server import serving
from tests.providers.streams import MemoryBlobs
from tests.servers.model_server import Fault, ModelServer, Turn
from tests.servers.proxy_server import ProxyServer

from halocline.net.address import address_of
from halocline.net.network import Network
from halocline.net.proxies import Proxy
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.endpoint import Endpoint
from halocline.runtime.models.connection_test import ModelConnection, try_connection
from halocline.runtime.models.resolve import build_client

__all__ = ["authority", "trusted"]

KEY = "sk-1234567890abcdef"
FAMILIES = ["anthropic", "openai_chat", "openai_responses", "gemini"]
QUICK = Network(connect_timeout=5.0, first_byte_timeout=5.0, stall_timeout=5.0)


async def tried(
    url: str, family: str = "openai_chat", model: str = "m", key: str = KEY, network: Network = QUICK, **more: str
) -> ModelConnection:
    """The way to a vendor of that family whose own server is at `url`."""
    vendor = Vendor("near", "Near", family, base_url=url, key_variable="NEAR_API_KEY", **more)
    at = Endpoint(vendor, model, key=key, key_source="NEAR_API_KEY", network=network)
    return await try_connection(at, build_client(at, MemoryBlobs()))


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_key_that_is_taken_and_a_model_that_is_there(family: str) -> None:
    async with ModelServer(key=KEY, models=["other", "m"]) as server:
        found = await tried(server.url(family), family)
    assert (found.reached, found.accepted, found.known, found.failure, found.code) == (True, True, True, "", "")
    assert (found.model, found.server) == ("near/m", f"127.0.0.1:{server.port}")
    assert 0 <= found.seconds < 30
    assert {request.method for request in (*server.questions, *server.requests)} == {"GET"}


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_key_that_is_refused(family: str) -> None:
    async with ModelServer(key="another") as server:
        found = await tried(server.url(family), family)
    assert (found.reached, found.accepted, found.known, found.code) == (True, False, None, "model_auth")
    assert "Near did not accept the key" in found.failure
    assert "NEAR_API_KEY" in found.hint
    assert KEY not in found.failure + found.hint


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_model_that_is_not_there_is_named_with_what_is_like_it(family: str) -> None:
    async with ModelServer(key=KEY, models=["small-4", "unlike", "large-4"]) as server:
        found = await tried(server.url(family), family, model="smal-4")
    assert (found.reached, found.accepted, found.known, found.code) == (True, True, False, "model_not_found")
    assert found.failure == "Near has no model smal-4."
    assert "small-4" in found.hint
    assert "unlike" not in found.hint


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_server_without_a_list_is_asked_for_a_word(family: str) -> None:
    async with ModelServer([Turn(text="ok")], key=KEY, models=None) as server:
        found = await tried(server.url(family), family)
    assert (found.accepted, found.known, found.failure) == (True, True, "")
    assert [request.method for request in (*server.questions, *server.requests)] == ["GET", "POST"]


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_reply_without_words_is_an_answer_too(family: str) -> None:
    async with ModelServer([Turn(text="")], models=None) as server:
        assert (await tried(server.url(family), family)).known


async def test_a_list_that_a_key_may_not_see_says_nothing_of_the_key() -> None:
    async with forbidding_the_list(b"200 OK", b'data: {"choices":[{"index":0,"delta":{"content":"ok"}}]}\n\n') as url:
        found = await tried(url)
    assert (found.accepted, found.known, found.failure) == (True, True, "")


async def test_a_key_that_may_do_neither_is_refused() -> None:
    async with forbidding_the_list(b"401 Unauthorized", b'{"error":{"message":"wrong key"}}') as url:
        found = await tried(url)
    assert (found.accepted, found.code) == (False, "model_auth")
    assert "wrong key" in found.failure


def forbidding_the_list(status: bytes, body: bytes):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            listing = head.startswith(b"GET")
            said, text = (
                (b"403 Forbidden", b'{"error":"Missing scopes: api.model.read"}') if listing else (status, body)
            )
            kind = b"application/json" if listing else b"text/event-stream"
            lines = (b"HTTP/1.1 " + said, b"content-type: " + kind, b"content-length: %d" % len(text), b"", text)
            writer.write(b"\r\n".join(lines))
            if not listing:
                return

    return serving(answer)


async def test_where_the_list_is_open_to_everybody_the_key_is_asked_about() -> None:
    async with ModelServer(key=KEY) as server:
        vendor = Vendor(
            "openrouter", "OpenRouter", "openai_chat", base_url=server.url("openai"), key_variable="OPENROUTER_API_KEY"
        )
        at = Endpoint(vendor, "scripted", key=KEY, network=QUICK)
        found = await try_connection(at, build_client(at, MemoryBlobs()))
    assert (found.accepted, found.known) == (True, True)
    assert [request.path for request in server.questions] == ["/v1/key", "/v1/models"]


@pytest.mark.parametrize("looks_at_keys", [True, False])
async def test_a_key_is_accepted_only_by_a_server_that_refuses_others(looks_at_keys: bool) -> None:
    async with ModelServer(key=KEY if looks_at_keys else "") as server:
        vendor = Vendor("near", "Near", "openai_chat", base_url="https://near.example/v1", key_variable="NEAR_API_KEY")
        at = Endpoint(vendor, "scripted", key=KEY, base_url=server.url("openai"), network=QUICK)
        found = await try_connection(at, build_client(at, MemoryBlobs()))
    assert (found.accepted, found.known, found.failure) == (looks_at_keys or None, True, "")


async def test_a_server_that_is_not_there(unused_tcp_port: int) -> None:
    found = await tried(f"http://127.0.0.1:{unused_tcp_port}/v1")
    assert (found.reached, found.accepted, found.known, found.code) == (False, None, None, "model_unreachable")
    assert "refused the connection" in found.failure


@pytest.mark.process
async def test_a_certificate_that_is_not_trusted(trusted: ssl.SSLContext) -> None:
    async with ModelServer(tls=trusted) as server:
        found = await tried(server.url("openai"))
    assert (found.reached, found.code) == (False, "model_tls")
    assert "--ca-file" in found.hint
    assert (server.questions, server.requests) == ([], [])


async def test_a_certificate_of_a_named_authority(authority: Authority, trusted: ssl.SSLContext) -> None:
    async with ModelServer(tls=trusted, key=KEY, models=["m"]) as server:
        found = await tried(server.url("openai"), network=Network(ca_files=(authority.ca_file,)))
    assert (found.accepted, found.known) == (True, True)


@pytest.mark.parametrize(
    ("status", "code"), [(200, ""), (403, "model_proxy"), (407, "model_proxy"), (502, "model_unreachable")]
)
async def test_the_way_leads_through_the_proxy(
    authority: Authority, trusted: ssl.SSLContext, status: int, code: str
) -> None:
    async with (
        ModelServer(tls=trusted, key=KEY, models=["m"]) as server,
        ProxyServer(routes={"models.example:443": server.port}, status=status) as proxy,
    ):
        address = address_of(proxy.url)
        assert address is not None
        network = Network(connect_timeout=5.0, proxy=Proxy(address, ""), ca_files=(authority.ca_file,))
        found = await tried("https://models.example/v1", network=network)
    assert (found.code, found.reached) == (code, status == 200)
    assert {request.target for request in proxy.requests} == {"models.example:443"}


async def test_a_web_page_is_no_list_of_models() -> None:
    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>")

    async with serving(page) as url:
        found = await tried(url)
    assert (found.reached, found.accepted, found.code) == (True, None, "model_malformed")
    assert "base URL" in found.hint


@pytest.mark.parametrize(
    "body", [b'[{"id": "m"}]', b'{"data": [{"id": "m"}, 5, {}]}', b'{"models": [{"name": "models/m"}]}']
)
async def test_lists_come_in_several_forms(body: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)

    async with serving(answer) as url:
        assert (await tried(url)).known


async def test_a_server_that_says_nothing_is_left() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with serving(silent) as url:
        found = await tried(url, network=Network(first_byte_timeout=0.2))
    assert (found.reached, found.code) == (False, "model_stalled")


async def test_a_fault_of_the_server_is_told_as_such() -> None:
    async with ModelServer([Turn(fault=Fault.OVERLOADED)], models=None) as server:
        found = await tried(server.url("openai"))
    assert (found.reached, found.accepted, found.code) == (True, None, "model_overloaded")
