"""Azure without a key. Microsoft's own library asks a server of ours for tokens; what it takes for an answer counts."""

import asyncio
import json
import logging
import os
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.net.certificates import Authority
from tests.net.raw_server import read_request, serving
from tests.providers.entra_server import CLIENT, HEADER, SCOPE, SECRET, TENANT, TokenServer, token_name, token_server
from tests.providers.streams import collected, text_of
from tests.servers.model_server import ModelServer, Turn
from tests.servers.proxy_server import ProxyServer

from halocline.ports.model import Model
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.providers.catalog.file import BUNDLED, Catalogue
from halocline.runtime.models.keys import Keys
from halocline.runtime.models.resolve import open_model
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from halocline.store.settings.provider_settings import Provider
from halocline.store.settings.settings import Settings

pytestmark = pytest.mark.slow
FIRST = f"Bearer {token_name(1)}"


@pytest.fixture(autouse=True)
def nobody_is_signed_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("AZURE_", "IDENTITY_", "IMDS_", "MSI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.fixture
def principal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TENANT_ID", TENANT), ("CLIENT_ID", CLIENT), ("CLIENT_SECRET", SECRET)):
        monkeypatch.setenv(f"AZURE_{name}", value)


@pytest.fixture
async def entra(
    monkeypatch: pytest.MonkeyPatch, authority: Authority, trusted: ssl.SSLContext, principal: None
) -> AsyncIterator[TokenServer]:
    """Entra ID, whose certificate an authority of ours signed."""
    async with token_server(trusted) as server:
        monkeypatch.setenv("AZURE_AUTHORITY_HOST", server.url)
        yield server


@pytest.fixture
async def service(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TokenServer]:
    """The identity service of Azure's App Service."""
    async with token_server() as server:
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{server.url}/msi/token")
        monkeypatch.setenv("IDENTITY_HEADER", HEADER)
        yield server


async def opened(
    tmp_path: Path, server: ModelServer, provider: str = "azure", *, key: str = "", **settings: str
) -> Model:
    env = {"AZURE_OPENAI_ENDPOINT": server.url("openai"), **({"AZURE_OPENAI_API_KEY": key} if key else {})}
    found = Settings(**settings)
    name = f"{provider}/gpt-5.6"
    return await open_model(name, found, env, Keys(Home(tmp_path), env), DiskBlobs(tmp_path), Catalogue(BUNDLED))


def carried(server: ModelServer) -> list[str]:
    return [sent.headers.get("authorization", "") for sent in server.requests]


async def ask(model: Model, times: int = 1) -> str:
    try:
        return "".join([text_of(await collected(model)) for _ in range(times)])
    finally:
        await model.close()


@pytest.mark.parametrize("provider", ["azure", "azure-chat", "azure-responses"])
async def test_a_service_principal_signs_in_and_its_token_goes_with_every_request(
    provider: str, tmp_path: Path, entra: TokenServer, authority: Authority
) -> None:
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as server:
        model = await opened(tmp_path, server, provider, ca_file=authority.ca_file)
        assert await ask(model, 2) == "One.Two."
    assert carried(server) == [FIRST] * 2
    assert all("api-key" not in sent.headers for sent in server.requests)
    assert entra.asked == [f"/{TENANT}/oauth2/v2.0/token"]


async def test_a_token_is_renewed_before_it_ends(tmp_path: Path, entra: TokenServer, authority: Authority) -> None:
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as server:
        entra.lifetime = 50  # within the minute before its end
        await ask(await opened(tmp_path, server, ca_file=authority.ca_file), 2)
    first, second = carried(server)
    assert first != second


async def test_requests_at_the_same_time_share_one_sign_in(tmp_path: Path, service: TokenServer) -> None:
    async with ModelServer([Turn(text="Hm.")] * 3) as server:
        model = await opened(tmp_path, server)
        await asyncio.gather(*(collected(model) for _ in range(3)))
        await model.close()
    assert (service.given, set(carried(server))) == (1, {FIRST})


async def test_the_managed_identity_of_an_app_service_signs_in(tmp_path: Path, service: TokenServer) -> None:
    async with ModelServer([Turn(text="One.")]) as server:
        assert await ask(await opened(tmp_path, server)) == "One."
    assert (carried(server), service.asked) == ([FIRST], ["/msi/token"])


async def test_the_managed_identity_of_a_virtual_machine_signs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with token_server() as service, ModelServer([Turn(text="One.")]) as server:
        monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", service.url)
        assert await ask(await opened(tmp_path, server)) == "One."
    assert set(service.asked) == {"/metadata/identity/oauth2/token"}


async def test_a_sign_in_goes_through_the_proxy_of_the_settings(
    tmp_path: Path, entra: TokenServer, authority: Authority
) -> None:
    async with ModelServer([Turn(text="One.")]) as server, ProxyServer() as proxy:
        await ask(await opened(tmp_path, server, ca_file=authority.ca_file, proxy=proxy.url))
    assert any(entra.url.removeprefix("https://") in asked.target for asked in proxy.requests)


async def test_the_identity_service_of_the_machine_is_asked_without_a_proxy(
    tmp_path: Path, service: TokenServer
) -> None:
    async with ModelServer([Turn(text="One.")]) as server, ProxyServer() as proxy:
        await ask(await opened(tmp_path, server, proxy=proxy.url))
    assert service.given == 1
    assert not any(service.url.removeprefix("http://") in asked.target for asked in proxy.requests)


async def failed(tmp_path: Path, **settings: str) -> ModelError:
    async with ModelServer([Turn(text="Never.")]) as server:
        with pytest.raises(ModelError) as caught:
            await ask(await opened(tmp_path, server, **settings))
    assert server.requests == []
    return caught.value


async def test_a_sign_in_that_is_refused_says_why_in_the_server_s_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entra: TokenServer, authority: Authority
) -> None:
    monkeypatch.setenv("AZURE_CLIENT_SECRET", "a-wrong-secret")
    error = await failed(tmp_path, ca_file=authority.ca_file)
    assert error.kind is ModelErrorKind.AUTH
    assert error.text.startswith("Entra ID gave no token for Azure OpenAI: AADSTS7000215: Invalid client secret")
    assert "az login" in error.hint
    assert "a-wrong-secret" not in str(error)


