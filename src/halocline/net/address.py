"""Where something listens, read from an http or https URL. User names and passwords of a URL are no part of it."""

from urllib.parse import urlsplit

from halocline.protocol.values import Value


class Address(Value, frozen=True):
    """A host, its port, and whether TLS is spoken there. IPv6 addresses stand without brackets."""

    hostname: str
    port: int
    tls: bool

    @property
    def authority(self) -> str:
        """`host:port`, as HTTP writes it."""
        host = f"[{self.hostname}]" if ":" in self.hostname else self.hostname
        return f"{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether this machine talks to itself there."""
        name = self.hostname.lower().rstrip(".")
        if name == "localhost" or name.endswith(".localhost"):
            return True
        import ipaddress

        try:
            ip = ipaddress.ip_address(name)
        except ValueError:
            return False
        return ip.is_loopback or ip.is_unspecified


def address_of(url: str) -> Address | None:
    """None when the URL is no http or https address."""
    try:
        parts = urlsplit(url)
        hostname, port = parts.hostname, parts.port
    except ValueError:  # of a port that is no number, or a bracket that is not closed
        return None
    if not hostname or parts.scheme not in ("http", "https"):
        return None
    if not (hostname.isascii() and hostname.isprintable()) or " " in hostname:
        return None  # HTTP could not carry it
    tls = parts.scheme == "https"
    return Address(hostname, port or (443 if tls else 80), tls)
