import pytest

from halocline.providers.auth.accounts import ACCOUNTS, account_of, key_holder, secret_name, shape_problem
from halocline.providers.catalog.vendors import VENDORS

LONG = "abcdefgh12345678"


def test_every_account_is_that_of_a_provider_that_takes_keys():
    holders = {key_holder(row).name for row in VENDORS.values() if row.key_variable}
    assert set(ACCOUNTS) <= holders


def test_vendors_that_read_the_same_variable_share_a_key():
    assert key_holder(VENDORS["openai-responses"]).name == "openai"
    assert account_of(VENDORS["openai-responses"]) is account_of(VENDORS["openai"])


@pytest.mark.parametrize(
    ("provider", "url", "name"),
    [
        ("openai", "https://api.openai.com/v1", "openai"),
        ("openai", "https://api.openai.com", "openai"),
        ("openai-responses", "https://api.openai.com/v1", "openai"),
        ("openai", "http://api.openai.com/v1", "openai@http://api.openai.com:80"),
        ("openai", "https://api.openai.com.evil.example/v1", "openai@https://api.openai.com.evil.example:443"),
        ("anthropic", "http://127.0.0.1:8000", "anthropic@http://127.0.0.1:8000"),
    ],
)
def test_a_key_is_kept_for_one_server(provider, url, name):
    assert secret_name(VENDORS[provider], url) == name


@pytest.mark.parametrize(
    ("key", "provider", "said"),
    [
        ("", "openai", "no key"),
        ("sk-“1”" + LONG, "openai", "keys do not have"),
        (f"sk-{LONG} sk-{LONG}", "openai", "contains spaces"),
        (f"sk-{LONG}\nsk-{LONG}", "openai", "keys do not have"),
        (f"OPENAI_API_KEY=sk-{LONG}", "openai", "from around it"),
        ("https://platform.openai.com/api-keys", "openai", "from around it"),
        ("sk-1", "openai", "too short"),
        (f"sk-ant-{LONG}", "openai", "looks like a key for Anthropic"),
        (f"sk-{LONG}", "anthropic", "start with sk-ant-"),
    ],
)
def test_what_is_no_key_is_refused_without_being_repeated(key, provider, said):
    text, hint = shape_problem(key, VENDORS[provider], elsewhere=False)
    assert said in text
    assert LONG not in text + hint


@pytest.mark.parametrize("provider", ACCOUNTS)
def test_a_key_of_the_right_shape_is_taken(provider):
    assert shape_problem(f"{ACCOUNTS[provider].prefix}{LONG}", VENDORS[provider], elsewhere=False) is None


def test_another_server_may_take_any_word_for_a_key():
    assert shape_problem("dummy", VENDORS["anthropic"], elsewhere=True) is None
