"""How a server is reached: how long it may take, through which proxy, and whose certificates are trusted."""

from dataclasses import dataclass

from halocline.net.proxies import Proxy


@dataclass(frozen=True, slots=True)
class Network:
    """Times are in seconds.

    `connect_timeout` covers everything until a request can be sent: the name, the socket, the proxy, TLS.
    `first_byte_timeout` bounds the wait for the head of an answer, and then the wait for the first byte of its body: a
    server may send either while it still reads the prompt. `stall_timeout` bounds every later silence. `ca_files` are
    trusted beside what the system trusts. `pinned` are addresses to connect to, so that the name is not looked up
    again; a proxy looks it up itself.
    """

    connect_timeout: float = 10.0
    first_byte_timeout: float = 300.0
    stall_timeout: float = 120.0
    proxy: Proxy | None = None
    ca_files: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()


DIRECT = Network()
"""No proxy, and what the system trusts."""
