"""Signing in to a provider by OpenID Connect: the official MCP SDK's authorization server checks what we send."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from msgspec.structs import replace
from tests.providers.documents import documents
from tests.providers.oidc_server import CLIENT, Company, company
from tests.providers.streams import collected, text_of
from tests.servers.model_server import Fault, ModelServer, Turn

from halocline.net.http import HttpClient
from halocline.ports.model import Model
from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.providers.auth.oidc import encode_sign_in, read_sign_in
from halocline.providers.catalog.file import BUNDLED, Catalogue
from halocline.runtime.models.keys import Keys
from halocline.runtime.models.resolve import open_model
from halocline.services.models.accounts import Accounts
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from halocline.store.secrets.store import SecretStore
from halocline.store.settings.provider_settings import Provider, ProviderSignIn
from halocline.store.settings.settings import Settings


class Work:
    """A person's home with a provider `work`, whose models are at `server`, and who signs in at `issuer`."""

    def __init__(self, root: Path, server: str, issuer: str, callback: str) -> None:
        self.home = Home(root / "home")
        self.home.root.mkdir(exist_ok=True)
        self._blobs = DiskBlobs(root / "blobs")
        sign_in = ProviderSignIn(issuer, CLIENT, callback=callback)
        self._settings = Settings(providers={"work": Provider(base_url=server, sign_in=sign_in)})

    @property
    def accounts(self) -> Accounts:
        return Accounts(self.home, self._settings, {}, self._blobs, Catalogue(BUNDLED))

    async def sign_in(self) -> Secret:
        """Sign in by pasting what a browser ends at."""
        async with self.accounts.signing_in("work") as sign_in:
            return await sign_in.key(typing(await follow(sign_in.url)))

    async def open(self) -> Model:
        """Open a model as another process would."""
        return await open_model("work/m", self._settings, {}, Keys(self.home, {}), self._blobs, Catalogue(BUNDLED))

    async def ask(self) -> str:
        model = await self.open()
        try:
            return text_of(await collected(model))
        finally:
            await model.close()

    @property
    def stored(self) -> Secret:
        found = SecretStore(self.home.credentials).get("work")
        assert found
        return found

    def expire(self) -> None:
        """Let the stored token be past its end."""
        found = read_sign_in(self.stored.reveal())
        assert found
        SecretStore(self.home.credentials).put("work", encode_sign_in(replace(found, expires_at=time.time() - 1)))


def typing(*lines: str):
    left = iter(lines)

    async def next_line() -> str | None:
        return next(left, None)

    return next_line


async def follow(page: str) -> str:
    """Open a page, which sends the browser back at once; gives the address that it ends at."""
    parts = urlsplit(page)
    client = HttpClient(f"{parts.scheme}://{parts.netloc}")
    response = await client.get(f"{parts.path}?{parts.query}", {})
    await response.read(1000)
    await client.close()
    return str(response.headers["location"])


@pytest.fixture
def callback(unused_tcp_port: int) -> str:
    return f"http://localhost:{unused_tcp_port}/signed-in"


@pytest.fixture
async def issuer(callback: str) -> AsyncIterator[Company]:
    async with company(callback) as served:
        yield served


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer([Turn(text="One."), Turn(text="Two."), Turn(text="Three.")]) as running:
        yield running


@pytest.fixture
def work(tmp_path: Path, server: ModelServer, issuer: Company, callback: str) -> Work:
    return Work(tmp_path, server.url("openai"), issuer.url, callback)


def carried(server: ModelServer) -> list[str]:
    return [sent.headers["authorization"].removeprefix("Bearer ") for sent in server.requests]


async def test_a_person_signs_in_and_requests_carry_the_token(work: Work, server: ModelServer, issuer: Company) -> None:
    work.accounts.keep("work", await work.sign_in())
    assert await work.ask() == "One."
    assert carried(server) == issuer.given
    assert issuer.renewals == 0


async def test_a_browser_on_this_machine_brings_the_code_back_itself(work: Work) -> None:
    async with work.accounts.signing_in("work") as sign_in:
        waiting = asyncio.create_task(sign_in.key(typing()))
        back = urlsplit(await follow(sign_in.url))
        client = HttpClient(f"{back.scheme}://{back.netloc}")
        shown = await client.get(f"{back.path}?{back.query}", {})
        assert b"You can close" in await shown.read(10_000)
        await client.close()
        assert (shown.status, bool(read_sign_in((await waiting).reveal()))) == (200, True)


async def test_a_token_that_has_ended_is_renewed_and_the_new_one_is_stored(
    work: Work, server: ModelServer, issuer: Company
) -> None:
    work.accounts.keep("work", await work.sign_in())
    for _ in range(2):
        work.expire()
        await work.ask()
    assert carried(server) == issuer.given[1:]
    assert issuer.renewals == 2


async def test_two_processes_that_renew_at_the_same_time_both_go_on(
    work: Work, server: ModelServer, issuer: Company
) -> None:
    work.accounts.keep("work", await work.sign_in())
    work.expire()
    models = [await work.open(), await work.open()]
    await asyncio.gather(*map(collected, models))
    for model in models:
        await model.close()
    assert set(carried(server)) == {issuer.given[-1]}
    assert (len(server.requests), issuer.renewals) == (2, 1)


