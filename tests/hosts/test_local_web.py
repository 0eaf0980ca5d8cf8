import pytest
from tests.net.raw_server import EMPTY, read_request, serving
from tests.servers.proxy_server import ProxyServer

from halocline.hosts.web.fetch import LocalWeb
from halocline.net.network import DIRECT, Network
from halocline.net.proxies import proxy_for
from halocline.protocol.errors import ToolFailure


async def test_the_address_that_was_judged_is_connected_to_and_not_the_name():
    heads = []

    async def handle(reader, writer):
        heads.append((await read_request(reader))[0])
        writer.write(EMPTY)

    async with serving(handle) as url:
        port = url.rpartition(":")[2].partition("/")[0]
        answer = await LocalWeb(lambda url: DIRECT).get(f"http://no.such.example:{port}/a", ("127.0.0.1",))
    assert answer.status == 200
    assert f"host: no.such.example:{port}".encode() in heads[0].lower()


async def test_a_name_without_addresses_is_not_looked_up_a_second_time():
    with pytest.raises(ToolFailure, match="localhost:9 was not found"):
        await LocalWeb(lambda url: DIRECT).get("http://localhost:9/", ())


async def test_the_next_address_is_tried_when_one_does_not_answer():
    async def handle(reader, writer):
        await read_request(reader)
        writer.write(EMPTY)

    async with serving(handle) as url:
        answer = await LocalWeb(lambda url: DIRECT).get(url, ("127.0.0.9", "127.0.0.1"))
    assert answer.status == 200


async def test_a_page_is_fetched_through_the_proxy_of_the_settings(tmp_path):
    async def handle(reader, writer):
        await read_request(reader)
        writer.write(EMPTY)

    async with serving(handle) as url, ProxyServer() as proxy:
        way = Network(proxy=proxy_for(None, f"http://127.0.0.1:{proxy.port}", {}))  # a named one is for every server
        await LocalWeb(lambda url: way).get(url, ())
        assert len(proxy.requests) == 1


async def test_names_are_looked_up_and_unknown_ones_have_no_address():
    web = LocalWeb(lambda url: DIRECT)
    assert "127.0.0.1" in await web.lookup("localhost")
    assert await web.lookup("127.1") == ("127.0.0.1",)
    assert await web.lookup("no-such-name.invalid") == ()
