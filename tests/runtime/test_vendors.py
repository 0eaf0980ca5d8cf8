import json

import pytest

from halocline.protocol.errors import UsageError
from halocline.providers.catalog.build import pack_catalogue
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.models import UNKNOWN, ModelInfo, Prices, Tier
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint, build_endpoint
from halocline.runtime.models.vendors import describe_model, find_vendor, list_vendors, model_info, with_known_facts
from halocline.store.settings.provider_settings import Price, Provider
from halocline.store.settings.settings import Settings

SPEAKS = "@ai-sdk/openai-compatible"
BIG = {"tool_call": True, "limit": {"context": 1000, "output": 100}, "cost": {"input": 1, "output": 2}}
TIERED = {"cost": {**BIG["cost"], "tiers": [{"input": 3, "output": 4, "tier": {"size": 500}}]}}
API = {
    "anthropic": {
        "name": "Not it",
        "npm": SPEAKS,
        "api": "https://elsewhere.example",
        "env": ["OTHER_KEY"],
        "models": {"claude-9": BIG | TIERED, "claude-8": BIG | {"status": "deprecated"}},
    },
    "google": {"npm": "@ai-sdk/google", "models": {"gemini-9": BIG}},
    "far": {
        "name": "Far",
        "npm": SPEAKS,
        "api": "https://far.example/v1",
        "env": ["FAR_API_KEY"],
        "models": {"m": BIG},
    },
    "cloud": {
        "name": "Cloud",
        "npm": "@ai-sdk/anthropic",
        "api": "https://${CLOUD_HOST}/v1",
        "env": ["CLOUD_HOST", "CLOUD_TOKEN", "CLOUD_REGION"],
        "models": {"m": BIG},
    },
    "signed": {"npm": "@ai-sdk/amazon-bedrock", "env": ["AWS"], "models": {"m": BIG}},
}


@pytest.fixture
def catalogue(tmp_path):
    path = tmp_path / "catalogue.gz"
    path.write_bytes(pack_catalogue(json.dumps(API).encode(), "2026-11-01", ("a test",)))
    return Catalogue(path)


def told(name, catalogue, **settings):
    provider, _, model = name.partition("/")
    found = Settings(**settings)
    return with_known_facts(Endpoint(find_vendor(provider, found, catalogue), model), found, catalogue)


def test_a_provider_that_only_the_catalogue_knows_can_be_used(catalogue):
    vendor = find_vendor("far", Settings(), catalogue)
    at = build_endpoint(vendor, "m", {"FAR_API_KEY": "k"})
    assert (at.url, at.key, at.family, vendor.title) == ("https://far.example/v1", "k", "openai_chat", "Far")


def test_parts_of_an_address_come_from_their_variables_and_are_no_keys(catalogue):
    vendor = find_vendor("cloud", Settings(), catalogue)
    assert (vendor.family, vendor.key_variables) == ("anthropic", ("CLOUD_TOKEN",))
    assert build_endpoint(vendor, "m", {"CLOUD_HOST": "h.example", "CLOUD_TOKEN": "k"}).url == "https://h.example/v1"


def test_the_catalogue_never_moves_a_provider_that_we_know(catalogue):
    assert find_vendor("anthropic", Settings(), catalogue) is VENDORS["anthropic"]
    assert find_vendor("google", Settings(), catalogue) is VENDORS["gemini"]


def test_a_provider_that_nobody_can_speak_to_is_unknown(catalogue):
    with pytest.raises(UsageError, match="no provider 'signed'"):
        find_vendor("signed", Settings(), catalogue)


@pytest.mark.parametrize(("name", "meant"), [("anthropc", "anthropic"), ("fars", "far"), ("mine-won", "mine-own")])
def test_an_unknown_provider_gets_a_near_name(catalogue, name, meant):
    settings = Settings(providers={"mine-own": Provider(base_url="http://h/v1")})
    with pytest.raises(UsageError) as caught:
        find_vendor(name, settings, catalogue)
    assert caught.value.hint.startswith(f"Did you mean {meant}?")


def test_a_person_may_have_a_provider_of_their_own(catalogue):
    own = Provider(family="anthropic", base_url="https://work.example", key_variable="WORK_KEY", headers={"X-A": "$A"})
    vendor = find_vendor("work", Settings(providers={"work": own}), catalogue)
    at = build_endpoint(vendor, "m", {"WORK_KEY": "k", "A": "1"})
    assert (at.family, at.url, at.key, at.headers) == ("anthropic", "https://work.example", "k", {"x-a": "1"})


@pytest.mark.parametrize("address", ["http://box:11434", "http://box:11434/", "http://box:11434/v1"])
@pytest.mark.parametrize(("name", "own"), [("box", {"family": "ollama"}), ("ollama", {})])
def test_an_ollama_server_of_ones_own_lists_its_models_and_tells_their_sizes(catalogue, name, own, address):
    settings = Settings(providers={name: Provider(base_url=address, **own)})
    vendor = find_vendor(name, settings, catalogue)
    assert (vendor.family, vendor.base_url, vendor.sizes) == ("ollama", "http://box:11434/v1", "ollama")


