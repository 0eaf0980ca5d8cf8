"""OpenAI's and Anthropic's clients for Azure judge where a request with a token of Entra ID goes, and its headers.

They are imported where they are used: it takes a second, which every worker would spend.
"""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from tests.providers.documents import documents
from tests.providers.streams import MemoryBlobs, collected, endpoint

from halocline.protocol.errors import ModelError
from halocline.protocol.secrets.secret import Secret
from halocline.providers.tokens import Token, Tokens
from halocline.runtime.models.resolve import build_client

if TYPE_CHECKING:
    from openai import AsyncAzureOpenAI

pytestmark = pytest.mark.slow
HELLO = [{"role": "user", "content": "Hello"}]
DATED = "2025-04-01-preview"
Shape = tuple[str, str, str | None, str | None]


async def give_token() -> str:
    return "token-of-entra-id"


def dated_client(url: str) -> "AsyncAzureOpenAI":
    from openai import AsyncAzureOpenAI

    return AsyncAzureOpenAI(azure_endpoint=url, api_version=DATED, azure_ad_token_provider=give_token, max_retries=0)


async def ask_by_chat(url: str) -> None:
    async with dated_client(url) as client:
        await client.chat.completions.create(model="mine", messages=HELLO, stream=True)


async def ask_by_responses(url: str) -> None:
    async with dated_client(url) as client:
        await client.responses.create(model="mine", input=HELLO, stream=True)


async def ask_newest(url: str) -> None:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=f"{url}/openai/v1", api_key=give_token, max_retries=0) as client:
        await client.responses.create(model="mine", input=HELLO, stream=True)


async def ask_claude(url: str) -> None:
    from anthropic import AsyncAnthropicFoundry

    at = {"base_url": f"{url}/anthropic", "azure_ad_token_provider": give_token}
    async with AsyncAnthropicFoundry(**at, max_retries=0) as client:
        await client.messages.create(model="mine", messages=HELLO, max_tokens=9, stream=True)


async def ask_ours(provider: str, url: str) -> None:
    async def fetch() -> Token:
        return Token(Secret(await give_token()), time.time() + 3600)

    at = replace(endpoint(provider, "mine", url, key=""), tokens=Tokens(fetch))
    model = build_client(at, MemoryBlobs())
    try:
        await collected(model)
    finally:
        await model.close()


async def shape(ask: Callable[[str], Awaitable[None]]) -> Shape:
    """Return the shape of a request, which is answered with an error."""
    import anthropic
    import openai

    async with documents({}) as server:
        with suppress(openai.APIError, anthropic.APIError, ModelError):
            await ask(server.url)
    (sent, *_) = server.requests
    return sent.method, sent.path, sent.headers.get("authorization"), sent.headers.get("api-key")


@pytest.mark.parametrize(
    ("judge", "provider", "below", "version"),
    [
        (ask_by_chat, "azure-chat", "", DATED),
        (ask_by_responses, "azure-responses", "", DATED),
        (ask_newest, "azure-responses", "", ""),
        (ask_newest, "azure", "/openai/v1", ""),
        (ask_claude, "anthropic", "/anthropic", ""),
    ],
)
async def test_a_request_with_a_token_goes_where_the_vendor_s_client_sends_it(
    judge: Callable[[str], Awaitable[None]],
    provider: str,
    below: str,
    version: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if version:
        monkeypatch.setenv("OPENAI_API_VERSION", version)
    theirs = await shape(judge)
    assert theirs == await shape(lambda url: ask_ours(provider, url + below))
    assert theirs[2:] == ("Bearer token-of-entra-id", None)
