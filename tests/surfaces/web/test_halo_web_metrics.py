"""`/metrics` of a real server, with a token of its own."""

import asyncio
import urllib.error
import urllib.request

import pytest
from tests.surfaces.web.page import serving

pytestmark = pytest.mark.process


def ask(url: str, token: str) -> tuple[int, str]:
    request = urllib.request.Request(f"{url}/metrics", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


async def test_prometheus_reads_them_with_the_token_and_no_one_without(halo, tmp_path):
    (tmp_path / "token").write_text("a-long-token\n")
    async with serving(halo, "--metrics-token", str(tmp_path / "token"), "--log-format", "json") as server:
        status, text = await asyncio.to_thread(ask, server.origin, "a-long-token")
        assert status == 200
        assert 'halocline_tasks{state="open"} 0' in text
        assert (await asyncio.to_thread(ask, server.origin, "another"))[0] == 401


async def test_without_a_token_there_are_none_not_even_for_a_signed_in_page(halo):
    async with serving(halo) as server, server.http(headers=await server.session()) as http:
        assert (await http.get("/metrics")).status_code == 404
