"""Download registries, pages and bundles: bounded, with few redirects and none from https to plain http."""

from collections.abc import Callable
from urllib.parse import urljoin, urlsplit

from halocline.net.http import Fetched, fetch
from halocline.net.network import Network
from halocline.protocol.errors import HaloclineError, ModelError

MOST_HOPS = 5
CHECK = "Check the network connection and the address."
REDIRECTS = (301, 302, 303, 307, 308)

Reach = Callable[[str], Network]
"""Returns the network settings for a URL."""


async def fetch_bytes(url: str, reach: Reach, most: int, accept: str = "*/*") -> bytes:
    """Fetch a body. Raises HaloclineError, also when it has more than `most` bytes."""
    status, body = 0, b""
    for _ in range(MOST_HOPS):
        status, headers, body = await _fetch_once(url, reach, most, accept)
        if status not in REDIRECTS:
            break
        further = urljoin(url, headers.get("location", ""))
        if not further.startswith(("https://", *(("http://",) if url.startswith("http://") else ()))):
            raise HaloclineError(f"{url} redirects to {further or 'nowhere'}, which is not followed.")
        url = further
    if status != 200:
        raise HaloclineError(f"{url} answered with HTTP status {status}.")
    if len(body) > most:
        raise HaloclineError(f"{url} is larger than {most:,} bytes.")
    return body


async def _fetch_once(url: str, reach: Reach, most: int, accept: str) -> Fetched:
    try:
        return await fetch(url, reach(url), {"accept": accept}, most=most + 1)
    except ModelError as error:
        hint = CHECK if "base" in error.hint else error.hint  # hints at the base URL are about models
        address = urlsplit(url)
        raise HaloclineError(f"Cannot reach {address.scheme}://{address.netloc}: {error.text}", hint) from error