async def test_where_nobody_is_signed_in_the_error_says_how_to_sign_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = await failed(tmp_path)
    assert (error.kind, "no one is signed in" in error.text, "az login" in error.hint) == (
        ModelErrorKind.AUTH,
        True,
        True,
    )
    assert logging.getLogger("azure").handlers, "without one, Python writes the library's warnings onto the screen"
    assert capsys.readouterr().err == ""


async def test_variables_that_the_library_rejects_are_an_error_that_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, principal: None
) -> None:
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", "http://login.example")
    error = await failed(tmp_path)
    assert (error.kind, "http://login.example" in error.text) == (ModelErrorKind.AUTH, True)


async def test_a_server_of_tokens_that_is_not_there_is_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, principal: None, unused_tcp_port: int
) -> None:
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", f"https://localhost:{unused_tcp_port}")
    error = await failed(tmp_path)
    assert (error.kind, f"localhost:{unused_tcp_port}" in error.text) == (ModelErrorKind.UNREACHABLE, True)


async def test_a_key_goes_first(tmp_path: Path, service: TokenServer) -> None:
    async with ModelServer([Turn(text="One.")]) as server:
        await ask(await opened(tmp_path, server, key="k-1"))
    assert (server.requests[0].headers["api-key"], carried(server), service.given) == ("k-1", [""], 0)


async def test_a_provider_of_one_s_own_may_take_tokens_of_its_own_scope(tmp_path: Path, service: TokenServer) -> None:
    async with ModelServer([Turn(text="One.")]) as server:
        settings = Settings(providers={"work": Provider(base_url=server.url("openai"), entra_scope=SCOPE)})
        keys = Keys(Home(tmp_path), {})
        model = await open_model("work/m", settings, {}, keys, DiskBlobs(tmp_path), Catalogue(BUNDLED))
        await ask(model)
    assert carried(server) == [FIRST]


async def test_a_token_that_the_model_s_server_repeats_is_redacted(tmp_path: Path, service: TokenServer) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        body = json.dumps({"error": f"The token {token_name(1)} has no access."}).encode()
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    async with serving(refuse) as url:
        env = {"AZURE_OPENAI_ENDPOINT": url}
        keys = Keys(Home(tmp_path), env)
        model = await open_model("azure/m", Settings(), env, keys, DiskBlobs(tmp_path), Catalogue(BUNDLED))
        with pytest.raises(ModelError, match="has no access") as caught:
            await ask(model)
    assert token_name(1) not in str(caught.value)


@pytest.mark.process
def test_without_the_library_the_error_says_what_to_install() -> None:
    probe = (
        "import sys; sys.modules['azure.identity'] = None; sys.modules['azure'] = None\n"
        "from halocline.providers.auth.entra import make_entra_tokens\n"
        "from halocline.providers.catalog.vendors import VENDORS\n"
        "try: make_entra_tokens(VENDORS['azure'], None)\n"
        "except Exception as error: print(type(error).__name__, error, error.hint)"
    )
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert "UsageError There is no key for Azure OpenAI" in run.stdout
    assert "pip install 'halocline[azure]'" in run.stdout
    assert "AZURE_OPENAI_API_KEY" in run.stdout
