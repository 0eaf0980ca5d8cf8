import json
from pathlib import Path

import pytest

from halocline.net.http import HttpClient
from halocline.protocol.errors import UsageError
from halocline.providers.catalog import vendors
from halocline.providers.catalog.file import BUNDLED, Catalogue
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint, build_endpoint
from halocline.providers.server_probe import read_questions

CATALOGUE = Catalogue(BUNDLED)
HOSTED = [row for row in VENDORS.values() if row.key_variable]
BY_NAME = {"ids": lambda row: row.name}


def test_every_row_has_a_name_of_its_own_and_no_field_that_no_vendor_has() -> None:
    rows = json.loads(Path(vendors.__file__).with_suffix(".json").read_text(encoding="utf-8"))
    assert [row["name"] for row in rows] == list(VENDORS)
    assert {field for row in rows for field in row} <= {*Vendor.__struct_fields__, "why"}


@pytest.mark.parametrize(
    "row", [row for row in VENDORS.values() if row.family not in ("scripted", "vscode")], **BY_NAME
)
def test_every_vendor_has_an_address_or_a_variable_for_it_and_either_a_key_or_is_local(row: Vendor) -> None:
    if row.base_url:
        HttpClient(row.base_url)
    assert row.base_url or row.base_url_variable
    assert bool(row.key_variable or row.credentials) != row.local
    assert (row.sizes or "openai") in read_questions()


@pytest.mark.parametrize("row", HOSTED, **BY_NAME)
def test_a_row_agrees_with_the_catalogue_on_address_and_key(row: Vendor) -> None:
    listed = CATALOGUE.provider(row.catalogue or row.name)
    if listed is not None and row.family != "library":  # their SDKs know the ways
        assert set(row.key_variables) & set(listed.env)
        assert listed.api.removesuffix("/v1") in ("", row.base_url.removesuffix("/v1"))


@pytest.mark.parametrize("row", [row for row in VENDORS.values() if row.default_model], **BY_NAME)
def test_the_default_model_is_a_known_one_that_calls_tools(row: Vendor) -> None:
    info = CATALOGUE.model(row.catalogue or row.name, row.default_model)
    assert info is not None
    assert info.tools
    assert info.window
    assert info.prices or row.name == "openrouter"


def test_the_key_and_the_address_come_from_the_usual_variables() -> None:
    environ = {"OPENAI_API_KEY": " sk-1\n", "OPENAI_BASE_URL": "http://there/v1/"}
    found = build_endpoint(VENDORS["openai"], "gpt-5.6", environ)
    assert (found.name, found.key, found.url) == ("openai/gpt-5.6", "sk-1", "http://there/v1")


@pytest.mark.parametrize(
    ("provider", "base_url", "family"),
    [
        ("openai", "", "openai_responses"),
        ("openai", "https://api.openai.com/v1/", "openai_responses"),
        ("openai", "http://127.0.0.1:8000/v1", "openai_chat"),
        ("openai-responses", "http://127.0.0.1:8000/v1", "openai_responses"),
        ("deepseek", "http://127.0.0.1:8000/v1", "openai_chat"),
        ("anthropic", "http://127.0.0.1:8000", "anthropic"),
    ],
)
def test_the_address_decides_what_is_spoken_there(provider: str, base_url: str, family: str) -> None:
    assert build_endpoint(VENDORS[provider], "m", {}, key="sk-1", base_url=base_url).family == family


def test_what_is_given_goes_before_the_variables() -> None:
    environ = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://there/v1"}
    found = build_endpoint(VENDORS["openai"], "", environ, key="sk-2", base_url="http://here/v1")
    assert (found.model, found.key, found.url) == (VENDORS["openai"].default_model, "sk-2", "http://here/v1")


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("https://mine.openai.azure.com/", "https://mine.openai.azure.com/openai/v1"),
        ("https://mine.openai.azure.com", "https://mine.openai.azure.com/openai/v1"),
        ("https://gateway.example/azure/v1", "https://gateway.example/azure/v1"),
    ],
)
async def test_azure_is_where_its_variable_says_and_takes_the_key_in_its_own_header(variable: str, url: str) -> None:
    at = build_endpoint(VENDORS["azure"], "mine", {"AZURE_OPENAI_ENDPOINT": variable, "AZURE_OPENAI_API_KEY": "k-1"})
    headers = await at.request_headers()
    assert (at.url, headers["api-key"], "authorization" in headers) == (url, "k-1", False)


@pytest.mark.parametrize("name", ["sap-ai-core", "openai", "azure", "gemini"])
async def test_a_document_that_gives_tokens_is_sent_to_nobody(name: str) -> None:
    at = Endpoint(VENDORS[name], "m", key='{"refresh": "r-1", "clientsecret": "s-1"}', base_url="https://x/v1")
    assert not any("-1" in value for value in (await at.request_headers()).values())


@pytest.mark.parametrize("name", ["azure", "litellm", "openai-compatible"])
def test_a_vendor_that_is_nowhere_in_particular_must_be_told_where(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        build_endpoint(VENDORS[name], "m", {}, key="k")
    assert VENDORS[name].base_url_variable in caught.value.hint


def test_variables_in_an_address_and_in_headers_are_filled_in() -> None:
    row = Vendor("mine", "Mine", "openai_chat", base_url="https://h/${ACCOUNT}/v1", headers={"X-Team": "$TEAM"})
    at = build_endpoint(row, "m", {"ACCOUNT": "a1", "TEAM": "blue"})
    assert (at.url, at.headers, at.at_home) == ("https://h/a1/v1", {"x-team": "blue"}, True)
    with pytest.raises(UsageError, match="needs the variable TEAM"):
        build_endpoint(row, "m", {"ACCOUNT": "a1"})


def test_neither_the_key_nor_headers_show_in_a_repr() -> None:
    row = Vendor("mine", "Mine", "openai_chat", base_url="https://h/v1", headers={"x-secret": "$SECRET"})
    shown = repr(build_endpoint(row, "m", {"SECRET": "hush"}, key="k-1"))
    assert "hush" not in shown
    assert "k-1" not in shown


def test_an_endpoint_of_a_local_vendor_is_free_as_long_as_nothing_else_is_known() -> None:
    assert Endpoint(VENDORS["ollama"], "m").info.prices is not None
    assert Endpoint(VENDORS["openai"], "m").info.prices is None
