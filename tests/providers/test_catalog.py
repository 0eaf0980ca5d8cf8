import pytest

from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Usage
from halocline.providers.catalog import MODELS, VENDORS, ModelInfo, Prices, cost, model_info, vendor
from halocline.providers.endpoint import endpoint
from halocline.providers.http import HttpClient


def test_an_unknown_provider_is_told_the_known_ones() -> None:
    with pytest.raises(UsageError, match="'nobody'") as caught:
        vendor("nobody")
    assert "anthropic" in caught.value.hint
    assert "ollama" in caught.value.hint


@pytest.mark.parametrize("row", [row for row in VENDORS.values() if row.family != "scripted"], ids=lambda row: row.name)
def test_every_vendor_has_an_address_and_either_is_local_or_says_what_it_needs(row: object) -> None:
    HttpClient(row.base_url)
    assert bool(row.key_variable or row.credentials) != row.local


@pytest.mark.parametrize("name", MODELS)
def test_every_known_model_has_a_vendor_a_window_and_prices(name: str) -> None:
    info = model_info(vendor(name.partition("/")[0]), name.partition("/")[2])
    assert info.window
    assert info.max_output
    assert info.max_output <= info.window
    assert cost(info, Usage(input=1_000_000)) > 0


@pytest.mark.parametrize("name", ["anthropic", "openai", "gemini", "deepseek", "groq", "mistral", "xai"])
def test_the_default_model_is_a_known_one(name: str) -> None:
    assert model_info(vendor(name), vendor(name).default_model).prices is not None


def test_a_cost_sums_all_kinds_of_tokens() -> None:
    info = ModelInfo(prices=Prices(1, 2, 3, 4))
    usage = Usage(input=1_000_000, output=2_000_000, cache_read=3_000_000, cache_write=4_000_000, reasoning=1_000_000)
    assert cost(info, usage) == 1 + 4 + 9 + 16


def test_a_long_prompt_has_its_own_prices() -> None:
    info = ModelInfo(prices=Prices(1, 1, 1, 1), long=Prices(2, 2, 2, 2), long_from=1000)
    assert cost(info, Usage(input=500, cache_read=500)) == pytest.approx(0.001)
    assert cost(info, Usage(input=501, cache_read=500)) == pytest.approx(0.002002)


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    assert cost(model_info(vendor("openai"), "unheard-of"), Usage(input=10)) is None


def test_a_dated_name_is_the_model_without_its_date() -> None:
    dated = model_info(vendor("anthropic"), "claude-haiku-4-5-20251001")
    assert dated == model_info(vendor("anthropic"), "claude-haiku-4-5")


def test_the_key_and_the_address_come_from_the_usual_variables() -> None:
    environ = {"OPENAI_API_KEY": " sk-1\n", "OPENAI_BASE_URL": "http://there/v1/"}
    found = endpoint(vendor("openai"), "gpt-5.6", environ)
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
    assert endpoint(vendor(provider), "m", {}, key="sk-1", base_url=base_url).family == family


def test_what_is_given_goes_before_the_variables() -> None:
    environ = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://there/v1"}
    found = endpoint(vendor("openai"), "", environ, key="sk-2", base_url="http://here/v1")
    assert (found.model, found.key, found.url) == (vendor("openai").default_model, "sk-2", "http://here/v1")


@pytest.mark.parametrize(
    ("environ", "key"),
    [
        ({"GOOGLE_API_KEY": "other"}, "other"),
        ({"GOOGLE_API_KEY": "other", "GEMINI_API_KEY": "own"}, "own"),
        ({"GOOGLE_API_KEY": "other", "GEMINI_API_KEY": " "}, "other"),
    ],
)
def test_a_vendor_may_have_several_variables_for_its_key(environ: dict[str, str], key: str) -> None:
    assert endpoint(vendor("gemini"), "", environ).key == key


def test_a_missing_key_is_told_with_its_variable() -> None:
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        endpoint(vendor("anthropic"), "", {})


def test_a_key_is_not_needed_for_a_local_server_or_an_address_of_ones_own() -> None:
    assert endpoint(vendor("ollama"), "qwen3", {}).key == ""
    assert endpoint(vendor("openai"), "qwen3", {}, base_url="http://127.0.0.1:8000/v1").key == ""


def test_a_key_is_not_needed_where_the_vendor_s_own_sign_in_is_found() -> None:
    assert endpoint(vendor("bedrock"), "m", {}).key == ""
    assert endpoint(vendor("bedrock"), "m", {"AWS_BEARER_TOKEN_BEDROCK": "b"}).key == "b"


def test_a_key_with_strange_characters_is_refused_without_showing_it() -> None:
    with pytest.raises(UsageError) as caught:
        endpoint(vendor("openai"), "", {"OPENAI_API_KEY": "sk-“1”"})
    assert "sk-" not in caught.value.text + caught.value.hint
