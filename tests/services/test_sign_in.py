import asyncio
from urllib.parse import parse_qsl, urlsplit

import pytest

from halocline.protocol.errors import ModelError, UsageError
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.services.models.sign_in import SignIn

AT = Endpoint(VENDORS["openrouter"], "")


def typing(*lines: str):
    left = iter(lines)

    async def next_line():
        return next(left, None)

    return next_line


async def test_nobody_is_waited_for_without_end():
    async with SignIn.start(AT) as sign_in:
        with pytest.raises(ModelError) as error:
            await sign_in.key(typing(), limit=0.05)
    assert "Sign-in timed out" in error.value.text
    assert "--with-key" in error.value.hint


async def test_the_page_is_openrouters_own_and_comes_back_to_this_machine():
    async with SignIn.start(AT) as sign_in, SignIn.start(AT) as other:
        page, query = urlsplit(sign_in.url), dict(parse_qsl(urlsplit(sign_in.url).query))
        assert (page.scheme, page.netloc, page.path) == ("https", "openrouter.ai", "/auth")
        assert query["callback_url"].startswith("http://localhost:")
        assert (query["code_challenge_method"], len(query["code_challenge"])) == ("S256", 43)
        assert query["code_challenge"] != dict(parse_qsl(urlsplit(other.url).query))["code_challenge"]


async def test_blank_lines_are_passed_over_and_a_wrong_address_is_refused():
    async with SignIn.start(AT) as sign_in:
        with pytest.raises(UsageError, match="another sign-in"):
            await sign_in.key(typing("", "  ", "http://localhost:1/callback/x?code=abc"))


async def test_nothing_listens_any_more_when_it_is_over():
    async with SignIn.start(AT) as sign_in:
        way_back = urlsplit(dict(parse_qsl(urlsplit(sign_in.url).query))["callback_url"])
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", way_back.port)
