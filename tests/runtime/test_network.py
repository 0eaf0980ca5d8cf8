from pathlib import Path
from typing import Any

import pytest

from halocline.net.network import Network
from halocline.protocol.errors import UsageError
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.runtime.assembly.assembly import Choices
from halocline.runtime.network import choose_network
from halocline.store.settings.provider_settings import Timeouts
from halocline.store.settings.settings import Settings

REMOTE = (10.0, 300.0, 120.0)
LOCAL = (10.0, 3600.0, 900.0)


def chosen(provider: str = "openai", base_url: str = "", env: dict[str, str] | None = None, **settings: Any) -> Network:
    return choose_network(Endpoint(VENDORS[provider], "x", base_url=base_url), Settings(**settings), env or {})


def times(way: Network) -> tuple[float, float, float]:
    return way.connect_timeout, way.first_byte_timeout, way.stall_timeout


@pytest.mark.parametrize(
    ("provider", "base_url", "expected"),
    [
        ("openai", "", REMOTE),
        ("anthropic", "", REMOTE),
        ("openai", "http://192.168.1.2:8000/v1", REMOTE),
        ("openai", "http://localhost:8000/v1", LOCAL),
        ("openai", "http://[::1]:8000/v1", LOCAL),
        ("ollama", "", LOCAL),
        ("ollama", "http://192.168.1.2:11434/v1", LOCAL),
    ],
)
def test_a_local_server_is_given_longer(provider: str, base_url: str, expected: tuple[float, float, float]) -> None:
    assert times(chosen(provider, base_url)) == expected


def test_times_are_set_for_all_and_for_one_provider() -> None:
    settings = {"first_byte_timeout": 20, "stall_timeout": 30, "timeouts": {"ollama": Timeouts(first_byte=7200)}}
    assert times(chosen("openai", **settings)) == (10, 20, 30)
    assert times(chosen("ollama", **settings)) == (10, 7200, 30)


def test_a_flag_wins_over_the_times_of_a_provider() -> None:
    settings = Settings(timeouts={"ollama": Timeouts(connect=1, first_byte=2, stall=3)})
    flagged = Choices(first_byte_timeout=9).over(settings)
    assert times(choose_network(Endpoint(VENDORS["ollama"], "x"), flagged, {})) == (1, 9, 3)


def test_the_proxy_and_the_certificates_come_from_settings_and_environment() -> None:
    env = {"HTTPS_PROXY": "http://a:1", "SSL_CERT_FILE": "/there.pem"}
    way = chosen(env=env, ca_file="~/mine.pem")
    assert way.proxy is not None
    assert way.proxy.name == "a:1"
    assert way.ca_files == (str(Path.home() / "mine.pem"), "/there.pem")
    assert chosen(env=env, proxy="none").proxy is None
    assert chosen("ollama", env=env | {"HTTP_PROXY": "http://a:1"}).proxy is None


def test_a_proxy_that_is_none_is_refused_for_the_servers_it_would_be_for() -> None:
    env = {"ALL_PROXY": "socks5://a:1"}
    with pytest.raises(UsageError, match="ALL_PROXY"):
        chosen(env=env)
    assert chosen("ollama", env=env).proxy is None
