"""How a model's server is reached: the settings, the environment and where the server is, brought together."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from halocline.net.address import address_of
from halocline.net.network import DIRECT, Network
from halocline.net.proxies import proxy_for
from halocline.providers.endpoint import Endpoint
from halocline.store.settings.settings import Settings, Timeouts

# A model on this machine may read a long prompt for many minutes, and writes a whole tool call before it sends it.
ON_THIS_MACHINE = Network(first_byte_timeout=3600.0, stall_timeout=900.0)
A_MOMENT = 20.0
"""Seconds within which a question that needs no thinking is answered."""


def choose_network(at: Endpoint, settings: Settings, env: Mapping[str, str]) -> Network:
    """The way to an endpoint. Raises UsageError when the proxy that is named is none."""
    way = network_to(at.url, settings, env)
    target = address_of(at.url)
    usual = ON_THIS_MACHINE if at.vendor.local or (target and target.is_loopback) else DIRECT
    own = settings.timeouts.get(at.vendor.name, Timeouts())
    return replace(
        way,
        connect_timeout=own.connect or settings.connect_timeout,
        first_byte_timeout=own.first_byte or settings.first_byte_timeout or usual.first_byte_timeout,
        stall_timeout=own.stall or settings.stall_timeout or usual.stall_timeout,
    )


def network_to(url: str, settings: Settings, env: Mapping[str, str]) -> Network:
    """The way to any address: proxy and certificates. Raises UsageError when the proxy that is named is none."""
    target = address_of(url)
    if target is None:
        return DIRECT  # its client refuses the URL
    return Network(
        connect_timeout=settings.connect_timeout,
        proxy=proxy_for(target, settings.proxy, env),
        ca_files=ca_files(settings, env),
    )


def with_short_timeouts(at: Endpoint) -> Endpoint:
    """The same place for a small question, on whose answer nobody should have to wait long."""
    way = at.network
    first_byte, stall = min(way.first_byte_timeout, A_MOMENT), min(way.stall_timeout, A_MOMENT)
    return replace(at, network=replace(way, first_byte_timeout=first_byte, stall_timeout=stall))


def ca_files(settings: Settings, env: Mapping[str, str]) -> tuple[str, ...]:
    """The files of certificates to trust beside what the system trusts."""
    files = (settings.ca_file, env.get("SSL_CERT_FILE", ""))
    return tuple(str(Path(file).expanduser()) for file in files if file)
