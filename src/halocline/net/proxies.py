"""Choose the proxy for a server: the configured one, or the one in the usual environment variables.

What must stay true: a proxy's user name and password appear in no text and no repr.
"""

from collections.abc import Mapping

from halocline.net.address import Address, address_of
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value

VARIABLES = {
    "HTTPS_PROXY": "The proxy for servers at https addresses.",
    "HTTP_PROXY": "The proxy for servers at http addresses.",
    "ALL_PROXY": "The proxy for servers that neither of these covers.",
    "NO_PROXY": "Servers to reach without a proxy, separated by commas: host names (with their subdomains), addresses, "
    "networks such as 10.0.0.0/8, each optionally with a port, or `*` for all.",
}
"""The environment variables. A variable's lower-case spelling takes precedence."""

NO_PROXY_AT_ALL = "none"
"""The value of the proxy setting that means no proxy at all."""

_FORM = "Write it as http://host:port, or http://user:password@host:port."


class Proxy(Value, frozen=True):
    """An HTTP proxy. `authorization` is the value of the Proxy-Authorization header; empty if none is sent."""

    address: Address
    authorization: str = ""

    def __repr__(self) -> str:
        return f"Proxy({self.name!r})"  # without the password

    @property
    def name(self) -> str:
        return self.address.authority


def proxy_for(target: Address, named: str, environ: Mapping[str, str]) -> Proxy | None:
    """Return the proxy for `target`; None for a direct connection.

    A `named` proxy is used for every server. Those from the environment are not used for this machine itself, or for
    servers in NO_PROXY. Raises UsageError if a value is not an http or https proxy.
    """
    if named:
        return None if named == NO_PROXY_AT_ALL else _parse_proxy(named, "The setting proxy")
    if target.is_loopback or _is_excepted(target, _read_variable(environ, "NO_PROXY")):
        return None
    for variable in ("HTTPS_PROXY" if target.tls else "HTTP_PROXY", "ALL_PROXY"):
        if url := _read_variable(environ, variable):
            return _parse_proxy(url, f"The variable {variable}")
    return None


def _read_variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name.lower(), environ.get(name, "")).strip()


def _parse_proxy(url: str, source: str) -> Proxy:
    # The URL is not shown: even a malformed one may contain a password.
    address = address_of(url if "://" in url else f"http://{url}")
    if address is None:
        raise UsageError(f"{source} is not an http or https proxy.", f"{_FORM} SOCKS proxies are not supported.")
    return Proxy(address, _basic_authorization(url))


def _basic_authorization(url: str) -> str:
    from base64 import b64encode
    from urllib.parse import unquote

    userinfo, at, _ = url.partition("://")[2 if "://" in url else 0].partition("/")[0].rpartition("@")
    if not at:
        return ""
    user, _, password = userinfo.partition(":")
    return "Basic " + b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()


def _is_excepted(target: Address, listed: str) -> bool:
    return any(_covers_target(entry, target) for entry in listed.replace(",", " ").lower().split())


def _covers_target(entry: str, target: Address) -> bool:
    if entry == "*":
        return True
    if "/" in entry:
        return _is_within(target.hostname, entry)
    host, port = _split_entry(entry)
    if port and port != str(target.port):
        return False
    name, host = target.hostname.lower().rstrip("."), host.removeprefix("*").strip(".")
    if not host or _is_within(name, host):
        return bool(host)
    # An address has no subdomains: 1.10.0.0.1 is not below 10.0.0.1.
    return name == host or name.endswith(f".{host}")


def _split_entry(entry: str) -> tuple[str, str]:
    """Return the host and the port of an entry; the port is empty if it has none."""
    if entry.startswith("["):
        host, _, rest = entry[1:].partition("]")
        return host, rest.removeprefix(":")
    host, _, port = entry.rpartition(":")
    return (host, port) if host and ":" not in host else (entry, "")


def _is_within(host: str, network: str) -> bool:
    """Return True if `host` is an address in a network, or equal to a single address."""
    import ipaddress

    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