async def test_a_renewal_that_nobody_waits_for_any_more_is_stored(work: Work, issuer: Company) -> None:
    work.accounts.keep("work", await work.sign_in())
    work.expire()
    model = await work.open()
    asking = asyncio.create_task(collected(model))
    while not issuer.renewals:
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    await model.close()
    while issuer.given[-1] not in work.stored.reveal():
        await asyncio.sleep(0.01)
    assert issuer.renewals == 1


async def test_who_signs_in_again_after_a_refusal_goes_on_at_once(
    tmp_path: Path, issuer: Company, callback: str
) -> None:
    async with ModelServer([Turn(fault=Fault.AUTH), Turn(text="One.")]) as server:
        work = Work(tmp_path, server.url("openai"), issuer.url, callback)
        work.accounts.keep("work", await work.sign_in())
        model = await work.open()
        with pytest.raises(ModelError, match="work did not accept your sign-in"):
            await collected(model)
        work.accounts.keep("work", await work.sign_in())
        await collected(model)
        await model.close()
    assert carried(server) == issuer.given


@pytest.mark.slow
async def test_a_sign_in_that_the_server_ended_says_how_to_sign_in_again(work: Work, issuer: Company) -> None:
    work.accounts.keep("work", await work.sign_in())
    work.expire()
    issuer.refreshing.clear()
    with pytest.raises(ModelError, match="sign-in to work has ended") as caught:
        await work.ask()
    assert (caught.value.kind, caught.value.hint) == (ModelErrorKind.AUTH, "Run: halo login work")


async def test_nobody_signed_in_is_told_how(work: Work) -> None:
    with pytest.raises(UsageError, match="no key for work: WORK_TOKEN is not set") as caught:
        await work.ask()
    assert "halo login work" in caught.value.hint


async def test_the_end_of_a_sign_in_is_never_shown(work: Work) -> None:
    kept = work.accounts.keep("work", await work.sign_in())
    assert (kept.tail, work.accounts.of("work").tail) == ("", "")


@pytest.mark.parametrize("change", ["state=x", "state="])
async def test_an_address_with_another_state_is_refused(work: Work, change: str) -> None:
    async with work.accounts.signing_in("work") as sign_in:
        back = await follow(sign_in.url)
        state = dict(parse_qsl(urlsplit(back).query))["state"]
        with pytest.raises(UsageError, match="another sign-in"):
            await sign_in.key(typing(back.replace(f"state={state}", change)))


async def test_a_code_of_another_sign_in_is_refused_by_the_server(work: Work) -> None:
    async with work.accounts.signing_in("work") as sign_in:
        code = dict(parse_qsl(urlsplit(await follow(sign_in.url)).query))["code"]
    async with work.accounts.signing_in("work") as other:
        with pytest.raises(ModelError, match="rejected the sign-in: incorrect code_verifier"):
            await other.key(typing(code))


async def test_tokens_for_another_sign_in_are_refused_by_their_nonce(tmp_path: Path, callback: str) -> None:
    # {"nonce": "another"}
    answer = {"access_token": "a", "id_token": "e30.eyJub25jZSI6ICJhbm90aGVyIn0.x"}
    async with documents({"/token": answer}) as served:
        where = {"authorization_endpoint": f"{served.url}/authorize", "token_endpoint": f"{served.url}/token"}
        served.documents["/.well-known/openid-configuration"] = where
        work = Work(tmp_path, served.url, served.url, callback)
        async with work.accounts.signing_in("work") as sign_in:
            with pytest.raises(ModelError, match="answered to another sign-in"):
                await sign_in.key(typing("code-1"))


async def test_a_server_that_describes_no_sign_in_is_named(tmp_path: Path, callback: str) -> None:
    async with documents({}) as served:
        with pytest.raises(ModelError, match="does not describe a sign-in") as caught:
            await Work(tmp_path, served.url, served.url, callback).sign_in()
    assert "[providers.work.sign_in]" in caught.value.hint


async def test_a_server_that_cannot_be_reached_is_looked_for_in_the_settings(tmp_path: Path, callback: str) -> None:
    with pytest.raises(ModelError, match="refused the connection") as caught:
        await Work(tmp_path, "http://127.0.0.1:1", "http://127.0.0.1:1", callback).sign_in()
    assert "[providers.work.sign_in]" in caught.value.hint


@pytest.mark.parametrize("page", ["http://sso.example/token", "ftp://sso.example/token"])
async def test_no_token_goes_over_a_connection_that_is_not_encrypted(tmp_path: Path, callback: str, page: str) -> None:
    async with documents({}) as served:
        where = {"authorization_endpoint": f"{served.url}/authorize", "token_endpoint": page}
        served.documents["/.well-known/openid-configuration"] = where
        with pytest.raises(UsageError, match="not encrypted"):
            await Work(tmp_path, served.url, served.url, callback).sign_in()


@pytest.mark.parametrize("callback", ["https://localhost:1/x", "http://elsewhere.example:1/x", "http://localhost:1"])
async def test_a_callback_that_is_not_on_this_machine_is_refused(tmp_path: Path, callback: str) -> None:
    with pytest.raises(UsageError, match="is not an address on this machine"):
        await Work(tmp_path, "http://127.0.0.1:1", "http://127.0.0.1:1", callback).sign_in()


async def test_tokens_are_in_the_key_store_alone(work: Work, issuer: Company) -> None:
    key = await work.sign_in()
    assert issuer.given[0] not in repr(key) + json.dumps({"key": str(key)})
