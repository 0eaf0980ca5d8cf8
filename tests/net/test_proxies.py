from base64 import b64encode
from urllib.request import proxy_bypass_environment

import pytest
from hypothesis import given, strategies as st
from tests.tables import for_each

from halocline.net.address import Address, address_of
from halocline.net.network import Network
from halocline.net.proxies import Proxy, proxy_for
from halocline.protocol.errors import UsageError

HTTPS = Address("api.example.com", 443, True)
HTTP = Address("api.example.com", 80, False)


def chosen(target: Address | str, named: str = "", **environ: str) -> str:
    """The name of the proxy; empty: none."""
    address = address_of(target) if isinstance(target, str) else target
    assert address is not None
    proxy = proxy_for(address, named, environ)
    return proxy.name if proxy else ""


@for_each(
    "target, environ, name",
    [
        (HTTPS, {}, ""),
        (HTTPS, {"HTTPS_PROXY": "http://a:1"}, "a:1"),
        (HTTPS, {"https_proxy": "http://a:1"}, "a:1"),
        (HTTPS, {"https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:2"}, "a:1"),
        (HTTPS, {"https_proxy": "", "HTTPS_PROXY": "http://b:2"}, ""),
        (HTTPS, {"HTTP_PROXY": "http://a:1"}, ""),
        (HTTPS, {"ALL_PROXY": "http://a:1"}, "a:1"),
        (HTTPS, {"all_proxy": "http://a:1", "HTTPS_PROXY": "http://b:2"}, "b:2"),
        (HTTPS, {"HTTPS_PROXY": "a:1"}, "a:1"),
        (HTTPS, {"HTTPS_PROXY": "http://a"}, "a:80"),
        (HTTPS, {"HTTPS_PROXY": "https://a"}, "a:443"),
        (HTTPS, {"HTTPS_PROXY": "http://[fd00::1]:8080/"}, "[fd00::1]:8080"),
        (HTTP, {"HTTPS_PROXY": "http://a:1"}, ""),
        (HTTP, {"HTTP_PROXY": "http://a:1"}, "a:1"),
        (HTTP, {"http_proxy": "http://a:1"}, "a:1"),
        (HTTP, {"ALL_PROXY": "http://a:1"}, "a:1"),
    ],
)
def test_the_usual_variables_choose_the_proxy(target: Address, environ: dict[str, str], name: str) -> None:
    assert chosen(target, **environ) == name


@for_each(
    "listed, target, direct",
    [
        ("*", "https://any.example", True),
        ("example.com", "https://example.com", True),
        ("example.com", "https://api.example.com", True),
        (".example.com", "https://api.example.com", True),
        ("*.example.com", "https://api.example.com", True),
        ("EXAMPLE.com", "https://Example.COM", True),
        ("example.com", "https://notexample.com", False),
        ("api.example.com", "https://example.com", False),
        ("example.com", "https://example.com.evil.net", False),
        ("example.com:443", "https://example.com", True),
        ("example.com:8443", "https://example.com", False),
        ("example.com:8443", "https://example.com:8443", True),
        ("a.test, example.com", "https://example.com", True),
        ("a.test example.com", "https://example.com", True),
        ("10.0.0.0/8", "http://10.2.3.4:8000", True),
        ("10.0.0.0/8", "http://11.2.3.4:8000", False),
        ("10.0.0.0/8", "https://example.com", False),
        ("10.0.0.1", "http://10.0.0.1", True),
        ("10.0.0.1:81", "http://10.0.0.1", False),
        ("fd00::1", "http://[fd00::1]", True),
        ("[fd00::1]:81", "http://[fd00::1]:81", True),
        ("[fd00::1]:82", "http://[fd00::1]:81", False),
        ("fd00::/8", "http://[fd12::1]", True),
        ("", "https://example.com", False),
        (",, .,:", "https://example.com", False),
        ("10.0.0.0/99", "http://10.0.0.1", False),
    ],
)
def test_what_no_proxy_lists_is_reached_straight_away(listed: str, target: str, direct: bool) -> None:
    assert (chosen(target, ALL_PROXY="http://a:1", NO_PROXY=listed) == "") is direct
    assert (chosen(target, ALL_PROXY="http://a:1", no_proxy=listed, NO_PROXY="*") == "") is direct


LABEL = st.sampled_from(["a", "b", "example", "com"])
NAME = st.lists(LABEL, min_size=1, max_size=4).map(".".join)


@given(NAME, st.lists(st.builds(str.__add__, st.sampled_from(["", "."]), NAME), max_size=3))
def test_names_are_listed_as_pythons_own_library_reads_them(name: str, entries: list[str]) -> None:
    listed = ",".join(entries)
    direct = chosen(Address(name, 443, True), ALL_PROXY="http://a:1", NO_PROXY=listed) == ""
    assert direct is bool(proxy_bypass_environment(name, {"no": listed}))


@given(st.text(max_size=30))
def test_any_list_of_exceptions_is_read(listed: str) -> None:
    assert chosen(HTTPS, ALL_PROXY="http://a:1", NO_PROXY=listed) in ("", "a:1")


@pytest.mark.parametrize(
    "url", ["http://localhost:1", "http://127.0.0.1", "http://127.9.9.9", "http://[::1]:1", "http://ollama.localhost"]
)
def test_this_machine_is_reached_through_a_proxy_only_when_one_is_named(url: str) -> None:
    assert chosen(url, HTTP_PROXY="http://a:1", ALL_PROXY="http://a:1") == ""
    assert chosen(url, "http://b:2", HTTP_PROXY="http://a:1") == "b:2"


def test_the_named_proxy_goes_before_the_variables() -> None:
    assert chosen(HTTPS, "http://b:2", HTTPS_PROXY="http://a:1", NO_PROXY="*") == "b:2"
    assert chosen(HTTPS, "none", HTTPS_PROXY="http://a:1") == ""


@pytest.mark.parametrize("url", ["http://me:s%40cret@a:1", "me:s%40cret@a:1", "https://me:s%40cret@a:1/"])
def test_the_password_is_sent_and_never_shown(url: str) -> None:
    proxy = proxy_for(HTTPS, url, {})
    assert isinstance(proxy, Proxy)
    assert proxy.authorization == "Basic " + b64encode(b"me:s@cret").decode()
    shown = f"{proxy!r} {proxy.name} {Network(proxy=proxy)!r}"
    assert "cret" not in shown
    assert proxy.authorization not in shown


@pytest.mark.parametrize("url", ["socks5://me:secret@a:1", "http://me:secret@", "me:secret@:1", "http://me:secret@a:b"])
@pytest.mark.parametrize("named", [True, False])
def test_a_proxy_that_is_none_is_refused_without_showing_it(url: str, named: bool) -> None:
    with pytest.raises(UsageError) as caught:
        proxy_for(HTTPS, url if named else "", {} if named else {"HTTPS_PROXY": url})
    assert ("setting proxy" if named else "HTTPS_PROXY") in caught.value.text
    assert "secret" not in f"{caught.value.text} {caught.value.hint} {caught.value.__cause__}"
    assert "SOCKS" in caught.value.hint