def test_a_provider_of_ones_own_needs_an_address(catalogue):
    with pytest.raises(UsageError, match="'work' has no base_url"):
        find_vendor("work", Settings(providers={"work": Provider()}), catalogue)


def test_a_known_provider_at_another_address_speaks_as_such_servers_do(catalogue):
    moved = find_vendor("openai", Settings(providers={"openai": Provider(base_url="http://h/v1")}), catalogue)
    assert (build_endpoint(moved, "m", {}, key="k").family, moved.key_variable) == ("openai_chat", "OPENAI_API_KEY")
    kept = Provider(base_url="http://h/v1", family="openai_responses")
    assert find_vendor("openai", Settings(providers={"openai": kept}), catalogue).family == "openai_responses"


def test_the_catalogue_says_what_a_model_is_and_costs(catalogue):
    at = told("anthropic/claude-9", catalogue)
    assert (at.info.window, at.info.prices, at.own_prices) == (1000, Prices(1, 2), False)
    assert at.info.tiers == (Tier(500, Prices(3, 4)),)
    assert told("gemini/gemini-9", catalogue).info.window == 1000


def test_settings_win_over_the_catalogue_part_by_part(catalogue):
    at = told("anthropic/claude-9", catalogue, prices={"anthropic/claude-9": Price(window=5)})
    assert (at.info.window, at.info.max_output, at.info.prices, at.own_prices) == (5, 100, Prices(1, 2), False)
    at = told("anthropic/claude-9", catalogue, prices={"anthropic/claude-9": Price(input=7, output=8)})
    assert (at.info.window, at.info.prices, at.info.tiers, at.own_prices) == (1000, Prices(7, 8), (), True)


def test_a_model_of_which_settings_say_all_is_not_looked_up(tmp_path):
    nothing = Catalogue(tmp_path / "none.gz")
    price = Price(input=1, output=2, cache_read=3, cache_write=4, window=5, max_output=6)
    settings = Settings(prices={"openai/m": price})
    at = with_known_facts(Endpoint(VENDORS["openai"], "m"), settings, nothing)
    assert at.info == ModelInfo(window=5, max_output=6, prices=Prices(1, 2, 3, 4))


def test_a_model_on_ones_own_machine_is_free_and_not_looked_up(catalogue):
    assert told("ollama/claude-9", catalogue).info == ModelInfo(prices=Prices(0, 0, 0, 0))


def test_an_unknown_model_is_remarked_with_a_near_name(catalogue):
    said = describe_model("anthropic/claude9", Settings(), {}, catalogue)
    assert "its context window and price are unknown" in said
    assert said.endswith("Did you mean anthropic/claude-9?")


def test_a_model_that_is_being_withdrawn_is_remarked(catalogue):
    assert (
        describe_model("anthropic/claude-8", Settings(), {}, catalogue)
        == "Anthropic is going to retire anthropic/claude-8."
    )


@pytest.mark.parametrize(
    ("name", "settings", "env"),
    [
        ("anthropic/claude-9", {}, {}),
        ("ollama/new", {}, {}),
        ("scripted/file", {}, {}),
        ("anthropic/new", {"base_url": "http://h"}, {}),
        ("anthropic/new", {}, {"ANTHROPIC_BASE_URL": "http://h"}),
        ("anthropic/new", {"prices": {"anthropic/new": Price(window=5)}}, {}),
        ("sambanova/new", {}, {}),
    ],
)
def test_of_what_is_known_or_cannot_be_known_nothing_is_remarked(catalogue, name, settings, env):
    assert describe_model(name, Settings(**settings), env, catalogue) == ""


def test_all_that_can_be_named_is_listed_once(catalogue):
    names = list(list_vendors(Settings(providers={"mine": Provider(base_url="http://h/v1")}), catalogue))
    elsewhere = [name for name in VENDORS if name != "vscode"]  # which is listed in VS Code alone
    assert names == [*elsewhere, "mine", "cloud", "far"]


@pytest.mark.parametrize(
    ("name", "own", "family"),
    [
        ("far", {}, "plugin"),
        ("openai", {}, "openai_responses"),
        ("far", {"far": Provider(base_url="https://mine.example/v1")}, "openai_chat"),
    ],
)
def test_a_provider_is_the_person_s_then_built_in_then_a_plug_in_s_then_the_catalogue_s(
    catalogue, tmp_path, name, own, family
):
    brings = Catalogue(tmp_path / "catalogue.gz", brought=lambda: {"far": object, "openai": object})
    assert find_vendor(name, Settings(providers=own), brings).family == family
    assert find_vendor("far", Settings(), catalogue).family == "openai_chat"


def test_the_catalogue_says_nothing_about_models_of_a_plug_in_that_has_a_name_of_it(catalogue, tmp_path):
    vendor = find_vendor("far", Settings(), Catalogue(tmp_path / "none.gz", brought=lambda: {"far": object}))
    assert model_info(find_vendor("far", Settings(), catalogue), "m", catalogue).window == 1000
    assert model_info(vendor, "m", catalogue) is UNKNOWN
