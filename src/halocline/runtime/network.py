"""Network options for a model's server, from the settings, the environment and the server's place."""

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from halocline.net.address import address_of
from halocline.net.network import DIRECT, Network
from halocline.net.proxies import proxy_for
from halocline.providers.endpoint import Endpoint
from halocline.store.settings.provider_settings import Timeouts
from halocline.store.settings.settings import Settings

# A local model may read a long prompt for many minutes, and sends a tool call only when it is complete.
ON_THIS_MACHINE = Network(first_byte_timeout=3600.0, stall_timeout=900.0)
A_MOMENT = 20.0
"""Timeout in seconds for a request that needs no thinking."""


def choose_network(at: Endpoint, settings: Settings, env: Mapping[str, str]) -> Network:
    """Return the network options for an endpoint. Raises UsageError if the proxy is invalid."""
    network = find_network(at.url, settings, env)
    target = address_of(at.url)
    usual = ON_THIS_MACHINE if at.vendor.local or (target and target.is_loopback) else DIRECT
    own = settings.timeouts.get(at.vendor.name, Timeouts())
    return replace(
        network,
        connect_timeout=own.connect or settings.connect_timeout,
        first_byte_timeout=own.first_byte or settings.first_byte_timeout or usual.first_byte_timeout,
        stall_timeout=own.stall or settings.stall_timeout or usual.stall_timeout,
    )


def find_network(url: str, settings: Settings, env: Mapping[str, str]) -> Network:
    """Return proxy and certificates for any address. Raises UsageError if the proxy is invalid."""
    target = address_of(url)
    if target is None:
        return DIRECT  # its client refuses the URL
    return Network(
        connect_timeout=settings.connect_timeout,
        proxy=proxy_for(target, settings.proxy, env),
        ca_files=ca_files(settings, env),
    )


def shorten_timeouts(at: Endpoint) -> Endpoint:
    """Return the endpoint with short timeouts, for a small request."""
    return replace(at, network=shorten_waits(at.network))


def shorten_waits(network: Network) -> Network:
    """Return network options for a small request."""
    first_byte, stall = min(network.first_byte_timeout, A_MOMENT), min(network.stall_timeout, A_MOMENT)
    return replace(network, first_byte_timeout=first_byte, stall_timeout=stall)


def ca_files(settings: Settings, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the certificate files to trust in addition to the system's."""
    files = (settings.ca_file, env.get("SSL_CERT_FILE", ""))
    return tuple(str(Path(file).expanduser()) for file in files if file)
