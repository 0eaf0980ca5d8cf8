"""A server's README: found, fetched and cleaned. Shown to people, never to the model."""

import re
from urllib.parse import urlsplit

from halocline.mcp.registry.download import Reach, fetch_bytes
from halocline.mcp.registry.registry import LARGEST, OfferedServer
from halocline.mcp.tool_names import plain_text
from halocline.protocol.errors import HaloclineError

LONGEST = 60_000
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


async def fetch_readme(server: OfferedServer, registry: str, reach: Reach, url: str = "") -> str:
    """Fetch and clean a server's README; `url` names another page. Raises HaloclineError."""
    if not url and server.readme and not server.readme.startswith(("http://", "https://")):
        return _make_harmless(server.readme)
    place = url or server.readme or page_of(server)
    if not place:
        return ""
    same = urlsplit(place)[:2] == urlsplit(registry)[:2]
    if not place.startswith("https://") and not same:
        raise HaloclineError(f"{place} was not fetched: only https is allowed.")
    return _make_harmless((await fetch_bytes(place, reach, LARGEST, "text/plain")).decode("utf-8", "replace"))


def page_of(server: OfferedServer) -> str:
    """Return the URL of a repository's README as raw text; empty when it is unknown."""
    repository = server.repository
    address = urlsplit(repository.url if repository else "")
    parts = address.path.strip("/").removesuffix(".git").split("/")
    if repository is None or address.scheme != "https" or len(parts) < 2:
        return ""
    inside = f"{repository.subfolder.strip('/')}/" if repository.subfolder else ""
    match address.hostname:
        case "github.com":
            return f"https://raw.githubusercontent.com/{parts[0]}/{parts[1]}/HEAD/{inside}README.md"
        case "gitlab.com":
            return f"https://gitlab.com/{'/'.join(parts)}/-/raw/HEAD/{inside}README.md"
    return ""


def _make_harmless(text: str) -> str:
    """Remove comments and invisible characters, and bound the length."""
    return plain_text(_COMMENT.sub("", text), LONGEST)
