"""Classify the server of a URL by its text and by addresses that were looked up elsewhere.

What must stay true: an address that is not clearly public counts as private.
"""

from collections.abc import Iterable
from enum import StrEnum
from urllib.parse import quote, urlsplit, urlunsplit

from halocline.protocol.errors import ToolFailure
from halocline.protocol.values import Value

PORTS = {"http": 80, "https": 443}
PRIVATE_ENDINGS = (".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa", ".home", ".corp", ".private")
METADATA = frozenset({"100.100.100.200", "168.63.129.16", "fd00:ec2::254"})
"""Cloud metadata addresses that are not link-local."""
_KEPT = "%/:=&?~+!$,;'@()*[]|"


class Net(StrEnum):
    """The kind of network an address is in."""

    PUBLIC = "public"
    PRIVATE = "private"
    LINK_LOCAL = "link_local"


class Destination(Value, frozen=True):
    """A server, and the normalized URL that is sent. `by_address`: the URL names an IP address."""

    url: str
    hostname: str
    port: int
    net: Net
    by_address: bool = False

    @property
    def exactly(self) -> str:
        """`host:port`, the scope of a grant for a private network."""
        host = f"[{self.hostname}]" if ":" in self.hostname else self.hostname
        return f"{host}:{self.port}"


def parse_destination(url: str) -> Destination:
    """Read a URL as a model wrote it. Raises ToolFailure if it is not an http or https address."""
    try:
        parts = urlsplit(url.strip())
        hostname, port = _ascii_name(parts.hostname or ""), parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        raise ToolFailure(f"{url!r} is not an http or https URL. Nothing was fetched.") from None
    if not hostname:
        raise ToolFailure(f"{url!r} has no host. Nothing was fetched.")
    if parts.username is not None:
        raise ToolFailure("A URL with a user name or password is not fetched. Remove them and try again.")
    host = f"[{hostname}]" if ":" in hostname else hostname
    netloc = host if port == PORTS[parts.scheme] else f"{host}:{port}"
    path, query = quote(parts.path or "/", safe=_KEPT), quote(parts.query, safe=_KEPT)
    net, name = net_of_address(hostname), hostname.rstrip(".")
    return Destination(
        url=urlunsplit((parts.scheme, netloc, path, query, "")),
        hostname=hostname,
        port=port,
        net=net or (Net.PRIVATE if "." not in name or name.endswith(PRIVATE_ENDINGS) else Net.PUBLIC),
        by_address=net is not None,
    )


def worst_net(addresses: Iterable[str]) -> Net:
    """Return the least public network that any of the addresses is in; public if there are none."""
    nets = {net_of_address(address) or Net.PRIVATE for address in addresses}
    return next((net for net in (Net.LINK_LOCAL, Net.PRIVATE) if net in nets), Net.PUBLIC)


def net_of_address(text: str) -> Net | None:
    """Return the network of an IP address; None for other text. An embedded IPv4 address decides."""
    import ipaddress

    try:
        ip = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(ip, ipaddress.IPv6Address):
        if inner := ip.ipv4_mapped or ip.sixtofour:
            return net_of_address(str(inner))
        if ip in ipaddress.ip_network("64:ff9b::/96"):
            return net_of_address(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
    if ip.is_link_local or str(ip) in METADATA:
        return Net.LINK_LOCAL
    return Net.PUBLIC if ip.is_global and not ip.is_multicast else Net.PRIVATE


def _ascii_name(hostname: str) -> str:
    """Return a host name in its DNS form. Raises ValueError (UnicodeError is one) if it is invalid."""
    name = hostname.lower() if hostname.isascii() else hostname.encode("idna").decode("ascii")
    if not name.isprintable() or any(c in name for c in " /\\@"):
        raise ValueError(hostname)
    return name
